#include "pipeline/production/spool/marks.h"

#include "base/json_read.h"
#include "base/new.h"

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
    ics_marks *marks = ICS_NEW(ics_marks);
    marks->folder = ics_new_copy(folder);
    marks->part = ics_new_copy(part);
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

static void make_room(fingerprints *known)
{
    if (known->capacity > 0 && known->count < known->capacity / 4 * 3) {
        return;
    }
    fingerprints larger = {.capacity = known->capacity > 0 ? 2 * known->capacity : 1024,
                           .count = known->count};
    larger.slots = ICS_NEW_ARRAY(uint64_t, larger.capacity);
    for (size_t i = 0; i < known->capacity; ++i) {
        if (known->slots[i] != 0) {
            *slot_of(&larger, known->slots[i]) = known->slots[i];
        }
    }
    free(known->slots);
    *known = larger;
}

static void remember(ics_marks *marks, const char *name, ics_identity identity)
{
    fingerprints *known = &marks->known;
    make_room(known);
    uint64_t print = fingerprint(name, identity);
    uint64_t *slot = slot_of(known, print);
    known->count += *slot == 0;
    *slot = print;
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
    json_auto_t *about = ics_json_read_text(text, 0, NULL);
    bool good = json_unpack(about, "{s:I, s:I, s:I}", "bytes", &bytes, "inode", &inode,
                            "modified_ns", &modified) == 0;
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
    remember(marks, name, identity);
    return 1;
}

int ics_marks_set(ics_marks *marks, const char *name, ics_identity identity)
{
    char text[256];
    snprintf(text, sizeof text, "{\"bytes\":%lld,\"inode\":%lld,\"modified_ns\":%lld}\n",
             (long long)identity.bytes, (long long)identity.inode, (long long)identity.modified_ns);
    if (ics_spool_file_replace(marks->folder, name, marks->part, text) != 0) {
        return -1;
    }
    remember(marks, name, identity);
    return 0;
}

int ics_marks_clear(ics_marks *marks)
{
    ICS_FREES_NAMES ics_names names = {0};
    int result = ics_spool_folder_list(marks->folder, &names);
    for (size_t i = 0; i < names.count && result == 0; ++i) {
        result = unlink(ics_spool_path_join(marks->folder, names.items[i]).text);
        result = result != 0 && errno == ENOENT ? 0 : result;
    }
    ics_marks_forget(marks);
    return result;
}
