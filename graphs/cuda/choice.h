/* The choices of schedule AUTO that earlier runs made, as files in the cache. Needs no CUDA. */
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

/* Sets *out to the options of a candidate with every number that a run of it will have. Returns
 * false if there are fewer candidates. */
bool ics_choice_candidate(const ics_choice_request *request, size_t index, ics_gpu_options *out);

/* Writes the name of a choice: a digest of the device, the tables without the seed, the sources
 * of the kernels, and all candidates with the options of ICS_GPU_SPEED_OPTIONS. Compiles nothing.
 * Returns 0, or -1 if no program can be made for these options; measuring reports why. */
int ics_choice_key(const ics_choice_request *request, char key[65]);

/* Writes the path of the file of this choice. Returns 0, or -1 if there is no cache or no key. */
int ics_choice_path(const ics_choice_request *request, char *path, size_t size);

/* Returns the number of the candidate that a file remembers, or -1 if there is no such file. */
int ics_choice_read(const char *path);
/* If the file cannot be written, the next run measures again. */
void ics_choice_write(const char *path, int number);

#endif
