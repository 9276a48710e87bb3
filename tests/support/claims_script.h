/* For tests of crashes: a script that calls every function of claims.h in a process that is killed
 * or whose calls fail, and checks of what must be true afterwards. */
#ifndef CLAIMS_SCRIPT_H
#define CLAIMS_SCRIPT_H

#include "tests/support/claims_folder.h"

enum { CLAIMS_SCRIPT_FILES = 6 };

/* How far the script has come. */
typedef struct claims_script {
    bool ended[CLAIMS_SCRIPT_FILES]; /* the call that ends the work has returned */
    bool is_done;                    /* every call has returned */
} claims_script;

/* Prepares six files, one of which a dead worker holds. */
void claims_script_prepare(const claims_folder *place);
/* Runs the script; call it in a child process. A call that fails is repeated, at most `faults`
 * times in all. Ends the process with a message if this is not enough, or if a claim is lost or
 * refused. */
void claims_script_run(claims_folder *place, unsigned faults, volatile claims_script *progress);
/* Another worker claims all files that are left and moves them to done/. No file that was ended may
 * be among them. */
void claims_script_finish(claims_folder *place, const claims_script *progress);
/* Checks that every file exists once and is complete, and that nothing of the workers is left. */
void claims_script_check(const claims_folder *place, const claims_script *progress);

#endif
