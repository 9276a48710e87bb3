/* Filling a queue: one ticket for each step file. */
#ifndef ICS_PRODUCTION_QUEUE_PUT_H
#define ICS_PRODUCTION_QUEUE_PUT_H

#include "pipeline/production/queue/address.h"

typedef struct ics_queue_put_options {
    ics_queue_login login;
    const char *configuration; /* digest that the workers' configuration must have; NULL: any */
    const char *url;           /* pattern of the URLs at which workers find the files, with {name};
                                  NULL: small files are in their tickets, larger ones are file://PATH */
    uint64_t embed_limit;      /* size of a step file (bytes) up to which it is in its ticket */
    void (*refuse)(const char *why); /* called for each file that cannot be put; NULL: nothing is */
} ics_queue_put_options;

/* What happened to the files of one call. */
typedef struct ics_queue_put_counts {
    uint64_t added, there; /* new tickets; step files of which the queue had a ticket already */
    uint64_t bytes;        /* of the step files of the new tickets */
    uint64_t refused;      /* step files that cannot be put */
} ics_queue_put_counts;

/* Puts step files and URLs of step files into the queue, in their order. A file of which the queue
 * has or had a ticket, with the same name and the same bytes, is not put again, so the call may be
 * repeated. A broker that is away is waited for, with growing pauses, for half a minute.
 *
 * Errors: ICESTREAM_E_INPUT: files cannot be read, or their names cannot be used, or the queue has
 * other files of their names, and all others were put; ICESTREAM_E_OUTPUT: the broker is away;
 * ICESTREAM_E_CONFIG, ICESTREAM_E_FAILED: it refuses. *counts are right also after an error. */
int ics_queue_put(const ics_queue_put_options *options, char *const *files, size_t count,
                  ics_queue_put_counts *counts, icestream_error *error);

#endif
