#include "base/memory.h"

#include "base/error.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Reads the number behind a word at the beginning of a line; word "": the first number of the file.
 * Returns false if there is none. */
static bool read_number(const char *path, const char *word, double *out)
{
    char line[256];
    bool found = false;
    FILE *file = fopen(path, "re");
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        char *end = NULL;
        const size_t length = strlen(word);
        if (strncmp(line, word, length) == 0) {
            *out = strtod(line + length, &end);
            found = end != line + length;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return found;
}

static bool read_group(const char *folder, const char *name, const char *word, double *out)
{
    char path[4200];
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/%s", folder, name);
    return read_number(path, word, out);
}

/* The memory (bytes) that the control group of this process has left. What it uses as a cache for
 * files does not count, because the kernel takes that back. */
static bool find_group(double *out)
{
    char line[4096] = "";
    double limit, used;
    FILE *file = fopen("/proc/self/cgroup", "re");
    bool found = false;
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        found = strncmp(line, "0::", 3) == 0;
    }
    if (file != NULL) {
        fclose(file);
    }
    line[strcspn(line, "\n")] = '\0';
    /* In a container the own group is the root that is seen there. */
    const char *const folders[] = {found ? line + 3 : "", ""};
    for (int i = 0; i < 2; ++i) {
        if (read_group(folders[i], "memory.max", "", &limit) &&
            read_group(folders[i], "memory.stat", "anon ", &used)) {
            *out = limit - used;
            return true;
        }
    }
    return false;
}

/* The address space (bytes) that this process may still take. */
static bool find_space(double *out)
{
    struct rlimit limit;
    double pages;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
        !read_number("/proc/self/statm", "", &pages)) {
        return false;
    }
    *out = (double)limit.rlim_cur - pages * (double)sysconf(_SC_PAGESIZE);
    return true;
}

static int refuse(const char *what, double wanted, const char *limit, double left,
                  icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_MEMORY, "%s %.3g GB, but %s %.3g GB", what,
                         1e-9 * wanted, limit, left > 0 ? 1e-9 * left : 0.0);
}

int ics_memory_check(const char *what, double bytes, double reserved, icestream_error *error)
{
    double left;
    if (find_space(&left) && bytes + reserved > left) {
        return refuse(what, bytes + reserved, "the address space (ulimit -v) has room for", left,
                      error);
    }
    if (find_group(&left) && bytes > left) {
        return refuse(what, bytes, "the control group of this process has", left, error);
    }
    if (read_number("/proc/meminfo", "MemAvailable:", &left) && bytes > 1024 * left) {
        return refuse(what, bytes, "the machine has", 1024 * left, error);
    }
    return ICESTREAM_OK;
}
