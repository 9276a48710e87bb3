/* What exists on the disk: the hit files in a sink's folder, its quarantine, and the claims of a
 * spool.
 *
 * Everything may change during a call: files that disappear are left out. Lists are JSON, for
 * reports. What cannot be read is described in `notes`, an array of texts.
 */
#ifndef ICS_PRODUCTION_TELEMETRY_SINK_FOLDER_H
#define ICS_PRODUCTION_TELEMETRY_SINK_FOLDER_H

#include "pipeline/icestream.h"

#include <jansson.h>

typedef struct ics_sink_folder {
    uint64_t hit_files, hit_bytes; /* *.hits.npy */
    uint64_t parts;                /* *.part: being written, or left by a killed process */
    uint64_t commands;             /* *.hits.npy.command: sink.command has not succeeded */
    json_t *checkpoints;           /* array of the paths of *.checkpoint */
    char **journals; /* [journal_count], paths of run.journal and of its rotated files,
                        oldest first */
    size_t journal_count;
} ics_sink_folder;

/* Looks through a sink's folder. ICESTREAM_E_INPUT: it does not exist or cannot be read;
 * ICESTREAM_E_MEMORY. */
int ics_sink_folder_look(const char *folder, ics_sink_folder *out, icestream_error *error);
void ics_sink_folder_free(ics_sink_folder *folder);

enum { ICS_REASONS_SHOWN = 10 };

/* Counts the reasons in quarantine folders. `folders`: an array of paths; some may be equal or
 * missing. Returns {"count", "newest": [{"reason_file", "time", "reason"}]} with the first lines of
 * the newest ICS_REASONS_SHOWN reasons, the newest first. NULL: out of memory. */
json_t *ics_sink_folder_look_quarantine(const json_t *folders, json_t *notes);

/* Lists the claims of a spool: {"folder", "done", "kept", "workers": [{"worker", "host", "pid",
 * "files", "heartbeat", "lease", "expired"}]}. A worker without a lease has null for host, pid,
 * heartbeat and lease, and is expired. `now`: the present time (s since 1970). NULL: out of memory.
 */
json_t *ics_sink_folder_look_spool(const char *folder, double now, json_t *notes);

#endif
