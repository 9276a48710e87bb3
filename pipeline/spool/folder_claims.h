/* Claims on files in a folder, local or on a network: nothing but atomic renames, links, mkdir and
 * stat decide who has what. docs/spool.md describes the layout and what happens in each crash.
 */
#ifndef ICS_SPOOL_FOLDER_CLAIMS_H
#define ICS_SPOOL_FOLDER_CLAIMS_H

#include "pipeline/spool/claims.h"

enum { ICS_CLAIM_NAME_MAX = 239, ICS_CLAIM_WORKER_MAX = 200 }; /* bytes */

typedef struct ics_folder_claims_options {
    const char *directory; /* where work lies; must exist */
    const char *pattern;   /* fnmatch(3), of names; NULL: all. Names that start with '.' or end in
                              .part or .tmp are never work */
    const char *spool;  /* on the same file system; NULL: .icestream in `directory`. Created where
                           it is missing, the folder above it must be there */
    const char *worker; /* this worker's name, a file name of at most ICS_CLAIM_WORKER_MAX bytes
                           that does not start with '.' */
    const char *quarantine; /* where bad files go; NULL: quarantine in `directory` */
    double lease;           /* s, > 0: who gives no sign of life for so long has lost his claims */
    uint32_t attempts;      /* how often a file may be begun before it is refused; 0: any */
    bool forget;            /* removes the marks of files that are done and were kept */
    /* Whether the results of a file that is marked are there: where they were removed, the file is
     * work again, so it must be true from before the call of done on. On the thread that calls the
     * claims' functions. NULL: marks are believed. */
    bool (*has_results)(void *user, const char *name);
    /* What people should know and no error is, such as a name that is passed over: one line, once.
     * Same thread. NULL: nobody listens. */
    void (*note)(void *user, const char *line);
    void *user;
} ics_folder_claims_options;

/* Takes the worker's name into possession. Besides the errors of claims.h, ICESTREAM_E_CONFIG:
 * names that cannot be, a folder that is not there, a spool on another file system;
 * ICESTREAM_E_FAILED: the name belongs to another living process. Options need not outlive the
 * call, but for `user`. */
int ics_folder_claims_create(const ics_folder_claims_options *options, ics_claims *out,
                             icestream_error *error);

#endif
