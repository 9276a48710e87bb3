/* For tests of claims: an input folder with files, and workers that claim them. Every function
 * fails the test on errors. */
#ifndef CLAIMS_FOLDER_H
#define CLAIMS_FOLDER_H

#include "pipeline/production/spool/claims.h"
#include "tests/support/scratch_files.h"

enum { CLAIMS_PATH = 2 * SCRATCH_PATH };

typedef struct claims_folder {
    scratch folder;
    char input[SCRATCH_PATH];   /* the shared folder: files, .icestream, quarantine */
    unsigned notes;             /* number of notes so far */
    char note[CLAIMS_PATH];     /* the last note */
    ics_claims_options options; /* of the next worker; pattern *.npy, lease 60 s */
} claims_folder;

/* `place` must not move afterwards. */
void claims_folder_open(claims_folder *place);
void claims_folder_close(claims_folder *place);

/* The path of something in the input folder. Returns path. */
const char *claims_path(const claims_folder *place, const char *name, char path[CLAIMS_PATH]);
bool claims_exists(const claims_folder *place, const char *name);
/* Adds a file with this text. Its inode and its time of arrival differ from those of all earlier
 * files. */
void claims_add(const claims_folder *place, const char *name, const char *text);
/* Fails unless the file has this text. */
void claims_assert_text(const claims_folder *place, const char *name, const char *text);
/* Number of names in a folder below the input folder, without dot files; 0 if it is missing. */
size_t claims_count(const claims_folder *place, const char *folder);
/* Makes the last heartbeat of a worker `seconds` (s) old. */
void claims_age_lease(const claims_folder *place, const char *worker, double seconds);

ics_claims claims_worker(claims_folder *place, const char *worker, double lease);
/* Claims one file, which must be this one. */
ics_claim claims_take(const ics_claims *claims, const char *name);
void claims_take_none(const ics_claims *claims);
bool claims_hold(const ics_claims *claims, const ics_claim *claim);
/* These end a claim, free it and return whether it was held. */
bool claims_done(const ics_claims *claims, ics_claim *claim, ics_after after);
bool claims_fail(const ics_claims *claims, ics_claim *claim, const char *reason);
bool claims_give_back(const ics_claims *claims, ics_claim *claim);
/* Fails unless there are these numbers of files: that can be claimed, that workers hold, that are
 * done (marks of kept files, and files in done/), and reasons in the quarantine. */
typedef struct claims_counts {
    uint64_t waiting, claimed, done, quarantined;
} claims_counts;
void claims_assert_counts(const claims_folder *place, const ics_claims *claims,
                          claims_counts expected);

/* Makes renames with RENAME_NOREPLACE fail in this process and in its children, as on NFS, for
 * ever. Returns false if the kernel has no such filters. */
bool claims_forbid_noreplace(void);

#endif
