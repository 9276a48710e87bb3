/* Copies whole files of this machine that file:///FOLDER/NAME names. Programs of the user move all
 * others: source.fetch and sink.ship (program_call.h, docs/transfers.md).
 *
 * The functions wait for the disk and may be called on any thread, also on several at a time.
 * errand.h runs them next to a loop.
 */
#ifndef ICS_PRODUCTION_TRANSFER_TRANSFER_H
#define ICS_PRODUCTION_TRANSFER_TRANSFER_H

#include "pipeline/icestream.h"

#include <errno.h>
#include <stdatomic.h>

/* The cause of an error: a program that fetches a file says that there is no such file. No other
 * error has it. */
#define ICS_TRANSFER_MISSING ENODATA

typedef struct ics_transfer_request {
    const char *url;           /* ics_url_fault() finds nothing in it */
    const char *path;          /* the other file */
    bool replaces;             /* shipping replaces what is at the URL; false: this is an error */
    const atomic_bool *cancel; /* true ends the transfer soon; NULL: nothing does */
} ics_transfer_request;

/* Whether these functions can copy files from and to the URL. ICESTREAM_E_CONFIG: the text says
 * "found ..., expected ...". */
int ics_transfer_check(const char *url, icestream_error *error);

/* Copies the file of the URL. It appears under `path` when it is whole, and never before; a file
 * that has this name is replaced, and a link is not followed. ICESTREAM_E_OUTPUT with the cause,
 * and the errors of ics_transfer_check(). */
int ics_transfer_fetch(const ics_transfer_request *request, icestream_error *error);

/* Copies the file to where the URL leads, waits until it is on the disk, and reads it back. Its
 * folder must exist: a folder that is missing may be that of a disk that is not mounted. If the
 * same bytes were there before, for example because a run was killed after it shipped them, this is
 * a success. Other bytes there are an error (cause EEXIST) unless the request replaces them. Errors
 * as of ics_transfer_fetch(). */
int ics_transfer_ship(const ics_transfer_request *request, icestream_error *error);

#endif
