/* The settings of a GPU's graph: defaults where the user chose nothing, sizes that follow from the
 * settings, and the program that they need. */
#ifndef ICS_GRAPHS_CUDA_SETTINGS_H
#define ICS_GRAPHS_CUDA_SETTINGS_H

#include "graphs/gpu.h"
#include "graphs/schedule.h"

#include <stdio.h>

enum { ICS_DEFINITIONS_SIZE = 16384 };

/* The properties of device and ice that defaults depend on. */
typedef struct ics_gpu_limits {
    int architecture; /* 90 for sm_90 */
    int processors;
    uint32_t features; /* features of the tables, bits ICE_HAS_... */
} ics_gpu_limits;

/* A device like the one on which the defaults were measured, for plans without a GPU.
 * `architecture` 0: that of this device. */
ics_gpu_limits ics_settings_assumed_limits(int architecture, const ics_tables *tables);

/* Replaces every 0 and AUTO in the options by a number or a choice, and makes pool and block fit
 * each other. options->schedule must not be AUTO. */
void ics_settings_resolve(ics_gpu_options *options, const ics_gpu_limits *limits);

/* Replaces every 0 in the settings of the kernel for tables, which no schedule has. `threads` and
 * `blocks`: the defaults where neither the settings nor the options have numbers. Other blocks get
 * as many registers as these. */
void ics_settings_resolve_table(const ics_gpu_options *options, ics_kernel_tune *one,
                                uint32_t threads, uint32_t blocks);

/* Fills *out with the options of candidate number `index` of schedule AUTO: what the user has
 * fixed stays. Returns false if there are fewer candidates. */
bool ics_settings_candidate(const ics_gpu_options *options, size_t index, ics_gpu_options *out);

/* The settings of a kernel of a schedule, by its name (gpu_propagate). The options are resolved,
 * and so are the settings. Kernels that graph.tune does not have get those of the whole graph. */
ics_kernel_tune ics_settings_kernel(const ics_gpu_options *options, const char *name);

/* Whether photons have bounces inside columns of hole ice that ice_bounce_in_column() computes. */
bool ics_settings_has_columns(const ics_gpu_options *options, const ice_tables *tables);

/* The number of slots in the pool of one lane. The options are resolved. */
uint32_t ics_settings_lane_slots(const ics_gpu_options *options);

/* The smallest number whose power of two is at least options->batch_emissions: batches begin at
 * multiples of this power in a lane's ring of emissions. */
uint32_t ics_settings_start_shift(const ics_gpu_options *options);

/* Writes the sizes and limits of a kernel to the definitions of a program. */
void ics_settings_define_kernel(const ics_gpu_options *options, ics_tuned_kernel kernel,
                                FILE *definitions);

/* Begins to write definitions into `text`, with room for `size` bytes, behind those that it has;
 * NULL: there is no memory. */
FILE *ics_settings_definitions(char *text, size_t size);
/* Ends it; `definitions` may be NULL. ICESTREAM_E_CONFIG: there was too little room.
 * ICESTREAM_E_MEMORY. */
int ics_settings_end_definitions(FILE *definitions, icestream_error *error);

/* Fills *out with what the program of these resolved options is made from. `definitions`:
 * [ICS_DEFINITIONS_SIZE], kept by the caller as long as *out is used. ICESTREAM_E_CONFIG. */
int ics_settings_program(const ics_gpu_options *options, const ics_tables *tables, int architecture,
                         ics_program_options *out, char *definitions, icestream_error *error);

#endif
