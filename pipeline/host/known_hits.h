/* Which step files have their hits in a volume already (sink.rotate): looked up by the digest of
 * the step file in the metadata of the volumes of a folder. Any thread, one at a time inside. */
#ifndef IS_KNOWN_HITS_H
#define IS_KNOWN_HITS_H

#include "pipeline/host/origin.h"

#include <stdatomic.h>

typedef struct is_known_hits is_known_hits;

/* Volumes count that were made by the settings of `origin`. `stop` ends the reading of a volume
 * (IS_E_INTERRUPTED) and must outlive this. IS_E_MEMORY. */
int is_known_hits_create(const char *folder, const is_run_origin *origin, const atomic_bool *stop,
                         is_known_hits **out, is_error *error);
/* Accepts NULL. */
void is_known_hits_destroy(is_known_hits *known);

/* The sound volume that has the hits of the step file with this digest, for the caller to free;
 * *volume NULL: there is none. The folder is looked through at the first call, and with `again` for
 * volumes that have come since. Before a volume is told of for the first time all of it is read and
 * its name is put on the medium. IS_E_MEMORY, IS_E_FAILED, IS_E_INTERRUPTED; IS_E_OUTPUT: folder or
 * volume cannot be read, the cause says why. */
int is_known_hits_find(is_known_hits *known, const char *digest, bool again, char **volume,
                       is_error *error);

/* Takes the path of a volume; 0, or a status that ends it. */
typedef int (*is_volume_receiver)(void *user, const char *path, is_error *error);

/* Tells of all volumes with these settings, sound or not. Errors as above. */
int is_known_hits_each(is_known_hits *known, is_volume_receiver receive, void *user,
                       is_error *error);

#endif
