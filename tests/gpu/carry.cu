#include "tests/gpu/carry.h"

#include <cstdio>

struct arrival_list {
    ice_arrival *items;
    uint32_t capacity;
    uint32_t count;
    unsigned long long bounces;
};

static __device__ int put_arrival(void *sink, const ice_arrival *arrival)
{
    arrival_list *list = static_cast<arrival_list *>(sink);
    const uint32_t place = atomicAdd(&list->count, 1u);
    if (place < list->capacity)
        list->items[place] = *arrival;
    return 0;
}

#define ICE_PUT_ARRIVAL(sink, arrival) put_arrival(sink, arrival)
#include "stages/bounce.h"

static __global__ void carry(const ice_tables *tables, const ice_emission *emissions,
                             uint32_t count, uint32_t photons, arrival_list *list)
{
    const uint64_t total = (uint64_t)count * photons;
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < total;
         i += gridDim.x * (uint64_t)blockDim.x) {
        const ice_variants variants = {ICE_create_cherenkov, ICE_propagate_cumulative,
                                       ICE_collide_string_grid, ICE_scatter_hg_sl,
                                       ICE_compact_partition};
        const ice_emission *emission = &emissions[i / photons];
        ice_photon photon = ice_create(variants.create, tables, emission, (uint32_t)(i / photons),
                                       (uint32_t)(i % photons));
        const ice_optics optics = ice_optics_at(tables, photon.wavelength);
        uint32_t fate = ICE_ALIVE;
        uint64_t hits = 0, bounces = 0;
        while (fate == ICE_ALIVE)
            ice_bounce(&variants, tables, emission, optics, &photon, list, &fate, &hits, &bounces);
        atomicAdd(&list->bounces, (unsigned long long)bounces);
    }
}

int is_gpu_devices(void)
{
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

/* A pointer into the host's block of tables becomes one into the device's copy. */
template <typename T> static void move(const T *&pointer, const void *host, const void *device)
{
    const ptrdiff_t offset =
        reinterpret_cast<const char *>(pointer) - static_cast<const char *>(host);
    pointer = reinterpret_cast<const T *>(static_cast<const char *>(device) + offset);
}

static ice_tables moved_tables(ice_tables t, const void *host, const void *device)
{
    move(t.layers, host, device);
    move(t.cumulative, host, device);
    move(t.clearest, host, device);
    move(t.wavelengths, host, device);
    move(t.modules, host, device);
    move(t.absorbs, host, device);
    move(t.clearance, host, device);
    move(t.clearance_of_others, host, device);
    move(t.nearest_string, host, device);
    move(t.strings, host, device);
    move(t.string_modules, host, device);
    move(t.string_heights, host, device);
    move(t.string_grid.offsets, host, device);
    move(t.string_grid.items, host, device);
    move(t.cell_grid.offsets, host, device);
    move(t.cell_grid.items, host, device);
    return t;
}

#define TRY(call)                                                                                  \
    do {                                                                                           \
        const cudaError_t error = (call);                                                          \
        if (error != cudaSuccess) {                                                                \
            snprintf(why, why_size, "%s: %s", #call, cudaGetErrorString(error));                   \
            return -1;                                                                             \
        }                                                                                          \
    } while (0)

int is_gpu_carry(const ice_tables *tables, const void *memory, size_t bytes,
                 const ice_emission *emissions, uint32_t count, uint32_t photons,
                 ice_arrival *arrivals, uint32_t capacity, uint32_t *arrived, uint64_t *bounces,
                 char *why, size_t why_size)
{
    void *block, *steps, *items, *list_memory, *tables_memory;
    TRY(cudaMalloc(&block, bytes));
    TRY(cudaMalloc(&steps, count * sizeof *emissions));
    TRY(cudaMalloc(&items, capacity * sizeof *arrivals));
    TRY(cudaMalloc(&list_memory, sizeof(arrival_list)));
    TRY(cudaMalloc(&tables_memory, sizeof(ice_tables)));
    const ice_tables there = moved_tables(*tables, memory, block);
    arrival_list list = {static_cast<ice_arrival *>(items), capacity, 0, 0};
    TRY(cudaMemcpy(block, memory, bytes, cudaMemcpyHostToDevice));
    TRY(cudaMemcpy(steps, emissions, count * sizeof *emissions, cudaMemcpyHostToDevice));
    TRY(cudaMemcpy(list_memory, &list, sizeof list, cudaMemcpyHostToDevice));
    TRY(cudaMemcpy(tables_memory, &there, sizeof there, cudaMemcpyHostToDevice));
    carry<<<1024, 128>>>(static_cast<const ice_tables *>(tables_memory),
                         static_cast<const ice_emission *>(steps), count, photons,
                         static_cast<arrival_list *>(list_memory));
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy(&list, list_memory, sizeof list, cudaMemcpyDeviceToHost));
    *arrived = list.count;
    *bounces = list.bounces;
    const uint32_t kept = list.count < capacity ? list.count : capacity;
    TRY(cudaMemcpy(arrivals, items, kept * sizeof *arrivals, cudaMemcpyDeviceToHost));
    TRY(cudaFree(block));
    TRY(cudaFree(steps));
    TRY(cudaFree(items));
    TRY(cudaFree(list_memory));
    TRY(cudaFree(tables_memory));
    return 0;
}
