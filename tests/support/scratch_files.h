/* For tests of files: a temporary folder, reading and writing of whole files, and Python with
 * NumPy. */
#ifndef SCRATCH_FILES_H
#define SCRATCH_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { SCRATCH_PATH = 512 };

typedef struct scratch {
    char folder[SCRATCH_PATH / 2];
} scratch;

/* A new empty folder in the system's folder for temporary files. Fails the test on errors. */
scratch scratch_create(void);
/* A new empty folder on another file system than `here`. Returns false, after a message, if there
 * is none in /dev/shm. */
bool scratch_create_elsewhere(const scratch *here, scratch *out);
/* Removes the folder and everything in it. */
void scratch_remove(const scratch *place);
/* Limits the size (B) of all files that this process writes, which acts like a full disk: a write
 * beyond the limit fails with EFBIG. */
void scratch_limit_files(size_t size);
/* Removes the limit. */
void scratch_unlimit_files(void);

/* The path of `name` in the folder. */
const char *scratch_path(const scratch *place, const char *name, char path[SCRATCH_PATH]);
/* Whether something with this name exists in the folder. */
bool scratch_exists(const scratch *place, const char *name);

/* Writes or reads a whole file; fails the test on errors. The caller frees what was read. */
void scratch_write(const char *path, const void *bytes, size_t size);
unsigned char *scratch_read(const char *path, size_t *size);

/* Opens a stream that behaves like a file on a full disk: every write fails. The caller closes it.
 * Fails the test on errors. */
FILE *scratch_full_disk(void);

/* Whether the system's Python has NumPy. Prints a message if it does not. */
bool scratch_has_numpy(void);
/* Runs a Python program with up to two arguments (sys.argv[1], [2]) and returns its exit status. */
int scratch_python(const char *program, const char *first, const char *second);

#endif
