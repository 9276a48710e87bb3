#include "base/memory.h"

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

/* The size of a huge page. A mapping that is not a multiple of it has ordinary pages at both ends,
 * unless it begins at a multiple. */
#define HUGE_PAGE ((size_t)2 << 20)

/* Returns the bytes of a mapping, or 0 if the number does not fit. Small arrays get whole pages. */
static size_t mapped_bytes(size_t bytes)
{
    const size_t page =
        bytes >= HUGE_PAGE ? HUGE_PAGE : (size_t)sysconf(_SC_PAGESIZE); /* a power of 2 */
    return bytes <= SIZE_MAX - 2 * HUGE_PAGE ? (bytes + page - 1) & ~(page - 1) : 0;
}

void *ics_memory_map(size_t bytes)
{
    const size_t size = mapped_bytes(bytes);
    const size_t spare = size >= HUGE_PAGE ? HUGE_PAGE : 0;
    if (size == 0) {
        return NULL;
    }
    char *memory =
        mmap(NULL, size + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return NULL;
    }
    if (spare > 0) {
        /* What lies before the first multiple, and behind the array, is given back. */
        const size_t before = (HUGE_PAGE - (uintptr_t)memory % HUGE_PAGE) % HUGE_PAGE;
        if (before > 0) {
            munmap(memory, before);
        }
        memory += before;
        if (before < spare) {
            munmap(memory + size, spare - before);
        }
        /* A kernel that refuses gives ordinary pages. */
        (void)madvise(memory, size, MADV_HUGEPAGE);
    }
    return memory;
}

void ics_memory_unmap(void *memory, size_t bytes)
{
    if (memory != NULL) {
        munmap(memory, mapped_bytes(bytes));
    }
}

void ics_memory_prefer_large(void *memory, size_t bytes)
{
    if (bytes >= 2 * HUGE_PAGE) {
        const size_t before = (HUGE_PAGE - (uintptr_t)memory % HUGE_PAGE) % HUGE_PAGE;
        (void)madvise((char *)memory + before, (bytes - before) & ~(HUGE_PAGE - 1), MADV_HUGEPAGE);
    }
}

void *ics_memory_large(size_t bytes)
{
    void *memory = malloc(bytes);
    if (memory != NULL) {
        ics_memory_prefer_large(memory, bytes);
    }
    return memory;
}

void *ics_memory_zeros(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory != NULL) {
        ics_memory_prefer_large(memory, count * size); /* calloc() has checked the product */
    }
    return memory;
}

void *ics_memory_grow(void *array, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity) {
        return array;
    }
    const size_t room = *capacity > 0 ? 2 * *capacity : 64;
    void *grown = room > SIZE_MAX / size ? NULL : realloc(array, room * size);
    *capacity = grown != NULL ? room : *capacity;
    return grown;
}
