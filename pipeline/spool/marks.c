#include "pipeline/spool/marks.h"

#include <errno.h>
#include <jansson.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A mark that was read or written: folders with 1e5 files that are done are looked through again
 * and again, and only the files themselves may have changed. */
typedef struct known_mark {
    is_identity identity;
    char name[];
} known_mark;

struct is_marks {
    char *folder, *part;
    void *known; /* tree of known_mark by name */
};

is_identity is_identity_of(const struct stat *about)
{
    return (is_identity){.bytes = (uint64_t)about->st_size,
                         .inode = (uint64_t)about->st_ino,
                         .modified_ns = is_modified_ns(about)};
}

bool is_identity_same(is_identity left, is_identity right)
{
    return left.bytes == right.bytes && left.inode == right.inode &&
           left.modified_ns == right.modified_ns;
}

is_marks *is_marks_create(const char *folder, const char *part)
{
    is_marks *marks = calloc(1, sizeof *marks);
    if (marks != NULL) {
        marks->folder = strdup(folder);
        marks->part = strdup(part);
        if (marks->folder == NULL || marks->part == NULL) {
            is_marks_destroy(marks);
            return NULL;
        }
    }
    return marks;
}

void is_marks_destroy(is_marks *marks)
{
    if (marks == NULL) {
        return;
    }
    tdestroy(marks->known, free);
    free(marks->folder);
    free(marks->part);
    free(marks);
}

/* ---- what is remembered ---------------------------------------------------------------------- */

static int compare_marks(const void *left, const void *right)
{
    return strcmp(((const known_mark *)left)->name, ((const known_mark *)right)->name);
}

static known_mark *new_mark(const char *name, is_identity identity)
{
    size_t size = strlen(name) + 1;
    known_mark *mark = malloc(sizeof *mark + size);
    if (mark != NULL) {
        mark->identity = identity;
        memcpy(mark->name, name, size);
    }
    return mark;
}

static int remember(is_marks *marks, const char *name, is_identity identity)
{
    known_mark *mark = new_mark(name, identity);
    known_mark **node = mark != NULL ? tsearch(mark, &marks->known, compare_marks) : NULL;
    if (node == NULL) {
        free(mark);
        errno = ENOMEM;
        return -1;
    }
    if (*node != mark) {
        (*node)->identity = identity;
        free(mark);
    }
    return 0;
}

/* 1, 0, or -1 where there is no memory to look. */
static int remembers(const is_marks *marks, const char *name, is_identity identity)
{
    known_mark *key = new_mark(name, identity);
    if (key == NULL) {
        return -1;
    }
    known_mark *const *node = tfind(key, &marks->known, compare_marks);
    int result = node != NULL && is_identity_same((*node)->identity, identity);
    free(key);
    return result;
}

static int forget(is_marks *marks, const char *name)
{
    known_mark *key = new_mark(name, (is_identity){0});
    if (key == NULL) {
        return -1;
    }
    known_mark *const *node = tfind(key, &marks->known, compare_marks);
    if (node != NULL) {
        known_mark *mark = *node;
        tdelete(key, &marks->known, compare_marks);
        free(mark);
    }
    free(key);
    return 0;
}

/* ---- what is on the medium ------------------------------------------------------------------- */

static bool read_mark(const char *text, is_identity *out)
{
    json_int_t bytes = 0, inode = 0, modified = 0;
    json_t *about = json_loads(text, 0, NULL);
    bool good = json_unpack(about, "{s:I, s:I, s:I}", "bytes", &bytes, "inode", &inode,
                            "modified_ns", &modified) == 0;
    json_decref(about);
    *out =
        (is_identity){.bytes = (uint64_t)bytes, .inode = (uint64_t)inode, .modified_ns = modified};
    return good;
}

int is_marks_has(is_marks *marks, const char *name, is_identity identity)
{
    int known = remembers(marks, name, identity);
    if (known != 0) {
        return known;
    }
    char text[512];
    is_identity marked;
    if (is_file_read(is_path_join(marks->folder, name).text, text, sizeof text, NULL) != 0) {
        return errno == ENOENT ? 0 : -1;
    }
    if (!read_mark(text, &marked) || !is_identity_same(marked, identity)) {
        return 0;
    }
    return remember(marks, name, identity) == 0 ? 1 : -1;
}

int is_marks_set(is_marks *marks, const char *name, is_identity identity)
{
    char text[256];
    snprintf(text, sizeof text, "{\"bytes\":%lld,\"inode\":%lld,\"modified_ns\":%lld}\n",
             (long long)identity.bytes, (long long)identity.inode, (long long)identity.modified_ns);
    if (is_file_replace(marks->folder, name, marks->part, text) != 0) {
        return -1;
    }
    return remember(marks, name, identity);
}

int is_marks_remove(is_marks *marks, const char *name)
{
    if (unlink(is_path_join(marks->folder, name).text) != 0 && errno != ENOENT) {
        return -1;
    }
    return forget(marks, name);
}

int is_marks_clear(is_marks *marks)
{
    is_names names;
    int result = is_folder_list(marks->folder, &names);
    for (size_t i = 0; i < names.count && result == 0; ++i) {
        result = is_marks_remove(marks, names.items[i]);
    }
    int cause = errno;
    is_names_free(&names);
    errno = cause;
    return result;
}
