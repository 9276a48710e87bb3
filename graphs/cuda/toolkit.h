/* The CUDA runtime of toolkits from 12.4 on, with the names and types of CUDA 13.
 *
 * CUDA 12 has two calls of graphs under names with a version, and the calls of libraries exist
 * since 12.8. Before that the driver has them (cuLibraryLoadData and its neighbours, since
 * CUDA 12.0): the types are the same, and both number their errors in the same way. The runtime
 * does not know such kernels then (cudaErrorInvalidDeviceFunction), so the driver launches them.
 */
#ifndef ICS_GRAPHS_CUDA_TOOLKIT_H
#define ICS_GRAPHS_CUDA_TOOLKIT_H

#include <cuda_runtime_api.h>

#if CUDART_VERSION < 12040
#error "CUDART_VERSION: icestream needs the CUDA toolkit 12.4 or later"
#endif

#if CUDART_VERSION < 13000
#undef cudaStreamGetCaptureInfo
#define cudaStreamGetCaptureInfo cudaStreamGetCaptureInfo_v3
#define cudaGraphAddNode         cudaGraphAddNode_v2
#endif

#if CUDART_VERSION >= 12080
/* Launches a kernel of a library. */
static inline cudaError_t ics_launch_kernel(cudaKernel_t kernel, dim3 blocks, dim3 threads,
                                            void **arguments, cudaStream_t stream)
{
    return cudaLaunchKernel((const void *)kernel, blocks, threads, arguments, 0, stream);
}

/* Adds a launch of such a kernel to a graph, behind the nodes `after` [count]. */
static inline cudaError_t ics_add_kernel_node(cudaGraphNode_t *node, cudaGraph_t graph,
                                              const cudaGraphNode_t *after, size_t count,
                                              cudaKernel_t kernel, dim3 blocks, dim3 threads,
                                              void **arguments)
{
    struct cudaGraphNodeParams parameters = {.type = cudaGraphNodeTypeKernel};
    parameters.kernel.func = (void *)kernel;
    parameters.kernel.gridDim = blocks;
    parameters.kernel.blockDim = threads;
    parameters.kernel.kernelParams = arguments;
    return cudaGraphAddNode(node, graph, count > 0 ? after : NULL, NULL, count, &parameters);
}
#else
#include <cuda.h>

typedef struct CUlib_st *cudaLibrary_t;

/* Finds a function of the driver. `function` is the address of a pointer to a function. */
static inline cudaError_t ics_driver_function(const char *name, void *function)
{
    enum cudaDriverEntryPointQueryResult found;
    const cudaError_t result =
        cudaGetDriverEntryPoint(name, (void **)function, cudaEnableDefault, &found);
    if (result != cudaSuccess) {
        return result;
    }
    return found == cudaDriverEntryPointSuccess ? cudaSuccess : cudaErrorCallRequiresNewerDriver;
}

/* NAME(parameters) as the function of the driver `symbol`, called with `arguments`. */
#define ICS_DRIVER_CALL(name, symbol, parameters, arguments)                                       \
    static inline cudaError_t name parameters                                                      \
    {                                                                                              \
        cudaError_t(*function) parameters;                                                         \
        const cudaError_t result = ics_driver_function(symbol, &function);                         \
        return result == cudaSuccess ? function arguments : result;                                \
    }

ICS_DRIVER_CALL(cudaLibraryLoadData, "cuLibraryLoadData",
                (cudaLibrary_t * library, const void *code, void *options, void **values,
                 unsigned count, void *library_options, void **library_values,
                 unsigned library_count),
                (library, code, options, values, count, library_options, library_values,
                 library_count))
ICS_DRIVER_CALL(cudaLibraryUnload, "cuLibraryUnload", (cudaLibrary_t library), (library))
ICS_DRIVER_CALL(cudaLibraryGetKernel, "cuLibraryGetKernel",
                (cudaKernel_t * kernel, cudaLibrary_t library, const char *name),
                (kernel, library, name))
ICS_DRIVER_CALL(cudaLibraryGetGlobal, "cuLibraryGetGlobal",
                (void **address, size_t *bytes, cudaLibrary_t library, const char *name),
                (address, bytes, library, name))
#undef ICS_DRIVER_CALL

static inline cudaError_t ics_launch_kernel(cudaKernel_t kernel, dim3 blocks, dim3 threads,
                                            void **arguments, cudaStream_t stream)
{
    CUresult (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                       unsigned, CUstream, void **, void **);
    const cudaError_t result = ics_driver_function("cuLaunchKernel", &launch);
    return result == cudaSuccess
               ? (cudaError_t)launch((CUfunction)kernel, blocks.x, blocks.y, blocks.z, threads.x,
                                     threads.y, threads.z, 0, stream, arguments, NULL)
               : result;
}

static inline cudaError_t ics_add_kernel_node(cudaGraphNode_t *node, cudaGraph_t graph,
                                              const cudaGraphNode_t *after, size_t count,
                                              cudaKernel_t kernel, dim3 blocks, dim3 threads,
                                              void **arguments)
{
    CUresult (*add)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t,
                    const CUDA_KERNEL_NODE_PARAMS *);
    const CUDA_KERNEL_NODE_PARAMS parameters = {.kern = kernel,
                                                .gridDimX = blocks.x,
                                                .gridDimY = blocks.y,
                                                .gridDimZ = blocks.z,
                                                .blockDimX = threads.x,
                                                .blockDimY = threads.y,
                                                .blockDimZ = threads.z,
                                                .kernelParams = arguments};
    const cudaError_t result = ics_driver_function("cuGraphAddKernelNode", &add);
    return result == cudaSuccess
               ? (cudaError_t)add(node, graph, count > 0 ? after : NULL, count, &parameters)
               : result;
}
#endif

#endif
