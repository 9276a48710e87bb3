#include "bench/lab/roofline/roofline.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

static void add(ics_roofline_sums *sums, const double *values)
{
    static const struct {
        ics_counter bytes, clock, peak;
    } levels[ICS_ROOFLINE_LEVELS] = {
        [ICS_ROOFLINE_L1] = {ICS_COUNTER_L1_BYTES, ICS_COUNTER_L1_CLOCK, ICS_COUNTER_L1_PEAK},
        [ICS_ROOFLINE_L2] = {ICS_COUNTER_L2_BYTES, ICS_COUNTER_L2_CLOCK, ICS_COUNTER_L2_PEAK},
        [ICS_ROOFLINE_HBM] = {ICS_COUNTER_HBM_BYTES, ICS_COUNTER_HBM_CLOCK, ICS_COUNTER_HBM_PEAK},
    };
    const double seconds = values[ICS_COUNTER_SECONDS];
    const double cycles = seconds * values[ICS_COUNTER_SM_CLOCK];
    sums->launches += 1;
    sums->seconds += seconds;
    sums->thread_instructions += values[ICS_COUNTER_THREAD_INSTRUCTIONS];
    sums->instructions += values[ICS_COUNTER_INSTRUCTIONS];
    sums->instruction_capacity += cycles * values[ICS_COUNTER_INSTRUCTION_PEAK];
    for (int i = 0; i < ICS_ROOFLINE_LEVELS; ++i) {
        sums->bytes[i] += values[levels[i].bytes];
        sums->byte_capacity[i] += seconds * values[levels[i].clock] * values[levels[i].peak];
    }
    sums->issued_cycles += 0.01 * values[ICS_COUNTER_ISSUE] * values[ICS_COUNTER_PARTITION_CYCLES];
    sums->partition_cycles += values[ICS_COUNTER_PARTITION_CYCLES];
    sums->active_cycles += values[ICS_COUNTER_SM_CYCLES];
    sums->elapsed_cycles += cycles;
}

/* Returns the kernel with this name, which is added if it is new; NULL: out of memory. */
static ics_roofline_kernel *find_kernel(ics_roofline *roofline, const char *name)
{
    for (size_t i = 0; i < roofline->count; ++i) {
        if (strcmp(roofline->kernels[i].name, name) == 0) {
            return &roofline->kernels[i];
        }
    }
    ics_roofline_kernel *kernels =
        reallocarray(roofline->kernels, roofline->count + 1, sizeof *kernels);
    if (kernels == NULL) {
        return NULL;
    }
    roofline->kernels = kernels;
    ics_roofline_kernel *added = &kernels[roofline->count++];
    *added = (ics_roofline_kernel){.name = ""};
    snprintf(added->name, sizeof added->name, "%s", name);
    return added;
}

int ics_roofline_add(const ics_ncu_launch *launch, void *user, icestream_error *error)
{
    ics_roofline *roofline = user;
    ics_roofline_kernel *kernel = find_kernel(roofline, launch->kernel);
    if (kernel == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for counters");
    }
    add(&kernel->sums, launch->values);
    add(&roofline->all, launch->values);
    return ICESTREAM_OK;
}

void ics_roofline_free(ics_roofline *roofline)
{
    free(roofline->kernels);
    roofline->kernels = NULL;
    roofline->count = 0;
}

static double ratio(double value, double divisor)
{
    return divisor > 0 ? value / divisor : 0;
}

/* The largest share bounds the kernel, unless it is low. */
static void choose_bound(ics_roofline_figures *figures)
{
    double largest = figures->instruction_share;
    figures->bound = ICS_ROOFLINE_INSTRUCTIONS;
    for (int i = 0; i < ICS_ROOFLINE_LEVELS; ++i) {
        if (figures->level_share[i] > largest) {
            largest = figures->level_share[i];
            figures->bound = (ics_roofline_bound)i;
        }
    }
    figures->roof_gips = ratio(figures->gips, largest);
    if (largest < ICS_ROOFLINE_HIGH) {
        figures->bound =
            figures->busy < ICS_ROOFLINE_HIGH ? ICS_ROOFLINE_IDLE : ICS_ROOFLINE_LATENCY;
    }
}

ics_roofline_figures ics_roofline_compute(const ics_roofline_sums *sums, uint64_t divisor)
{
    const double nanoseconds = 1e9 * sums->seconds;
    ics_roofline_figures figures = {
        .instructions_per_bounce = ratio(sums->thread_instructions, (double)divisor),
        .threads = ratio(sums->thread_instructions, sums->instructions),
        .issue = ratio(sums->issued_cycles, sums->partition_cycles),
        .busy = ratio(sums->active_cycles, sums->elapsed_cycles),
        .gips = ratio(sums->instructions, nanoseconds),
        .peak_gips = ratio(sums->instruction_capacity, nanoseconds),
        .instruction_share = ratio(sums->instructions, sums->instruction_capacity),
    };
    for (int i = 0; i < ICS_ROOFLINE_LEVELS; ++i) {
        figures.bytes_per_bounce[i] = ratio(sums->bytes[i], (double)divisor);
        figures.intensity[i] = ratio(sums->instructions, sums->bytes[i] / ICS_ROOFLINE_TRANSACTION);
        figures.level_share[i] = ratio(sums->bytes[i], sums->byte_capacity[i]);
    }
    choose_bound(&figures);
    return figures;
}

const char *ics_roofline_bound_name(ics_roofline_bound bound)
{
    static const char *const names[ICS_ROOFLINE_BOUNDS] = {
        [ICS_ROOFLINE_L1] = "L1",           [ICS_ROOFLINE_L2] = "L2",
        [ICS_ROOFLINE_HBM] = "HBM",         [ICS_ROOFLINE_INSTRUCTIONS] = "instructions",
        [ICS_ROOFLINE_LATENCY] = "latency", [ICS_ROOFLINE_IDLE] = "idle",
    };
    return names[bound];
}
