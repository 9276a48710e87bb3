/* For tests of the kernels that NVRTC compiles: each test has a cache and an installation in a
 * temporary folder. Every function fails the test on errors. */
#ifndef PROGRAMS_H
#define PROGRAMS_H

#include "kernels/cuda/program.h"
#include "tests/support/scratch_files.h"

/* Three kernels for sm_90, with the cache: ics_small, ics_large (400 bytes of shared memory, 400 of
 * stack), and gpu_scatter, which calls the user's header if there is one. */
extern const ics_program_options program_defaults;

/* Fixtures: an empty folder in which `cache` is the user's cache and `installed` the installation,
 * until the test ends. */
void program_set_up(void);
void program_tear_down(void);
const scratch *program_place(void);
/* The folder of the entries of this cache. */
const char *program_cache(void);

/* Whether NVRTC can be loaded. Prints a message if it cannot. */
bool program_has_nvrtc(void);

/* Creates a program: compiles it or reads it from a cache. The caller destroys it. */
ics_program *program_get(const ics_program_options *options);
/* Checks that a program cannot be created, and returns the error in `why`. */
void program_get_none(const ics_program_options *options, icestream_error *why);
/* The path of a program in the cache. */
void program_entry_path(const ics_program *program, char path[2 * SCRATCH_PATH]);
/* The number of files in a folder whose names end with this text. */
int program_count_files(const char *folder, const char *end);

void program_assert_same(const ics_program *a, const ics_program *b);
void program_assert_mentions(const char *text, const char *part);

#endif
