/* Keeps the cache folder within its limits. Other processes may write, read and prune the folder at
 * the same time: a file that they have open stays readable for them, and they make a removed entry
 * again. */
#include "kernels/cache/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    KEY_DIGITS = 64,
    NAME_SIZE = KEY_DIGITS + 16, /* a key and the longest of the endings */
    DAY = 24 * 60 * 60           /* s; longer than any process works on one entry */
};

/* An entry in the folder. */
typedef struct entry {
    char name[NAME_SIZE];
    struct timespec used;
    uint64_t bytes;
} entry;

typedef struct entries {
    entry *items;
    size_t count, capacity;
} entries;

typedef enum file_kind {
    KIND_FOREIGN, /* never removed */
    KIND_ENTRY,
    KIND_PART,  /* an incomplete entry: a process writes it, or was killed while it wrote it */
    KIND_FOLDER /* a folder in which an entry is made */
} file_kind;

/* The name of an entry is a key and an ending. A file with another name that begins with a key and
 * a dot is an incomplete entry. */
static file_kind kind_of(const char *name)
{
    static const char *const endings[] = {".kernels", ".choice", ".so"};
    if (strncmp(name, "build-", 6) == 0 && strlen(name) == 12) {
        return KIND_FOLDER;
    }
    if (strncmp(name, "compiler.", 9) == 0) {
        return KIND_PART;
    }
    if (strspn(name, "0123456789abcdef") != KEY_DIGITS || name[KEY_DIGITS] != '.') {
        return KIND_FOREIGN;
    }
    for (size_t i = 0; i < sizeof endings / sizeof *endings; ++i) {
        if (strcmp(name + KEY_DIGITS, endings[i]) == 0) {
            return KIND_ENTRY;
        }
    }
    return KIND_PART;
}

/* ---- removing -------------------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *level)
{
    (void)status;
    (void)type;
    (void)level;
    (void)remove(path); /* if this fails, the next process tries again */
    return 0;
}

void ics_cache_remove_folder(const char *path)
{
    nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Removes an incomplete entry or a folder, if it is older than a day: a killed process left it. */
static void remove_leftover(const char *directory, int folder, const char *name, file_kind kind,
                            const struct stat *status)
{
    if (time(NULL) - status->st_mtime < DAY) {
        return;
    }
    char path[PATH_MAX];
    if (kind == KIND_PART && S_ISREG(status->st_mode)) {
        unlinkat(folder, name, 0);
    } else if (kind == KIND_FOLDER && S_ISDIR(status->st_mode) &&
               (size_t)snprintf(path, sizeof path, "%s/%s", directory, name) < sizeof path) {
        ics_cache_remove_folder(path);
    }
}

/* ---- entries --------------------------------------------------------------------------------- */

static bool add_entry(entries *all, const char *name, const struct stat *status)
{
    if (all->count == all->capacity) {
        const size_t capacity = all->capacity ? 2 * all->capacity : 256;
        entry *items = reallocarray(all->items, capacity, sizeof *items);
        if (items == NULL) {
            return false;
        }
        all->items = items;
        all->capacity = capacity;
    }
    const size_t length = strlen(name);
    entry *added = &all->items[all->count];
    if (length >= sizeof added->name) {
        return true; /* kind_of() knows no such entries */
    }
    memcpy(added->name, name, length + 1);
    ++all->count;
    added->used = status->st_atim;
    added->bytes = (uint64_t)status->st_size;
    return true;
}

/* Lists the entries, and removes what killed processes left. Returns false if memory is short. */
static bool look_through(DIR *stream, const char *directory, entries *all)
{
    const int folder = dirfd(stream);
    bool good = true;
    for (const struct dirent *found; good && (found = readdir(stream)) != NULL;) {
        const file_kind kind = kind_of(found->d_name);
        struct stat status;
        if (kind == KIND_FOREIGN ||
            fstatat(folder, found->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
            continue;
        }
        if (kind != KIND_ENTRY) {
            remove_leftover(directory, folder, found->d_name, kind, &status);
        } else if (S_ISREG(status.st_mode)) {
            good = add_entry(all, found->d_name, &status);
        }
    }
    return good;
}

/* Compares for the order: last used first. For equal times the names decide, so that all processes
 * have the same order. */
static int compare_use(const void *left, const void *right)
{
    const entry *a = left, *b = right;
    if (a->used.tv_sec != b->used.tv_sec) {
        return a->used.tv_sec > b->used.tv_sec ? -1 : 1;
    }
    if (a->used.tv_nsec != b->used.tv_nsec) {
        return a->used.tv_nsec > b->used.tv_nsec ? -1 : 1;
    }
    return strcmp(a->name, b->name);
}

/* ---- together -------------------------------------------------------------------------------- */

void ics_cache_used(const char *path)
{
    const struct timespec times[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_OMIT}};
    (void)utimensat(AT_FDCWD, path, times, 0);
}

void ics_cache_prune(const char *directory)
{
    DIR *stream = opendir(directory);
    if (stream == NULL) {
        return;
    }
    entries all = {0};
    if (look_through(stream, directory, &all) && all.count > 0) {
        qsort(all.items, all.count, sizeof *all.items, compare_use);
        uint64_t bytes = 0;
        for (size_t i = 0; i < all.count; ++i) {
            bytes += all.items[i].bytes;
            if (i >= ICS_CACHE_FILES || bytes > (uint64_t)ICS_CACHE_MEBIBYTES << 20) {
                unlinkat(dirfd(stream), all.items[i].name, 0);
            }
        }
    }
    free(all.items);
    closedir(stream);
}
