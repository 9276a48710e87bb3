/* First-in-first-out queues whose links are members of the queued structures.
 *
 * The queues are those of <sys/queue.h>: use STAILQ_HEAD, STAILQ_ENTRY, STAILQ_INIT,
 * STAILQ_INSERT_TAIL, STAILQ_INSERT_HEAD, STAILQ_FIRST, STAILQ_NEXT, STAILQ_FOREACH, STAILQ_EMPTY
 * and STAILQ_CONCAT. A queue allocates nothing and locks nothing: memory and locks are the
 * caller's. A structure can be in one queue per link at a time.
 */
#ifndef ICS_BASE_QUEUE_H
#define ICS_BASE_QUEUE_H

#include <stddef.h>
#include <sys/queue.h>

/* Removes the first structure of a STAILQ and returns it; NULL if the queue is empty. `link` is the
 * name of the member declared with STAILQ_ENTRY. */
#define ICS_QUEUE_TAKE(queue, link)                                                                \
    ({                                                                                             \
        __typeof__(STAILQ_FIRST(queue)) ics_queue_taken = STAILQ_FIRST(queue);                     \
        if (ics_queue_taken != NULL) {                                                             \
            STAILQ_REMOVE_HEAD((queue), link);                                                     \
        }                                                                                          \
        ics_queue_taken;                                                                           \
    })

#endif
