/* The smallest program for which synccheck of compute-sanitizer 2025.3.1 reports an error that
 * cannot be: "Barrier error detected. Divergent thread(s) in warp", for a kernel that begins with a
 * barrier. No thread can take another way, because there is no branch before the barrier.
 *
 *   compute-sanitizer --tool synccheck sanitizer_barrier launch    no error
 *   compute-sanitizer --tool synccheck sanitizer_barrier graph     no error
 *   compute-sanitizer --tool synccheck sanitizer_barrier while     reports, and the kernel fails
 *
 * launch: the kernel alone. graph: a node of a graph. while: a node in the body of a WHILE node, as
 * in the loops of icestream. Without the sanitizer all three succeed. docs/gpu.md says what
 * follows.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>

static void check(cudaError_t result, const char *what)
{
    if (result != cudaSuccess) {
        fprintf(stderr, "sanitizer_barrier: %s: %s\n", what, cudaGetErrorString(result));
        exit(EXIT_FAILURE);
    }
}

/* Counts the blocks that passed the barrier. */
static __global__ void pass_barrier(unsigned *passed)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(passed, 1u);
    }
}

/* Ends the loop after its first trip. */
static __global__ void end_loop(cudaGraphConditionalHandle loop)
{
    cudaGraphSetConditional(loop, 0);
}

static cudaGraphNode_t add_kernel(cudaGraph_t graph, const cudaGraphNode_t *after, void *function,
                                  unsigned blocks, unsigned threads, void *argument)
{
    void *arguments[] = {argument};
    cudaGraphNodeParams parameters = {};
    parameters.type = cudaGraphNodeTypeKernel;
    parameters.kernel.func = function;
    parameters.kernel.gridDim = dim3(blocks);
    parameters.kernel.blockDim = dim3(threads);
    parameters.kernel.kernelParams = arguments;
    cudaGraphNode_t node;
    check(cudaGraphAddNode(&node, graph, after, nullptr, after != nullptr ? 1 : 0, &parameters),
          "a kernel in a graph");
    return node;
}

/* Adds a WHILE node and returns its body. */
static cudaGraph_t add_while(cudaGraph_t graph, cudaGraphConditionalHandle loop)
{
    cudaGraphNodeParams parameters = {};
    parameters.type = cudaGraphNodeTypeConditional;
    parameters.conditional.handle = loop;
    parameters.conditional.type = cudaGraphCondTypeWhile;
    parameters.conditional.size = 1;
    cudaGraphNode_t node;
    check(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &parameters), "a WHILE node");
    return parameters.conditional.phGraph_out[0];
}

static void run_graph(unsigned *passed, bool in_loop)
{
    cudaGraph_t graph;
    check(cudaGraphCreate(&graph, 0), "a graph");
    if (in_loop) {
        cudaGraphConditionalHandle loop;
        check(cudaGraphConditionalHandleCreate(&loop, graph, 1, cudaGraphCondAssignDefault),
              "a condition");
        const cudaGraph_t body = add_while(graph, loop);
        const cudaGraphNode_t first =
            add_kernel(body, nullptr, (void *)pass_barrier, 16, 256, &passed);
        add_kernel(body, &first, (void *)end_loop, 1, 1, &loop);
    } else {
        add_kernel(graph, nullptr, (void *)pass_barrier, 16, 256, &passed);
    }
    cudaGraphExec_t program;
    check(cudaGraphInstantiate(&program, graph, 0), "instantiate");
    check(cudaGraphLaunch(program, nullptr), "launch");
}

int main(int count, char **words)
{
    const char *mode = count == 2 ? words[1] : "";
    unsigned *passed, seen;
    if (strcmp(mode, "launch") != 0 && strcmp(mode, "graph") != 0 && strcmp(mode, "while") != 0) {
        fprintf(stderr, "usage: sanitizer_barrier launch|graph|while\n");
        return 2;
    }
    check(cudaMalloc(&passed, sizeof *passed), "memory");
    check(cudaMemset(passed, 0, sizeof *passed), "memory");
    if (strcmp(mode, "launch") == 0) {
        pass_barrier<<<16, 256>>>(passed);
        check(cudaGetLastError(), "launch");
    } else {
        run_graph(passed, strcmp(mode, "while") == 0);
    }
    check(cudaMemcpy(&seen, passed, sizeof seen, cudaMemcpyDeviceToHost), "result");
    printf("%u of 16 blocks passed the barrier\n", seen);
    return seen == 16 ? EXIT_SUCCESS : EXIT_FAILURE;
}
