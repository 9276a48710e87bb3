/* `icestream merge`: joins hit files in one hit file (files.md 7). */
#ifndef ICS_COMMANDS_MERGE_MERGE_H
#define ICS_COMMANDS_MERGE_MERGE_H

#include "base/cleanup.h"
#include "pipeline/icestream.h"

#include <stdatomic.h>

typedef struct ics_merge ics_merge;

/* A merge whose outputs all have hits of the same settings. *cancel becomes true if it has to end;
 * it must outlive the result. */
ics_merge *ics_merge_create(const atomic_bool *cancel);
/* Removes the output that was begun and not committed. Accepts NULL. */
void ics_merge_destroy(ics_merge *merge);
ICS_CAN_DESTROY(ics_merge, ics_merge_destroy)

/* Begins the hit file `path`, as PATH.part, which no other process can begin then.
 * ICESTREAM_E_OUTPUT: there is such a file already, and `force` is false; ICESTREAM_E_MEMORY. */
int ics_merge_begin(ics_merge *merge, const char *path, bool force, icestream_error *error);
/* Adds the hits of a file to the output that was begun. *added false: an earlier output, which
 * ics_merge_learn() read, has them already. ICESTREAM_E_INPUT: the file is refused, and the output
 * is as before; all other errors end the merge: ICESTREAM_E_MEMORY, ICESTREAM_E_OUTPUT,
 * ICESTREAM_E_FAILED, ICESTREAM_E_INTERRUPTED, ICESTREAM_E_USAGE: the file is the output. */
int ics_merge_add(ics_merge *merge, const char *path, bool *added, icestream_error *error);
/* Reads which step files a finished output has, so that their hits are not added to another one.
 * The errors of ics_merge_add. */
int ics_merge_learn(ics_merge *merge, const char *path, icestream_error *error);
/* Writes the output, gives it its name, and says in one line what it holds. */
int ics_merge_commit(ics_merge *merge, icestream_error *error);

bool ics_merge_has_begun(const ics_merge *merge);
/* The hit files, the rows and the step files of the output that was begun. */
size_t ics_merge_files(const ics_merge *merge);
uint64_t ics_merge_rows(const ics_merge *merge);
size_t ics_merge_inputs(const ics_merge *merge);

enum {
    ICS_MERGE_INPUTS_MAX = 250000, /* step files of one output: readers accept 64 MiB of metadata */
    ICS_MERGE_ROWS_POWER = 35      /* 2^35 rows (2.2 TB), because of their checksums */
};

/* ---- the two ways to merge ------------------------------------------------------------------- */

/* Joins files, and all *.hits.npy of folders, in the hit file `output`. The first error ends the
 * merge, and there is no output then. */
int ics_merge_all(char *const *paths, size_t count, const char *output, bool force,
                  icestream_error *error);

typedef struct ics_merge_watch_options {
    const char *folder; /* whose *.hits.npy are merged as they come */
    const char *output; /* NAME.hits.npy: the outputs are NAME-000000.hits.npy and so on */
    uint64_t rows;      /* an output is committed when it has at least as many */
} ics_merge_watch_options;

/* Merges what comes, until a signal, or until a run in the folder has written its summary. Files
 * that cannot be merged are named in warnings and left out. ICESTREAM_E_INPUT: there were such
 * files; ICESTREAM_E_INTERRUPTED, ICESTREAM_E_TERMINATED: a signal came, and all hits so far are in
 * outputs. */
int ics_merge_watch(const ics_merge_watch_options *options, icestream_error *error);

#endif
