/* Files of this machine, which file: names. */
#ifndef ICS_TRANSFER_LOCAL_H
#define ICS_TRANSFER_LOCAL_H

#include "pipeline/transfer/partial_file.h"

/* Copies the file of the target into `file`, from its beginning. ICESTREAM_E_OUTPUT with the cause.
 */
int ics_local_fetch(const ics_transfer_target *target, const ics_transfer_request *request,
                    ics_partial_file *file, icestream_error *error);

/* Copies an open file, of which result->sha256 and result->bytes are known, to where the
 * target leads, waits until it is on the disk, and reads it back. Its folder must exist: a folder
 * that is missing may be that of a disk that is not mounted. Errors as of ics_transfer_ship(). */
int ics_local_ship(const ics_transfer_target *target, const ics_transfer_request *request, int file,
                   ics_transfer_result *result, icestream_error *error);

#endif
