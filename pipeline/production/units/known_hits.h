/* The hit files of a folder that have the hits of several step files, and which step files these
 * are. `icestream merge` makes such merged files, and versions before 0.3.0 did with sink.rotate;
 * their metadata list the digests of the step files. Any thread: the functions lock. */
#ifndef ICS_PRODUCTION_UNITS_KNOWN_HITS_H
#define ICS_PRODUCTION_UNITS_KNOWN_HITS_H

#include "pipeline/photons/provenance/origin.h"

#include <stdatomic.h>

typedef struct ics_known_hits ics_known_hits;

/* The names of merged files that runs made before version 0.3.0. */
#define ICS_KNOWN_HITS_OF_RUNS "run-*-??????.hits.npy"

/* Only files whose names match the pattern (fnmatch), and that were made with the settings of
 * `origin` count. `stop` ends the reading of a merged file (ICESTREAM_E_INTERRUPTED) and must live
 * longer than the result. ICESTREAM_E_MEMORY. */
int ics_known_hits_create(const char *folder, const char *pattern, const ics_origin *origin,
                          const atomic_bool *stop, ics_known_hits **out, icestream_error *error);
/* Accepts NULL. */
void ics_known_hits_destroy(ics_known_hits *known);

/* Searches the folder. *any: it has merged files, sound or not. The errors of
 * ics_known_hits_find. */
int ics_known_hits_look(ics_known_hits *known, bool *any, icestream_error *error);

/* Finds a sound merged file that has the hits of the step file with this digest. *merged is for the
 * caller to free; NULL: there is none. The folder is searched at the first call, and with `again`
 * for merged files that have come since. Before a merged file is returned for the first time, all
 * of it is read and its name is synced to the disk. ICESTREAM_E_MEMORY, ICESTREAM_E_FAILED,
 * ICESTREAM_E_INTERRUPTED; ICESTREAM_E_OUTPUT: folder or merged file cannot be read, the cause says
 * why.
 */
int ics_known_hits_find(ics_known_hits *known, const char *digest, bool again, char **merged,
                        icestream_error *error);

/* Gives each merged file with damaged content once, after ics_known_hits_find has found it: its
 * path and the fault, both for the caller to free. False: there is none. Its hits do not count, so
 * they are computed again. */
bool ics_known_hits_next_damaged(ics_known_hits *known, char **merged, char **why);

/* Receives the path of a merged file. Returns 0, or a status that ends the call. */
typedef int (*ics_merged_receiver)(void *user, const char *path, icestream_error *error);

/* Gives the paths of all merged files with these settings to the receiver, sound or not. The errors
 * of ics_known_hits_find, or what the receiver returned. */
int ics_known_hits_each(ics_known_hits *known, ics_merged_receiver receive, void *user,
                        icestream_error *error);

#endif
