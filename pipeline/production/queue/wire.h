/* The bytes between a worker and its broker: a socket, through TLS where the address says so. */
#ifndef ICS_PRODUCTION_QUEUE_WIRE_H
#define ICS_PRODUCTION_QUEUE_WIRE_H

#include "base/cleanup.h"
#include "pipeline/production/queue/address.h"

#include <hiredis/hiredis.h>
#include <stdatomic.h>

typedef struct ics_queue_wire ics_queue_wire;

/* How long a call waits for the broker. */
typedef struct ics_queue_patience {
    double seconds;                   /* for the next bytes; four times for a whole answer */
    const atomic_bool *stop, *cancel; /* as in ics_queue_link_hurry */
} ics_queue_patience;

/* Whether the process wants to end. */
bool ics_queue_patience_is_short(const ics_queue_patience *patience);

/* Connects, and checks the certificate of the broker. `why` gets the reason of a failure for
 * people. NULL: it failed; *refused: the broker is there, and its certificate is not good.
 * `patience` must outlive the wire. */
ics_queue_wire *ics_queue_wire_open(const ics_queue_address *address, const char *ca,
                                    const ics_queue_patience *patience, bool *refused,
                                    char why[256]);
/* Accepts NULL. */
void ics_queue_wire_close(ics_queue_wire *wire);
ICS_CAN_DESTROY(ics_queue_wire, ics_queue_wire_close)

/* Sends a command, as bytes of the protocol, and waits for its answer, which the caller frees.
 * NULL: the connection is broken and must be closed; `why` says how. */
redisReply *ics_queue_wire_call(ics_queue_wire *wire, const char *bytes, size_t size,
                                char why[256]);

#endif
