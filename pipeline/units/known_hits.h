/* The hit files of a folder that have the hits of several step files, and which step files these
 * are. `icestream merge` and sink.rotate make such files, which are called volumes here; their
 * metadata list the digests of the step files. Any thread: the functions lock. */
#ifndef ICS_UNITS_KNOWN_HITS_H
#define ICS_UNITS_KNOWN_HITS_H

#include "pipeline/units/origin.h"

#include <stdatomic.h>

typedef struct ics_known_hits ics_known_hits;

/* Only volumes that were made with the settings of `origin` count. `stop` ends the reading of a
 * volume (ICESTREAM_E_INTERRUPTED) and must live longer than the result. ICESTREAM_E_MEMORY. */
int ics_known_hits_create(const char *folder, const ics_origin *origin, const atomic_bool *stop,
                          ics_known_hits **out, icestream_error *error);
/* Accepts NULL. */
void ics_known_hits_destroy(ics_known_hits *known);

/* Finds a sound volume that has the hits of the step file with this digest. *volume is for the
 * caller to free; NULL: there is none. The folder is searched at the first call, and with `again`
 * for volumes that have come since. Before a volume is returned for the first time, all of it is
 * read and its name is synced to the disk. ICESTREAM_E_MEMORY, ICESTREAM_E_FAILED,
 * ICESTREAM_E_INTERRUPTED; ICESTREAM_E_OUTPUT: folder or volume cannot be read, the cause says why.
 */
int ics_known_hits_find(ics_known_hits *known, const char *digest, bool again, char **volume,
                        icestream_error *error);

/* Gives each volume with damaged content once, after ics_known_hits_find has found it: its path and
 * the fault, both for the caller to free. *volume NULL: there is none. Its hits do not count, so
 * they are computed again. ICESTREAM_E_MEMORY. */
int ics_known_hits_next_damaged(ics_known_hits *known, char **volume, char **why,
                                icestream_error *error);

/* Receives the path of a volume. Returns 0, or a status that ends the call. */
typedef int (*ics_volume_receiver)(void *user, const char *path, icestream_error *error);

/* Gives the paths of all volumes with these settings to the receiver, sound or not. The errors of
 * ics_known_hits_find, or what the receiver returned. */
int ics_known_hits_each(ics_known_hits *known, ics_volume_receiver receive, void *user,
                        icestream_error *error);

#endif
