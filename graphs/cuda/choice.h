/* What is known about the candidates of schedule AUTO: which of them suit the steps, and what
 * trials of this run and of earlier runs have measured. The results are files in the cache. Needs
 * no CUDA.
 */
#ifndef ICS_GRAPHS_CUDA_CHOICE_H
#define ICS_GRAPHS_CUDA_CHOICE_H

#include "graphs/cuda/settings.h"

/* The largest number of candidates. */
enum { ICS_CHOICE_CANDIDATES_MAX = ICS_SCHEDULE_COUNT * ICS_SCHEDULE_CANDIDATES };

/* Everything that a choice depends on. */
typedef struct ics_choice_request {
    const ics_gpu_options *options; /* what the user has fixed */
    const ics_tables *tables;
    /* Without what changes from moment to moment (memory_free is 0). All bytes count, also those
     * between the members: set them to 0 first. */
    ics_gpu_device device;
} ics_choice_request;

/* The time per photon (ns) of every candidate; 0: not measured, ICS_CHOICE_IMPOSSIBLE: a trial has
 * shown that the device cannot run the candidate. */
typedef struct ics_choice_results {
    double nanoseconds[ICS_CHOICE_CANDIDATES_MAX];
} ics_choice_results;
#define ICS_CHOICE_IMPOSSIBLE (-1.0)

/* Sets *out to the options of a candidate with every number that a run of it will have. Returns
 * false if there are fewer candidates. */
bool ics_choice_candidate(const ics_choice_request *request, size_t index, ics_gpu_options *out);

/* Whether these settings can be fast for steps such as these, by numbers of steps and photons
 * alone. Schedules that give each step to one warp or thread cannot if one step has more than a few
 * times the photons that every warp or thread would have to compute. `options`: resolved. */
bool ics_choice_suits(const ics_gpu_options *options, const ice_emission *emissions,
                      uint32_t count);

/* Returns the number of the fastest candidate that suits the steps. If none of these is measured,
 * returns the one that the table of schedules names for this case. Returns -1 if no candidate takes
 * blocks of the configured size. */
int ics_choice_best(const ics_choice_request *request, const ics_choice_results *results,
                    const ice_emission *emissions, uint32_t count);

/* Returns the number of the next candidate that a trial should measure: it suits the steps, accepts
 * the size of the blocks, and is not measured. -1: there is none. */
int ics_choice_next(const ics_choice_request *request, const ics_choice_results *results,
                    const ice_emission *emissions, uint32_t count);

/* Writes the name of a choice: a digest of the device, the tables without the seed, the sources
 * of the kernels, and all candidates with the options of ICS_GPU_SPEED_OPTIONS. Compiles nothing.
 * Returns 0, or -1 if no program can be made for these options; a trial reports why. */
int ics_choice_key(const ics_choice_request *request, char key[65]);

/* Writes the path of the file of these results. Returns 0, or -1 if there is no cache or no key. */
int ics_choice_path(const ics_choice_request *request, char *path, size_t size);

/* Adds the results in a file to *results. What *results has already stays. A line that is damaged
 * is ignored. Returns 0, or -1 if there is no such file. */
int ics_choice_read(const char *path, ics_choice_results *results);
/* Writes the results, together with those that other processes have added to the file. If the file
 * cannot be written, the next run measures again. */
void ics_choice_write(const char *path, const ics_choice_results *results);

#endif
