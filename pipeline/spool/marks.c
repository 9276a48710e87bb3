#include "pipeline/spool/marks.h"

#include "base/json_read.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The marks that were read or written, so that a service which scans a folder with 1e5 finished
 * files every few seconds does not read every mark again. Each takes eight bytes: a fingerprint of
 * name and identity. With 1e6 marks the probability that an unfinished file has the fingerprint of
 * a finished one is 1e-13. */
typedef struct fingerprints {
    uint64_t *slots; /* [capacity], a power of two; 0: free */
    size_t capacity, count;
} fingerprints;

struct ics_marks {
    char *folder, *part;
    fingerprints known;
};

ics_identity ics_marks_identity_of(const struct stat *about)
{
    return (ics_identity){.bytes = (uint64_t)about->st_size,
                          .inode = (uint64_t)about->st_ino,
                          .modified_ns = ics_spool_modified_ns(about)};
}

bool ics_marks_identity_same(ics_identity left, ics_identity right)
{
    return left.bytes == right.bytes && left.inode == right.inode &&
           left.modified_ns == right.modified_ns;
}

ics_marks *ics_marks_create(const char *folder, const char *part)
{
    ics_marks *marks = calloc(1, sizeof *marks);
    if (marks != NULL) {
        marks->folder = strdup(folder);
        marks->part = strdup(part);
        if (marks->folder == NULL || marks->part == NULL) {
            ics_marks_destroy(marks);
            return NULL;
        }
    }
    return marks;
}

void ics_marks_destroy(ics_marks *marks)
{
    if (marks == NULL) {
        return;
    }
    free(marks->known.slots);
    free(marks->folder);
    free(marks->part);
    free(marks);
}

/* ---- in memory ------------------------------------------------------------------------------- */

/* Every bit of the word changes every bit of the result (the last step of MurmurHash3). */
static uint64_t mix(uint64_t word)
{
    word = (word ^ word >> 33) * UINT64_C(0xff51afd7ed558ccd);
    word = (word ^ word >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return word ^ word >> 33;
}

static uint64_t fingerprint(const char *name, ics_identity identity)
{
    uint64_t result = mix(identity.bytes + 1);
    result = mix(result ^ identity.inode);
    result = mix(result ^ (uint64_t)identity.modified_ns);
    for (size_t left = strlen(name); left > 0;) {
        uint64_t word = 0;
        size_t piece = left < sizeof word ? left : sizeof word;
        memcpy(&word, name, piece);
        result = mix(result ^ word) + left;
        name += piece;
        left -= piece;
    }
    return result != 0 ? result : 1;
}

/* The slot of a fingerprint, or the free slot where it would be stored. */
static uint64_t *slot_of(const fingerprints *known, uint64_t print)
{
    size_t at = print & (known->capacity - 1);
    while (known->slots[at] != 0 && known->slots[at] != print) {
        at = (at + 1) & (known->capacity - 1);
    }
    return &known->slots[at];
}

static int make_room(fingerprints *known)
{
    if (known->capacity > 0 && known->count < known->capacity / 4 * 3) {
        return 0;
    }
    fingerprints larger = {.capacity = known->capacity > 0 ? 2 * known->capacity : 1024,
                           .count = known->count};
    larger.slots = calloc(larger.capacity, sizeof *larger.slots);
    if (larger.slots == NULL) {
        errno = ENOMEM;
        return -1;
    }
    for (size_t i = 0; i < known->capacity; ++i) {
        if (known->slots[i] != 0) {
            *slot_of(&larger, known->slots[i]) = known->slots[i];
        }
    }
    free(known->slots);
    *known = larger;
    return 0;
}

static int remember(ics_marks *marks, const char *name, ics_identity identity)
{
    fingerprints *known = &marks->known;
    if (make_room(known) != 0) {
        return -1;
    }
    uint64_t print = fingerprint(name, identity);
    uint64_t *slot = slot_of(known, print);
    known->count += *slot == 0;
    *slot = print;
    return 0;
}

static bool remembers(const ics_marks *marks, const char *name, ics_identity identity)
{
    const fingerprints *known = &marks->known;
    return known->count > 0 && *slot_of(known, fingerprint(name, identity)) != 0;
}

/* The marks are read again when they are needed; marks are seldom removed. */
void ics_marks_forget(ics_marks *marks)
{
    free(marks->known.slots);
    marks->known = (fingerprints){NULL, 0, 0};
}

/* ---- on the disk ----------------------------------------------------------------------------- */

static bool read_mark(const char *text, ics_identity *out)
{
    json_int_t bytes = 0, inode = 0, modified = 0;
    json_t *about = ics_json_read_text(text, 0, NULL);
    bool good = json_unpack(about, "{s:I, s:I, s:I}", "bytes", &bytes, "inode", &inode,
                            "modified_ns", &modified) == 0;
    json_decref(about);
    *out =
        (ics_identity){.bytes = (uint64_t)bytes, .inode = (uint64_t)inode, .modified_ns = modified};
    return good;
}

int ics_marks_has(ics_marks *marks, const char *name, ics_identity identity)
{
    if (remembers(marks, name, identity)) {
        return 1;
    }
    char text[512];
    ics_identity marked;
    if (ics_spool_file_read(ics_spool_path_join(marks->folder, name).text, text, sizeof text,
                            NULL) != 0) {
        return errno == ENOENT ? 0 : -1;
    }
    if (!read_mark(text, &marked) || !ics_marks_identity_same(marked, identity)) {
        return 0;
    }
    return remember(marks, name, identity) == 0 ? 1 : -1;
}

int ics_marks_set(ics_marks *marks, const char *name, ics_identity identity)
{
    char text[256];
    snprintf(text, sizeof text, "{\"bytes\":%lld,\"inode\":%lld,\"modified_ns\":%lld}\n",
             (long long)identity.bytes, (long long)identity.inode, (long long)identity.modified_ns);
    if (ics_spool_file_replace(marks->folder, name, marks->part, text) != 0) {
        return -1;
    }
    return remember(marks, name, identity);
}

int ics_marks_remove(ics_marks *marks, const char *name)
{
    if (unlink(ics_spool_path_join(marks->folder, name).text) != 0 && errno != ENOENT) {
        return -1;
    }
    ics_marks_forget(marks);
    return 0;
}

int ics_marks_clear(ics_marks *marks)
{
    ics_names names;
    int result = ics_spool_folder_list(marks->folder, &names);
    for (size_t i = 0; i < names.count && result == 0; ++i) {
        result = ics_marks_remove(marks, names.items[i]);
    }
    int cause = errno;
    ics_spool_names_free(&names);
    errno = cause;
    return result;
}
