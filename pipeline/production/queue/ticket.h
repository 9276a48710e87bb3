/* A ticket: what a queue says about one step file. It comes from outside, so everything in it is
 * checked before it is used. */
#ifndef ICS_PRODUCTION_QUEUE_TICKET_H
#define ICS_PRODUCTION_QUEUE_TICKET_H

#include "pipeline/photons/files/format/parts_digest.h"

#include <hiredis/hiredis.h>

enum {
    ICS_TICKET_NAME_MAX = 239, /* bytes */
    ICS_TICKET_ID_MAX = 48,    /* bytes of the number that the broker gives it */
    ICS_TICKET_PAIRS = 16      /* of names and values, at most */
};

/* The texts belong to the answer of the broker. */
typedef struct ics_queue_ticket {
    char id[ICS_TICKET_ID_MAX];
    const char *name;          /* base name of the step file; NULL: the ticket has none */
    const char *sha256;        /* of the step file, of a large one also in parts; NULL: unknown */
    const char *configuration; /* digest of the configuration; NULL: any */
    const char *url;           /* where the step file is; NULL: it is in the ticket */
    const void *steps;         /* [size]; NULL: it is at `url` */
    size_t size;
    uint64_t bytes; /* size of the step file; 0: unknown */
} ics_queue_ticket;

/* Why a text cannot be the name of a step file from outside, as "found ..., expected ..."; "": it
 * can. A name may not lead out of its folder, hide itself, or write to a terminal. */
const char *ics_queue_name_fault(const char *name, size_t size, char why[256]);

/* Reads the number of a ticket and its names and values (an array). `fault` gets why the ticket is
 * malformed, or "". The steps are compared with their SHA-256. ICESTREAM_E_MEMORY. */
int ics_queue_ticket_read(const redisReply *id, const redisReply *pairs, ics_queue_ticket *out,
                          char fault[512], icestream_error *error);

#endif
