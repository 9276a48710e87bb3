/* Compiled programs on disk.
 *
 * A folder of programs belongs to one machine's user (ics_cache_directory) or to the installation.
 * Each entry carries a digest of itself: a damaged one counts as missing. The file `compiler` of a
 * folder says which compiler filled it last, for those who have none.
 */
#ifndef ICS_KERNELS_CUDA_PROGRAM_CACHE_H
#define ICS_KERNELS_CUDA_PROGRAM_CACHE_H

#include "kernels/cuda/program.h"

/* Reads the entry of a key, and notes that it is used, into program->image, bytes, is_ptx, kernels,
 * kernel_count, key. Returns 0, or -1: there is none that is sound. */
int ics_program_cache_read(const char *directory, const char key[65], ics_program *program);

/* Writes a program under its key. Whoever reads at the same time sees the whole entry or none.
 * Returns 0, or -1 with errno set. */
int ics_program_cache_write(const char *directory, const ics_program *program);

/* The compiler that a folder was filled by. -1: none has. */
int ics_program_cache_read_compiler(const char *directory, char *text, size_t size);
/* Notes it, where it is another one than before. -1 with errno set. */
int ics_program_cache_write_compiler(const char *directory, const char *text);

/* Read-only folders that may hold programs, counted by `index`: the one that the variable
 * ICESTREAM_KERNELS names, that of an installation (../share/icestream/kernels from the
 * executable), that of a build (share/icestream/kernels). False: there are no more. */
bool ics_program_cache_installed_directory(unsigned index, char *path, size_t size);

#endif
