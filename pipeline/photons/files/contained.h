/* Work that may crash, done in a child process: some libraries do not check the files that they
 * read.
 */
#ifndef ICS_PHOTONS_FILES_CONTAINED_H
#define ICS_PHOTONS_FILES_CONTAINED_H

#include "pipeline/icestream.h"

/* Calls work(user, error) in a child process, waits for its end, and returns its status and error.
 * Changes of memory are lost; files that `work` writes stay. ICESTREAM_E_INPUT, naming `file`: the
 * child ended in another way, for example it crashed; ICESTREAM_E_FAILED: no child could be
 * started. Other threads of this process must not hold locks that `work` needs. */
int ics_contained_check(int (*work)(void *user, icestream_error *error), void *user,
                        const char *file, icestream_error *error);

#endif
