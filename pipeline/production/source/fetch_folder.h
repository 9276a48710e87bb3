/* The folder for step files that a run has fetched: .fetched-WRITER, which only its user can enter,
 * and which the run removes at its end. A run also removes those of runs that were killed. */
#ifndef ICS_PRODUCTION_SOURCE_FETCH_FOLDER_H
#define ICS_PRODUCTION_SOURCE_FETCH_FOLDER_H

#include "pipeline/icestream.h"

typedef struct ics_fetch_folder {
    char *path; /* NULL: there is none */
    int lock;   /* locks the folder as long as the run lives */
} ics_fetch_folder;

/* Makes the folder in `parent`, which is made if it is missing. `writer` is eight digits that no
 * other living run has. ICESTREAM_E_OUTPUT with the cause. The caller closes *out. */
int ics_fetch_folder_open(const char *parent, const char *writer, ics_fetch_folder *out,
                          icestream_error *error);
/* Removes the folder with its files. */
void ics_fetch_folder_close(ics_fetch_folder *folder);

#endif
