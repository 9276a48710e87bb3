/* Reads the begins and ends of blocks that kernels with a profile recorded. */
#include "graphs/cuda/block_spans.h"

#include <stdlib.h>

void ics_block_spans_read(const void *spans, uint32_t processors, ics_load *out)
{
    *out = (ics_load){.processors = 0};
    ics_block_spans *here = malloc(sizeof *here);
    if (here != NULL && spans != NULL &&
        cudaMemcpy(here, spans, sizeof *here, cudaMemcpyDeviceToHost) == cudaSuccess) {
        const bool is_cut = here->count > ICS_BLOCK_SPANS;
        const size_t count = is_cut ? ICS_BLOCK_SPANS : (size_t)here->count;
        ics_load_of(here->spans, count, is_cut, processors, out);
    }
    free(here);
}
