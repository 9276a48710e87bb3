#include "graphs/cuda/graph_nodes.h"

#include "base/error.h"

int ics_graph_capture(int ordinal, cudaStream_t stream, cudaGraph_t graph,
                      const cudaGraphNode_t *after, size_t count, const ics_captured_work *work,
                      cudaGraphNode_t *last, icestream_error *error)
{
    CUDA_TRY(ordinal, error,
             cudaStreamBeginCaptureToGraph(stream, graph, after, NULL, count,
                                           cudaStreamCaptureModeThreadLocal));
    int status = work->enqueue(work->user, error);
    enum cudaStreamCaptureStatus state;
    const cudaGraphNode_t *ends = NULL;
    size_t end_count = 0;
    const cudaError_t asked =
        cudaStreamGetCaptureInfo(stream, &state, NULL, NULL, &ends, NULL, &end_count);
    if (asked == cudaSuccess && end_count == 1) {
        *last = ends[0];
    }
    cudaGraph_t captured = NULL;
    const cudaError_t ended = cudaStreamEndCapture(stream, &captured);
    if (status == ICESTREAM_OK && asked != cudaSuccess) {
        status = ics_check_failed(asked, "cudaStreamGetCaptureInfo", ordinal, error);
    }
    if (status == ICESTREAM_OK && ended != cudaSuccess) {
        status = ics_check_failed(ended, "cudaStreamEndCapture", ordinal, error);
    }
    return status;
}

int ics_graph_add_conditional(int ordinal, cudaGraph_t graph, const cudaGraphNode_t *after,
                              enum cudaGraphConditionalNodeType type,
                              cudaGraphConditionalHandle handle, cudaGraph_t *body,
                              icestream_error *error)
{
    struct cudaGraphNodeParams parameters = {.type = cudaGraphNodeTypeConditional};
    parameters.conditional.handle = handle;
    parameters.conditional.type = type;
    parameters.conditional.size = 1;
    cudaGraphNode_t node;
    CUDA_TRY(ordinal, error,
             cudaGraphAddNode(&node, graph, after, NULL, after != NULL ? 1 : 0, &parameters));
    *body = parameters.conditional.phGraph_out[0];
    return ICESTREAM_OK;
}
