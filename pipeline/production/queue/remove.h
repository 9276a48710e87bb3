/* Removing tickets from a queue. */
#ifndef ICS_PRODUCTION_QUEUE_REMOVE_H
#define ICS_PRODUCTION_QUEUE_REMOVE_H

#include "pipeline/production/queue/address.h"

/* Moves the tickets with one of these names to the dead letters, also those that a worker has: its
 * hits do not count. A name may also be the number of a ticket, as 1700000000000-0. *removed: how
 * many tickets. ICESTREAM_E_INPUT: a name of which there is no ticket; the others are removed.
 * Other errors as ics_queue_link_call. */
int ics_queue_remove(const ics_queue_login *login, char *const *names, size_t count,
                     uint64_t *removed, icestream_error *error);

#endif
