/* Which step files have their hits in a volume already (sink.rotate): looked up by the digest of
 * the step file in the metadata of the volumes of a folder. Any thread, one at a time inside. */
#ifndef ICS_UNITS_KNOWN_HITS_H
#define ICS_UNITS_KNOWN_HITS_H

#include "pipeline/units/origin.h"

#include <stdatomic.h>

typedef struct ics_known_hits ics_known_hits;

/* Volumes count that were made by the settings of `origin`. `stop` ends the reading of a volume
 * (ICESTREAM_E_INTERRUPTED) and must outlive this. ICESTREAM_E_MEMORY. */
int ics_known_hits_create(const char *folder, const ics_origin *origin, const atomic_bool *stop,
                          ics_known_hits **out, icestream_error *error);
/* Accepts NULL. */
void ics_known_hits_destroy(ics_known_hits *known);

/* The sound volume that has the hits of the step file with this digest, for the caller to free;
 * *volume NULL: there is none. The folder is looked through at the first call, and with `again` for
 * volumes that have come since. Before a volume is told of for the first time all of it is read and
 * its name is put on the medium. ICESTREAM_E_MEMORY, ICESTREAM_E_FAILED, ICESTREAM_E_INTERRUPTED;
 * ICESTREAM_E_OUTPUT: folder or volume cannot be read, the cause says why. */
int ics_known_hits_find(ics_known_hits *known, const char *digest, bool again, char **volume,
                        icestream_error *error);

/* Takes the path of a volume; 0, or a status that ends it. */
typedef int (*ics_volume_receiver)(void *user, const char *path, icestream_error *error);

/* Tells of all volumes with these settings, sound or not. Errors as above. */
int ics_known_hits_each(ics_known_hits *known, ics_volume_receiver receive, void *user,
                        icestream_error *error);

#endif
