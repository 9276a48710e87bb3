/* Nodes of CUDA graphs that several files add: captured work, and WHILE and IF nodes. The functions
 * return ICESTREAM_OK or an error of ics_check_failed() for device `ordinal`. */
#ifndef ICS_GRAPHS_CUDA_GRAPH_NODES_H
#define ICS_GRAPHS_CUDA_GRAPH_NODES_H

#include "graphs/cuda/check.h"

#include <stddef.h>

/* Work for a stream: `enqueue` puts it there. */
typedef struct ics_captured_work {
    int (*enqueue)(void *user, icestream_error *error);
    void *user;
} ics_captured_work;

/* Captures work, which goes into `stream`, into a graph behind the nodes `after` [count]. Sets
 * *last to the node that everything else of the work comes before. */
int ics_graph_capture(int ordinal, cudaStream_t stream, cudaGraph_t graph,
                      const cudaGraphNode_t *after, size_t count, const ics_captured_work *work,
                      cudaGraphNode_t *last, icestream_error *error);

/* Adds a conditional node behind `after` (NULL: behind nothing) and sets *body to its graph. */
int ics_graph_add_conditional(int ordinal, cudaGraph_t graph, const cudaGraphNode_t *after,
                              enum cudaGraphConditionalNodeType type,
                              cudaGraphConditionalHandle handle, cudaGraph_t *body,
                              icestream_error *error);

#endif
