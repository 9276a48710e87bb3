#!/usr/bin/env bash
# Promises: a hit file has the same rows whether they were written while photons were computed or merged at
# the end, and a run that is killed while it writes rows leaves no file of them, and continues.
# To join: another way to get the same rows is one more call of `same_rows`.
source "$(dirname "$0")/../common.bash"

# Nearly every other photon hits at once, so that 100,000 hits (6.4 MB) are cheap; files of less than 4 MiB
# are merged.
cat >many.yaml <<'END'
detector: {oversize: 30, crossing: disc, keep_hit_photons: false}
workload: {kind: point, position: [0, 0, 5], steps: 1300, photons_per_step: 200}
run: {bounce_limit: 1}
END
early() { expect 0 "$ICESTREAM" run -q many.yaml --threads 2 "$@"; }

expect 0 "$ICESTREAM" run -q many.yaml --set sink.directory=-
mv out merged.npy
[ "$(stat -c %s merged.npy)" -gt 5000000 ] || fail "too few hits for this test"
early --set sink.directory=small --set graph.batch=3000
same_rows merged.npy small/many.hits.npy
early --set sink.directory=large --set graph.batch=100000
same_rows merged.npy large/many.hits.npy
expect 0 "$ICESTREAM" info --verify small/many.hits.npy

# The digest of the file, which is computed at the end, can be left out.
digest=$(sha256sum small/many.hits.npy)
says small/run.journal "\"output_digest\":\"${digest%% *}\""
early --set sink.directory=plain --set sink.digest=false
same_rows merged.npy plain/many.hits.npy
grep -q output_digest plain/run.journal && fail "a digest without sink.digest"

# The steps in the opposite order.
expect 0 "$ICESTREAM" generate many.yaml -o steps.npy
if python=$(python_with numpy); then
    "$python" - <<'END'
import numpy
data = numpy.load('steps.npy')
numpy.save('back.steps.npy', data[::-1])
END
    early --set source.files=back.steps.npy --set sink.directory=back --set graph.batch=3000 \
        --set source.light_mismatch=accept
    same_rows merged.npy back/back.hits.npy
else
    echo "skipped: no Python with NumPy: steps in the opposite order"
fi

"$ICESTREAM" run -q many.yaml --threads 1 --set workload.steps=12000 --set sink.directory=killed \
    --set sink.checkpoint=0.05 2>err &
await test -e killed/many.hits.npy.checkpoint.rows
kill -9 $!
wait $! 2>/dev/null
is_missing killed/many.hits.npy
is_missing killed/many.hits.npy.part
early --set workload.steps=12000 --set sink.directory=killed
early --set workload.steps=12000 --set sink.directory=whole
cmp killed/many.hits.npy whole/many.hits.npy || fail "the continued run has other hits"

# The digest of a large file is one of parts of 16 MiB.
parts=$(split -b 16M --filter=sha256sum whole/many.hits.npy)
[ "$(wc -l <<<"$parts")" -gt 2 ] || fail "too few parts for this test"
digest=$(sha256sum <<<"$parts")
says whole/run.journal "\"output_digest\":\"${digest%% *}-$(wc -l <<<"$parts")\""
finish
