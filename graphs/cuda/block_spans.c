/* Reads the begins and ends of blocks that kernels with a profile recorded. */
#include "graphs/cuda/block_spans.h"

#include <stdlib.h>

static void read_spans(const void *spans, uint32_t processors, ics_load *out)
{
    ics_block_spans *here = malloc(sizeof *here);
    if (here != NULL &&
        cudaMemcpy(here, spans, sizeof *here, cudaMemcpyDeviceToHost) == cudaSuccess) {
        const bool is_cut = here->count > ICS_BLOCK_SPANS;
        const size_t count = is_cut ? ICS_BLOCK_SPANS : (size_t)here->count;
        ics_load_of(here->spans, count, is_cut, processors, out);
    }
    free(here);
}

void ics_block_spans_read(const void *times, bool loops, uint32_t processors, ics_load *out)
{
    *out = (ics_load){.processors = 0};
    if (times != NULL && !loops) {
        read_spans(times, processors, out);
        return;
    }
    ics_busy_times *here = times != NULL ? malloc(sizeof *here) : NULL;
    if (here != NULL &&
        cudaMemcpy(here, times, sizeof *here, cudaMemcpyDeviceToHost) == cudaSuccess) {
        ics_load_of_times(here, processors, out);
    }
    free(here);
}
