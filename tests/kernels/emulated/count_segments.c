#include "tests/kernels/emulated/count_segments.h"

#if defined(GRID_COUNTS_PHOTONS)
#include "kernels/cuda/device/run.h"

ICS_STATIC_ASSERT(GRID_HIGH_BOUNCE_LIMIT == GPU_BOUNCES_COUNTED + 1, "the test uses the branch");

void grid_count_segments(void *counting)
{
    static uint32_t counts[GPU_BLOCK_COUNTS];
    const grid_counting *self = counting;
    const gpu_hit_sink sink = {self->lane, counts};
    uint32_t *cells = counts + GPU_PHOTON_FIRST + self->batch * GPU_PHOTON_CELLS;
    const uint32_t emission = self->batch << GPU_SPECIAL_START_SHIFT;
    gpu_counts_clear(counts);
    cells[GRID_CELL_LAYERS] = cells[GRID_CELL_CANDIDATES] = self->begin;
    __syncthreads();
    for (uint32_t i = 1; i <= self->segments; ++i) {
        gpu_count_word(&sink, emission, ICE_PHOTON_LAYERS, 2);
        gpu_count_word(&sink, emission, ICE_PHOTON_CANDIDATES, 2);
        __syncthreads();
        if (threadIdx.x == 0 && i == self->moved) {
            gpu_move_cells(counts, self->lane, self->batch);
        }
        __syncthreads();
    }
    gpu_counts_add(counts, self->lane);
}
#endif
