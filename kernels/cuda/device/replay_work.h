/* What the host and the kernel that replays photons share, in the common subset of C11 and CUDA C.
 */
#ifndef ICS_KERNELS_CUDA_DEVICE_REPLAY_WORK_H
#define ICS_KERNELS_CUDA_DEVICE_REPLAY_WORK_H

#include "kernels/cuda/state.h"
#include "stages/path_sum.h"
#include "stages/tables.h"

/* A photon that is replayed. */
typedef struct ics_replay_item {
    uint32_t emission; /* index in the emissions of the launch */
    uint32_t photon_id;
    uint32_t scatters; /* its path ends behind the segment with this number of scatters */
} ics_replay_item;

/* An arrival on the path of a photon. */
typedef struct ics_replay_arrival {
    ice_arrival arrival; /* its emission is the index of the photon in the launch */
    uint32_t number;     /* of the arrivals of the photon, from 0 on */
    uint32_t layer_count;
    uint64_t first_layer;
    ice_angle_sums angles;
} ics_replay_arrival;

/* A point of the path of a photon (stages/path_point.h). */
typedef struct ics_replay_point {
    uint32_t item;   /* index of the photon in the launch */
    uint32_t number; /* of the points of the photon, from 0 on */
    uint32_t kind;   /* ice_point_kind */
    uint32_t scatters;
    float x, y, z, dx, dy, dz;
    float path, absorption, wavelength;
    ice_arrival arrival; /* of a hit */
} ics_replay_point;

/* Another ice. */
typedef struct ics_replay_ice {
    ice_tables tables;
    uint32_t scatter;      /* ice_variant */
    uint32_t needs_angles; /* of ice_path_ice */
} ics_replay_ice;

/* What a launch has counted. More arrivals or layers than there is room for are not stored. The
 * host zeroes all of it before a launch. */
typedef struct ics_replay_counts {
    unsigned long long next;             /* photons that threads have taken, or tried to take */
    unsigned long long arrivals, layers; /* arrivals: or points */
} ics_replay_counts;

/* The order for one launch. All pointers point to memory of the device. */
typedef struct ics_replay_work {
    const ice_emission *emissions;
    const ics_replay_item *items; /* [count] */
    const ics_replay_ice *ices;   /* [targets] */
    ice_path_state *states;       /* [threads][targets] */
    ice_layer_sum *sums;          /* [threads][2][layers and columns], zero between launches */
    ics_replay_counts *counts;
    ics_replay_arrival *arrivals; /* [arrival_capacity] */
    ice_path_end *ends;           /* [arrival_capacity][1 + targets], the own ice first */
    ice_layer_sum *layers;        /* [layer_capacity] */
    ics_replay_point *points; /* [arrival_capacity], in place of arrivals, if paths are wanted */
    uint64_t arrival_capacity, layer_capacity;
    uint32_t count;
    uint32_t targets;
} ics_replay_work;

#endif
