#include "tests/support/scratch_files.h"

#include "tests/support/test_main.h"

#include <check.h>
#include <ftw.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

scratch scratch_create(void)
{
    scratch place;
    const char *base = getenv("TMPDIR");
    snprintf(place.folder, sizeof place.folder, "%s/icestream-XXXXXX",
             base != NULL ? base : "/tmp");
    ck_assert_msg(mkdtemp(place.folder) != NULL, "no folder for temporary files");
    return place;
}

static int remove_entry(const char *path, const struct stat *about, int type, struct FTW *where)
{
    (void)about;
    (void)type;
    (void)where;
    return remove(path);
}

bool scratch_create_elsewhere(const scratch *here, scratch *out)
{
    struct stat about, other;
    *out = (scratch){.folder = "/dev/shm/icestream-XXXXXX"};
    if (stat(here->folder, &about) != 0 || stat("/dev/shm", &other) != 0 ||
        about.st_dev == other.st_dev || mkdtemp(out->folder) == NULL) {
        test_skip("no other file system in /dev/shm");
        return false;
    }
    return true;
}

void scratch_remove(const scratch *place)
{
    nftw(place->folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void set_file_limit(rlim_t size)
{
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = size < limit.rlim_max ? size : limit.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

void scratch_limit_files(size_t size)
{
    signal(SIGXFSZ, SIG_IGN);
    set_file_limit((rlim_t)size);
}

void scratch_unlimit_files(void)
{
    set_file_limit(RLIM_INFINITY);
}

const char *scratch_path(const scratch *place, const char *name, char path[SCRATCH_PATH])
{
    snprintf(path, SCRATCH_PATH, "%s/%s", place->folder, name);
    return path;
}

bool scratch_exists(const scratch *place, const char *name)
{
    char path[SCRATCH_PATH];
    struct stat about;
    return lstat(scratch_path(place, name, path), &about) == 0;
}

void scratch_write(const char *path, const void *bytes, size_t size)
{
    /* Always a new file: if a file is truncated and written again, ext4 writes it to the disk at
     * once, and tests that write thousands of files would wait for that. */
    (void)unlink(path);
    FILE *file = fopen(path, "wb");
    ck_assert_msg(file != NULL, "cannot create %s", path);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

unsigned char *scratch_read(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "cannot open %s", path);
    ck_assert_int_eq(fseek(file, 0, SEEK_END), 0);
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(*size + 1);
    ck_assert_ptr_nonnull(bytes);
    ck_assert_uint_eq(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

/* The Python of the distribution: the project promises to work with its NumPy. */
static const char python[] = "/usr/bin/python3";

int scratch_python(const char *program, const char *first, const char *second)
{
    fflush(NULL);
    char *const words[] = {(char *)python,  "-W",          "ignore",       "-c",
                           (char *)program, (char *)first, (char *)second, NULL};
    /* No fork(): threads call this function, and what the thread sanitizer does in a child that is
     * forked from one of many threads may wait for ever. */
    pid_t child = 0;
    if (posix_spawn(&child, python, NULL, NULL, words, environ) != 0) {
        return 127;
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

FILE *scratch_full_disk(void)
{
    FILE *full = fopen("/dev/full", "w");
    ck_assert_ptr_nonnull(full);
    setvbuf(full, NULL, _IONBF, 0);
    return full;
}

bool scratch_has_numpy(void)
{
    bool there = scratch_python("import sys\n"
                                "try:\n"
                                "    import numpy\n"
                                "except ImportError:\n"
                                "    sys.exit(9)\n",
                                NULL, NULL) == 0;
    if (!there) {
        test_skip("no NumPy for %s", python);
    }
    return there;
}
