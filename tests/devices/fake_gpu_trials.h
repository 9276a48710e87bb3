/* The part of tests/devices/fake_gpu.h that makes trials of schedules; only that file includes it.
 */
#ifndef FAKE_GPU_TRIALS_H
#define FAKE_GPU_TRIALS_H

/* The first trial is due after fake.trial_after batches, and fused is faster then. */

bool ics_gpu_suits(const ics_gpu_options *options, const ice_emission *emissions, uint32_t count)
{
    return true;
}

struct ics_gpu_trials {
    ics_gpu_options given;
    double seconds;
    bool done;
};

int ics_gpu_trials_create(const ics_gpu_options *options, const ics_tables *tables,
                          ics_gpu_trials **out, icestream_error *error)
{
    *out = calloc(1, sizeof **out);
    ck_assert_ptr_nonnull(*out);
    (*out)->given = *options;
    atomic_fetch_add(&fake.wrong, options->schedule != ICS_SCHEDULE_AUTO);
    return ICESTREAM_OK;
}

void ics_gpu_trials_destroy(ics_gpu_trials *trials)
{
    free(trials);
}

bool ics_gpu_trials_due(ics_gpu_trials *trials, double computed, const ice_emission *emissions,
                        uint32_t count)
{
    atomic_fetch_add(&fake.wrong, count == 0 || emissions[0].photons == 0 || computed < 0);
    return fake.trial_after > 0 && !trials->done &&
           atomic_load(&fake.submitted) >= fake.trial_after;
}

int ics_gpu_trials_run(ics_gpu_trials *trials, const ice_emission *emissions, uint32_t count,
                       uint64_t bytes_in_use, ics_gpu_options *options,
                       char report[ICS_GPU_REPORT_SIZE], icestream_error *error)
{
    /* No graph computes during a trial. */
    atomic_fetch_add(&fake.wrong, atomic_load(&fake.taken) != atomic_load(&fake.submitted));
    atomic_fetch_add(&fake.wrong, count == 0 || emissions[0].photons == 0 || bytes_in_use == 0);
    atomic_fetch_add(&fake.trials, 1);
    if (fake.trial_result != ICESTREAM_OK) {
        return fail_with(error, fake.trial_result, "cudaMemcpyAsync: a launch failure");
    }
    trials->done = true;
    trials->seconds += 0.25;
    *options = trials->given;
    options->schedule = ICS_SCHEDULE_FUSED;
    snprintf(report, ICS_GPU_REPORT_SIZE, "fused: 0.3 ns per photon in a trial\n");
    return ICESTREAM_OK;
}

void ics_gpu_trials_spend(ics_gpu_trials *trials, double seconds)
{
    atomic_fetch_add(&fake.wrong, !(seconds >= 0));
}

double ics_gpu_trials_seconds(const ics_gpu_trials *trials)
{
    return trials->seconds;
}

#endif
