/* For tests of claims: an input folder with files, and workers that claim from it. Everything here
 * fails the test on errors. */
#ifndef CLAIMS_FOLDER_H
#define CLAIMS_FOLDER_H

#include "pipeline/spool/folder_claims.h"
#include "tests/support/scratch_files.h"

enum { CLAIMS_PATH = 2 * SCRATCH_PATH };

typedef struct claims_folder {
    scratch folder;
    char input[SCRATCH_PATH];          /* in it: the files, .icestream and quarantine */
    unsigned notes;                    /* that were told */
    char note[CLAIMS_PATH];            /* the last one */
    ics_folder_claims_options options; /* of the next worker; pattern *.npy, lease 60 s */
} claims_folder;

/* `place` must stay where it is. */
void claims_folder_open(claims_folder *place);
void claims_folder_close(claims_folder *place);

/* The path of something in the input folder. Returns path. */
const char *claims_path(const claims_folder *place, const char *name, char path[CLAIMS_PATH]);
bool claims_exists(const claims_folder *place, const char *name);
/* A file of this text, new in any case: another inode, another time of arrival than all before. */
void claims_add(const claims_folder *place, const char *name, const char *text);
/* Fails unless the file has this text. */
void claims_assert_text(const claims_folder *place, const char *name, const char *text);
/* How many names are in a folder below the input folder, dot files not counted; none: 0. */
size_t claims_count(const claims_folder *place, const char *folder);
/* Makes a worker's last heartbeat `seconds` old. */
void claims_age_lease(const claims_folder *place, const char *worker, double seconds);

ics_claims claims_worker(claims_folder *place, const char *worker, double lease);
/* Takes one file, which must be this one. */
ics_claim claims_take(const ics_claims *claims, const char *name);
void claims_take_none(const ics_claims *claims);
bool claims_hold(const ics_claims *claims, const ics_claim *claim);
/* These end a claim, free it and return whether it was held. */
bool claims_done(const ics_claims *claims, ics_claim *claim, ics_after after);
bool claims_fail(const ics_claims *claims, ics_claim *claim, const char *reason);
bool claims_give_back(const ics_claims *claims, ics_claim *claim);
void claims_assert_counts(const ics_claims *claims, ics_claims_counts expected);

/* From here on this process, and what it starts, has no rename that does not replace: so is it on
 * NFS. False: the kernel has no such filters. */
bool claims_forbid_noreplace(void);

#endif
