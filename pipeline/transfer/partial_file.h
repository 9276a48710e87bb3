/* A file that is being fetched: PATH.part, and PATH.part.etag with the server's mark of its
 * version. What was fetched stays for the next attempt if the mark is known. One thread. */
#ifndef ICS_TRANSFER_PARTIAL_FILE_H
#define ICS_TRANSFER_PARTIAL_FILE_H

#include "pipeline/transfer/http.h"

typedef struct ics_partial_file {
    const char *path;
    char *part, *mark;
    int file;                 /* PATH.part; -1: not open */
    uint64_t bytes;           /* that are in it */
    uint64_t resumed;         /* of these, bytes of earlier attempts */
    ics_digest *digest;       /* of these bytes */
    char etag[ICS_HTTP_TEXT]; /* "": the version is not known */
} ics_partial_file;

/* Opens PATH.part with what an earlier attempt has fetched. ICESTREAM_E_OUTPUT with the cause,
 * ICESTREAM_E_MEMORY. The caller closes *out, also after an error. */
int ics_partial_file_open(const char *path, ics_partial_file *out, icestream_error *error);
/* Forgets all bytes, and notes the version of those that will come. A mark that is weak (W/...) or
 * "" names no version. ICESTREAM_E_OUTPUT. */
int ics_partial_file_restart(ics_partial_file *file, const char *etag, icestream_error *error);
int ics_partial_file_append(ics_partial_file *file, const void *bytes, size_t size,
                            icestream_error *error);
/* Gives the file its name. It does not wait for the disk. */
int ics_partial_file_commit(ics_partial_file *file, icestream_error *error);
/* Removes PATH.part unless the next attempt can use it. */
void ics_partial_file_close(ics_partial_file *file);

/* Adds the bytes of an open file to a digest, from its beginning. *bytes is their number.
 * ICESTREAM_E_OUTPUT with the cause; `name` is for its text. */
int ics_partial_file_digest(int file, const char *name, ics_digest *digest, uint64_t *bytes,
                            icestream_error *error);

#endif
