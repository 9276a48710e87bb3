/* Where a worker reads the step file of a ticket: in its own folder, into which the steps of the
 * ticket are written or the file will be fetched, or in the folder that producers share. */
#ifndef ICS_PRODUCTION_QUEUE_STEPS_H
#define ICS_PRODUCTION_QUEUE_STEPS_H

#include "pipeline/production/queue/ticket.h"

/* As the members of ics_queue_claims_options. */
typedef struct ics_queue_steps_folders {
    char *folder, *files;
    char *const *allow; /* [allow_count] */
    size_t allow_count;
    bool fetches, shows_urls;
    const char *shown; /* the address of the queue, for errors */
} ics_queue_steps_folders;

typedef struct ics_queue_steps {
    char *path;      /* the caller frees it */
    bool is_own;     /* the file is in the folder of this process: the caller removes it */
    bool is_fetched; /* the file must be fetched to `path` */
    char fault[512]; /* why the step file must not be read; "": it may be */
} ics_queue_steps;

/* `number`: of the claim, for the name of the file. Errors: ICESTREAM_E_CONFIG: this run cannot get
 * at the file, and another one may; with a cause: this process cannot read a shared file.
 * ICESTREAM_E_OUTPUT with the cause: the file cannot be written. */
int ics_queue_steps_find(const ics_queue_steps_folders *folders, const ics_queue_ticket *ticket,
                         uint64_t number, ics_queue_steps *out, icestream_error *error);

#endif
