/* What is really there: the hit files of a sink's folder, its quarantine, and the claims of a
 * spool.
 *
 * Everything may change while it is looked at: what is gone a moment later is not told. Lists are
 * JSON, for reports. What cannot be looked at is told in notes, an array of texts.
 */
#ifndef ICS_TELEMETRY_SINK_FOLDER_H
#define ICS_TELEMETRY_SINK_FOLDER_H

#include "pipeline/icestream.h"

#include <jansson.h>

typedef struct ics_sink_folder {
    uint64_t hit_files, hit_bytes; /* *.hits.npy */
    uint64_t parts;                /* *.part: being written, or left by a killed process */
    char **journals;               /* [journal_count], paths: run.journal and what rotation left of
                                      it, oldest first */
    size_t journal_count;
} ics_sink_folder;

/* ICESTREAM_E_INPUT: no such folder, or one that cannot be read; ICESTREAM_E_MEMORY. */
int ics_sink_folder_look(const char *folder, ics_sink_folder *out, icestream_error *error);
void ics_sink_folder_free(ics_sink_folder *folder);

enum { ICS_REASONS_SHOWN = 10 };

/* Counts the reasons of some folders, an array of paths, of which some may be the same or missing:
 * {"count", "newest": [{"reason_file", "time", "reason"}]}, the newest first, with their first
 * lines. NULL: out of memory. */
json_t *ics_sink_folder_look_quarantine(const json_t *folders, json_t *notes);

/* The claims of a spool: {"folder", "done", "kept", "workers": [{"worker", "host", "pid", "files",
 * "heartbeat", "lease", "expired"}]}. A worker without lease has null for host, pid, heartbeat and
 * lease, and is expired. `now`: s since 1970. NULL: out of memory. */
json_t *ics_sink_folder_look_spool(const char *folder, double now, json_t *notes);

#endif
