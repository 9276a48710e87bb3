#!/usr/bin/env bash
# Promise: an f2k list of mmc gives each muon its light once, particles.conventions: ppc gives light to the lines to
# which ppc gives it, and wrong lines are reported together. To join: a new rule of f2k lists gets a list here.
source "$(dirname "$0")/../common.bash"

# list NAME LINE...: an f2k list of one event with these TR lines, without "TR ".
list() {
    {
        printf 'V 2000.1.2\nTBEGIN ? ? ?\nEM 1 1 1970 0 0 0\n'
        printf 'TR %s\n' "${@:2}"
        printf 'EE\nTEND ? ? ?\nEND\n'
    } >"$1.f2k"
}

# photons NAME OPTION...: the number of photons of a list.
photons() {
    expect 0 "$ICESTREAM" generate -s particles.file="$1.f2k" -s particles.losses=none "${@:2}" -o "$1.steps.npy" --force
    sed -nE 's/.*: ([0-9.e+]+) photons in .* steps.*/\1/p' err | tail -1
}

# The output of mmc -recc: the muon, then its pieces and the losses between them.
muon='1 0 mu- 0 0 0 0 0 300 1000 0'
pieces=('2 1 amu- 0 0 0 0 0 100 1000 0' '3 1 brems 0 0 -100 0 0 0 5 333' '4 1 amu- 0 0 -100 0 0 200 990 333')
list recc "$muon" "${pieces[@]}"
list pieces "${pieces[@]}"
list lost "$muon" "${pieces[@]}" '5 1 amu- 0 0 -300 0 0 0 700 999' '6 0 gamma 0 0 -50 0 0 0 50 0' '7 0 e- 0 0 -50 0 0 ? 50 0'
list bare "$muon"

# The numbers of photons of the second list have other random numbers; the mean is the same.
recc=$(photons recc)
says err "recc.f2k:4: 1 track, the first one of 1000 GeV and 300 m, has pieces (amu, amu-, amu+) in the same event"
alone=$(photons pieces)
grep -q "pieces (amu" err && fail "nothing is passed over in this list"
awk -v a="$recc" -v b="$alone" 'BEGIN { exit !(a > 0.99 * b && a < 1.01 * b) }' || fail "$recc and $alone photons"

# ppc gives no light to the muon, to a piece of length 0, to names that it does not know and to unknown columns.
of_ppc=$(photons lost -s particles.conventions=ppc)
says err "lost.f2k:4: 3 particles, the first one of type mu and 1000 GeV, have no light, because ppc gives light only"
of_pieces=$(photons pieces -s particles.conventions=ppc)
awk -v a="$of_ppc" -v b="$of_pieces" 'BEGIN { exit !(a > 0.99 * b && a < 1.01 * b) }' || fail "$of_ppc and $of_pieces photons"
expect 2 "$ICESTREAM" generate -s particles.file=bare.f2k -s particles.conventions=ppc -o none.steps.npy
says err "bare.f2k:" "found particles without light" "a muon needs its pieces, amu, which mmc writes with -recc"
is_missing none.steps.npy

# Wrong values in lines without light change nothing, and are errors with other conventions.
list odd '1 0 nu_mu 0 0 0 0 0 0 -5 0' '1 0 mu- 0 0 99999 0 0 300 1000 0' '1 0 gamma 0 0 0 200 0 0 5 0' "${pieces[@]}"
odd=$(photons odd -s particles.conventions=ppc)
awk -v a="$odd" -v b="$of_pieces" 'BEGIN { exit !(a > 0.99 * b && a < 1.01 * b) }' || fail "$odd and $of_pieces photons"
expect 2 "$ICESTREAM" generate -s particles.file=odd.f2k -o odd.steps.npy --force
says err "odd.f2k:4:" "odd.f2k:5:" "odd.f2k:6:"

# ppc makes no losses, so with its conventions the default makes none for pieces.
list piece '1 0 amu- 0 0 0 0 0 300 100000 0'
[ "$(photons piece -s particles.conventions=ppc -s particles.losses=auto)" = "$(photons piece -s particles.conventions=ppc)" ] ||
    fail "losses of a piece with the conventions of ppc"
says err "piece.f2k:4: 1 track, the first one of 100000 GeV and 300 m, has no energy losses in the list, and none are made, as in ppc"
[ "$(photons piece -s particles.losses=auto)" != "$(photons piece)" ] || fail "no losses of a piece with standard conventions"

# The wavelengths of ph are another choice than that of ppc.
list ray '1 0 ph 0 0 0 0 0 0 1000 0'
rays=$(photons ray -s particles.conventions=ppc)
says err "ray.f2k:4: 1 particle, the first one of type ph, has the wavelengths of particles.spectrum, while ppc"
[ "$rays" = 1e+03 ] || fail "$rays photons of ph"
photons ray >/dev/null
grep -q "while ppc" err && fail "a warning about ppc with other conventions"

# Ten wrong lines are shown, the others are counted. What stands between them is read.
wrong=()
for i in $(seq 1 30); do
    wrong+=("$i 0 neutralino$i 0 0 0 0 0 0 5 0" "$i 0 e- 0 0 0 0 0 0 5 0")
done
list wrong "${wrong[@]}" '1 0 e- 0 0 0 0 0 0 -5 0'
expect 2 "$ICESTREAM" generate -s particles.file=wrong.f2k -o wrong.steps.npy
says err "wrong.f2k:4:8: error: type: found 'neutralino1'" "wrong.f2k:22:9: error: type: found 'neutralino10'" \
    "wrong.f2k: error: and 21 more"
[ "$(wc -l <err)" -eq 11 ] || fail "not eleven lines: $(cat err)"
# ppc passes over names that it does not know.
refuses 2 "wrong.f2k:64:23: error: energy: found '-5'" generate -s particles.file=wrong.f2k -s particles.conventions=ppc -o wrong.steps.npy
sed -i '/ -5 0$/d' wrong.f2k
photons wrong -s particles.conventions=ppc >/dev/null
says err "wrong.f2k:4: 30 particles, the first one of an unknown type, have no light, because ppc gives light only"
# Text of a pipe may take long, so its first wrong line ends the reading.
expect 2 "$ICESTREAM" generate -s particles.file=- -s particles.format=f2k -o piped.steps.npy <wrong.f2k
says err "standard input:4:8: error: type: found 'neutralino1'"
grep -q neutralino2 err && fail "a second wrong line of a pipe: $(cat err)"

# With the conventions of ppc a list needs no V, TBEGIN, TEND and END, and lines that ppc does not know are passed over.
{
    printf 'EM 0 1 0 0 0 0 \nMC E 100 x 0 y 0 z 0 theta 1.5 phi -2 \n'
    for piece in "${pieces[@]}"; do
        printf 'TR %s \n' "$piece"
    done
    printf 'EE\n'
} >bare_ppc.f2k
bare_ppc=$(photons bare_ppc -s particles.conventions=ppc)
awk -v a="$bare_ppc" -v b="$of_pieces" 'BEGIN { exit !(a > 0.99 * b && a < 1.01 * b) }' || fail "$bare_ppc and $of_pieces photons"
expect 2 "$ICESTREAM" generate -s particles.file=bare_ppc.f2k -o none.steps.npy
says err "bare_ppc.f2k:1:1: error: found 'EM' here, expected V and TBEGIN before it (particles.conventions: ppc reads lists without them)"
head -n -1 bare_ppc.f2k >cut.f2k
expect 2 "$ICESTREAM" generate -s particles.file=cut.f2k -s particles.conventions=ppc -o none.steps.npy
says err "cut.f2k:5: error: the file ends here, expected EE"
sed 's/^TR/Tr/' bare_ppc.f2k >small.f2k
expect 2 "$ICESTREAM" generate -s particles.file=small.f2k -s particles.conventions=ppc -o none.steps.npy
says err "small.f2k:3:1: error: found a line of 'Tr'" "did you mean 'TR'?"
finish
