/* Compiled programs on disk.
 *
 * A folder of programs belongs to a user of this machine (ics_cache_directory) or to the
 * installation. Each entry contains a digest of its content, and a damaged entry counts as missing.
 * The file `compiler` of a folder names the compiler that wrote to the folder last. A machine
 * without a compiler needs this name to compute the keys of the entries.
 */
#ifndef ICS_KERNELS_CUDA_PROGRAM_CACHE_H
#define ICS_KERNELS_CUDA_PROGRAM_CACHE_H

#include "kernels/cuda/program.h"

/* Reads the entry of a key into program->image, bytes, is_ptx, kernels, kernel_count and key, and
 * marks the entry as used. Returns 0, or -1 if there is no undamaged entry. */
int ics_program_cache_read(const char *directory, const char key[65], ics_program *program);

/* Writes a program under its key. Another process that reads at the same time finds the whole entry
 * or no entry. Returns 0, or -1 with errno set. */
int ics_program_cache_write(const char *directory, const ics_program *program);

/* Reads the name of the compiler that filled the folder. Returns 0, or -1 if there is none. */
int ics_program_cache_read_compiler(const char *directory, char *text, size_t size);
/* Writes the name of the compiler, if it differs from the one in the folder. Returns 0, or -1 with
 * errno set. */
int ics_program_cache_write_compiler(const char *directory, const char *text);

/* Writes the path of read-only folder number `index` that may hold programs: the folder that the
 * environment variable ICESTREAM_KERNELS names, that of an installation
 * (../share/icestream/kernels, relative to the program or the shared library that has this code),
 * and that of a build (share/icestream/kernels). Returns false if there are no more. */
bool ics_program_cache_installed_directory(unsigned index, char *path, size_t size);

#endif
