/* How kernels count segments in histograms (sink.histograms). Only run.h includes this. */
#ifndef ICS_KERNELS_CUDA_DEVICE_SEGMENT_COUNTS_H
#define ICS_KERNELS_CUDA_DEVICE_SEGMENT_COUNTS_H

#if defined(GPU_SPECIAL_SEGMENTS)
/* The cell of a word in a histogram of segments. */
#define GPU_SEGMENT_CELL(bins, first_edge, in_row, word)                                           \
    (in_row ? ice_photon_cell_in_row(gpu_photon_edges[first_edge], bins, word)                     \
            : ice_photon_cell(edges + first_edge, bins, word))

/* Adds a segment to a cell. If the bounce limit is above GPU_BOUNCES_COUNTED, a count of the block
 * may overflow. Then 2^32 are added to the cell of the lane. */
ICE_FN void gpu_count_in_cell(const gpu_hit_sink *sink, uint32_t batch, uint32_t cell)
{
    uint32_t *cells = gpu_block_cells_of(sink->counts, batch);
    if (GPU_SPECIAL_COUNTS_AT_ONCE || GPU_SPECIAL_BOUNCE_LIMIT <= GPU_BOUNCES_COUNTED) {
        gpu_add_to_cell(cells, sink->lane, batch, cell);
    } else if (atomicAdd(&cells[cell], 1u) == 0xffffffffu) {
        atomicAdd(&gpu_photon_cells_of(sink->lane, batch)[cell], 1ull << 32);
    }
}

/* In a list of the histograms of segments: counts a word of the candidates, or of the layers. */
#define GPU_COUNT_WORD(quantity, bins, first_cell, first_edge, in_row)                             \
    if (quantity == counted) {                                                                     \
        gpu_count_in_cell(sink, batch,                                                             \
                          first_cell + GPU_SEGMENT_CELL(bins, first_edge, in_row, word));          \
    }

/* Counts the word of a segment in all histograms of its quantity. The common word need not be
 * counted, because the host computes its count from the number of all segments
 * (ice_complete_segments). So a segment without a search takes no instruction for its candidates.
 * Layers are known of every segment: there a branch around the addition would take more
 * instructions than the addition, and nearly every warp has a segment with another word. */
ICE_FN void gpu_count_word(const gpu_hit_sink *sink, uint32_t emission, uint32_t counted,
                           uint32_t word)
{
    if (counted == ICE_PHOTON_LAYERS || word != ice_common_word(counted)) {
        const uint32_t batch = gpu_batch_of(emission);
        const uint32_t *edges = gpu_edges_of(sink->counts);
        (void)edges, (void)batch;
        GPU_SPECIAL_SEGMENTS(GPU_COUNT_WORD)
    }
}

/* Counts a segment of a photon that is at its start, but not its candidates. */
static __device__ __forceinline__ void gpu_count_segment(const gpu_hit_sink *sink,
                                                         const ice_tables *tables,
                                                         const ice_photon *photon, float height,
                                                         float length)
{
    gpu_count_word(sink, photon->emission, ICE_PHOTON_LAYERS,
                   ice_layers_of(tables, ice_segment_end_of(photon, height, length)));
}
#endif

#if defined(GPU_SPECIAL_CANDIDATES)
/* Counts the candidates of a segment that its first search has tested. */
static __device__ __forceinline__ void gpu_count_tested(const gpu_hit_sink *sink, uint32_t emission,
                                                        uint32_t tested)
{
    gpu_count_word(sink, emission, ICE_PHOTON_CANDIDATES, tested);
}

/* Searches for the candidates of a segment of this length again, and counts them. */
static __device__ __forceinline__ void gpu_count_candidates(const gpu_hit_sink *sink,
                                                            const ice_tables *tables,
                                                            const ice_photon *photon, float length)
{
    gpu_count_tested(
        sink, photon->emission,
        ice_candidates_of(GPU_SPECIAL_COLLIDE, tables, ice_segment_end_of(photon, 0.0f, length)));
}
#endif

#endif
