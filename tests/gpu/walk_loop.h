/* The walk of walk_gpu.h. Its name is WALK_SYMBOL, and ICE_MATH_FAST chooses fast maths. */
#define ICE_PUT_ARRIVAL(sink, arrival) (-1) /* no photon reaches a module */
#include "stages/bounce.h"
#include "tests/gpu/walk_views.h"

/* Two files include this header with different maths, so these functions have no linkage. */
namespace
{
template <class View>
__device__ void walk(const walk_job &job, uint32_t photon_id, typename View::out &out)
{
    ice_photon photon = ice_create(job.variants.create, &job.tables, &job.emission, 0, photon_id);
    View::start(job, photon, out);
    const ice_optics optics = ice_optics_at(&job.tables, photon.wavelength);
    ice_random random = ice_random_of(&job.tables, ice_identity_of(&job.emission, photon_id));
    ice_site site = ice_site_of(&job.tables, photon.x, photon.y, photon.z);
    uint32_t fate = ICE_ALIVE;
    while (fate == ICE_ALIVE && photon.path < job.path_limit &&
           photon.scatters < job.scatter_limit) {
        ice_bounce bounce;
        if (!ice_start_bounce(job.variants.propagate, &job.tables, random, optics, &photon, site,
                              &bounce)) {
            break;
        }
        View::segment(job, photon, bounce, out);
        ice_end_bounce(job.variants.scatter, &job.tables, &bounce, &photon, &random, &fate, &site);
    }
}

template <class View>
__global__ void walk_all(const __grid_constant__ walk_job job, walk_sum *sums, double *bins)
{
    typename View::out out = {};
    out.bins = bins;
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < job.photons;
         i += gridDim.x * blockDim.x) {
        walk<View>(job, static_cast<uint32_t>(i), out);
    }
    for (int k = 0; k < View::SUMS; ++k) {
        atomicAdd(&sums[k].count, out.sums[k].count);
        atomicAdd(&sums[k].sum, out.sums[k].sum);
        atomicAdd(&sums[k].squares, out.sums[k].squares);
    }
}

template <class View> int run(const walk_job *job, walk_sum *sums, double *bins)
{
    walk_all<View><<<2048, 128>>>(*job, sums, bins);
    const cudaError_t launched = cudaGetLastError();
    return launched == cudaSuccess ? cudaDeviceSynchronize() : launched;
}
} // namespace

extern "C" int WALK_SYMBOL(const walk_job *job, walk_view view, walk_sum *sums, double *bins)
{
    switch (view) {
    case WALK_ENDS:
        return run<ends_view>(job, sums, bins);
    case WALK_PATHS:
        return run<paths_view>(job, sums, bins);
    case WALK_TURN:
        return run<turn_view>(job, sums, bins);
    case WALK_SHELLS:
        return run<shells_view>(job, sums, bins);
    case WALK_FIRST:
        return run<first_view>(job, sums, bins);
    case WALK_START:
        return run<start_view>(job, sums, bins);
    default:
        return cudaErrorInvalidValue;
    }
}
