#!/usr/bin/env bash
# Promises: without a GPU (common.bash hides the GPUs of the machine) a configuration that asks for one gets
# an error with a remedy, auto runs on the CPU without a warning, and plan works.
# To join: a command or a key that needs a GPU gets a line where the GPU is asked for.
schedules=$(grep -c '^    X([A-Z_]*, "' "$(dirname "$0")/../../../graphs/options.h")
source "$(dirname "$0")/../common.bash"

export XDG_CACHE_HOME=$FOLDER/cache
mkdir steps
expect 0 "$ICESTREAM" generate -s workload.steps=50 -o steps/a.steps.npy

# The configuration asks for a GPU. Nothing is computed, and no file is left.
remedy="expected cpu or auto, or device.fallback: cpu"
for command in run validate compare bench; do
    expect 1 "$ICESTREAM" $command -s device.backend=cuda
    says err "device.backend: found cuda, but " "$remedy"
    [ "$(wc -l <err)" -eq 1 ] || fail "$command prints more than one line: $(cat err)"
    is_empty out
done
is_missing hits/a.hits.npy
printf 'device:\n  backend: cuda\n' >gpu.yaml
expect 1 "$ICESTREAM" run gpu.yaml
says err "gpu.yaml:2:12: error: device.backend: found cuda" "$remedy"

# auto: five lines; one of them has the reason why no GPU is used.
expect 0 "$ICESTREAM" run
says err "device: cpu, " "(device.backend auto: no GPU, because " "1 file done"
grep -q "device: cpu.*install" err && fail "auto says what to install: $(cat err)"
[ "$(wc -l <err)" -eq 5 ] || fail "auto prints other than five lines: $(cat err)"
expect 0 "$ICESTREAM" run --quiet --force
is_empty err

# With device.fallback: cpu the run uses the CPU, also if other settings are meant for the GPU.
expect 0 "$ICESTREAM" run -s device.backend=cuda -s device.fallback=cpu -s graph.schedule=event-wavefront \
    -s graph.lanes=4 -s graph.pool=1048576 -s sink.directory=fallback
says err "device: cpu, " "warning: device.backend cuda: no GPU, because "
same fallback/a.hits.npy hits/a.hits.npy
# With auto, a line names the settings that only a GPU has.
expect 0 "$ICESTREAM" run -s graph.lanes=4 -s graph.schedule=event-wavefront -s sink.directory=auto
says err "the CPU does not use keys for a GPU: graph.schedule (--set graph.schedule), graph.lanes"
same auto/a.hits.npy hits/a.hits.npy

# A plan for the CPU, and for an assumed GPU.
expect 0 "$ICESTREAM" plan
says out "CPU " "GPU         none in this machine; sm_90 is assumed" "  reason    "
is_empty err
if grep -q "no GPU part" out; then
    refuses 1 "this build has no GPU part" plan --architecture 90
    finish
fi

# Without a compiler, for kernels that the installation does not have.
odd=(-s detector.keep_hit_photons=true)
expect 1 env ICESTREAM_NVRTC=none "$ICESTREAM" plan --architecture 90 "${odd[@]}"
says err "NVRTC cannot be loaded (ICESTREAM_NVRTC: none: " "expected NVRTC of CUDA 12 or 13" \
    "target \`kernels\`"
is_empty out
expect 0 env ICESTREAM_NVRTC=none "$ICESTREAM" plan "${odd[@]}"
says out "CPU " "no plan   cannot compile the kernels"

"$ICESTREAM" plan --architecture 90 "${odd[@]}" -s graph.block=32 >out 2>err
if grep -q "NVRTC cannot be loaded" err; then
    echo "skipped: no NVRTC library: kernels are not compiled"
    finish
fi
for origin in compiled cached; do
    expect 0 "$ICESTREAM" plan --architecture 90 "${odd[@]}"
    is_empty err
    says out "GPU         any of architecture sm_90" "Registers of the largest kernel: wavefront "
    for kernel in gpu_create gpu_propagate gpu_collide gpu_scatter gpu_fly gpu_monolithic gpu_job_queue \
        gpu_thread_per_step; do
        says out "  $kernel "
    done
    [ "$(grep -c ", fast maths, kernels $origin" out)" -eq "$schedules" ] || fail "not $origin: $(cat out)"
done
# A GPU that the compiler does not know: its driver compiles the kernels, so their resources are unknown.
expect 0 "$ICESTREAM" plan --architecture 999 "${odd[@]}"
says out "  gpu_propagate " "  gpu_monolithic " "Registers are unknown"
# Kernels that were compiled once are used without a compiler.
expect 0 env ICESTREAM_NVRTC=none "$ICESTREAM" plan --architecture 90 "${odd[@]}"
says out ", fast maths, kernels cached"
expect 0 "$ICESTREAM" plan --architecture 90 "${odd[@]}" -s graph.schedule=wavefront \
    -s device.math=portable --json
says out '"architecture": 90' '"math": "portable"' '"program": "compiled"' '"name": "gpu_scatter"'
finish
