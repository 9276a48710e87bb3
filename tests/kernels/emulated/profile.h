/* The stamps of a profile of a loop on the emulated grid: between the kernels of a trip, as
 * graphs/cuda/loop.c places them. A stamp comes 1000 ns after the one before. A profile has one
 * chain and no parallel kernels. */
#ifndef EMULATED_PROFILE_H
#define EMULATED_PROFILE_H

#include "tests/kernels/emulated/lane.h"

/* Stamps the begin of a trip. */
void grid_profile_begin(grid_lane *self, const grid_setting *with);

/* Stamps the end of a kernel of a wave, by its index in the list of the row. */
void grid_profile_end(grid_lane *self, const grid_setting *with, const ics_gpu_schedule *row,
                      uint32_t kernel);

#endif
