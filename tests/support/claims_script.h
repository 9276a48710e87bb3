/* For tests of crashes: a script that does everything that can be done with claims, for a process
 * that is killed in it or meets faults, and what must be true afterwards. */
#ifndef CLAIMS_SCRIPT_H
#define CLAIMS_SCRIPT_H

#include "tests/support/claims_folder.h"

enum { CLAIMS_SCRIPT_FILES = 6 };

/* How far the script came. */
typedef struct claims_script {
    bool ended[CLAIMS_SCRIPT_FILES]; /* the call that ends the work has returned */
    bool put;
} claims_script;

/* Six files, of which one is a dead worker's, and one that will be put, whose path is given back.
 */
void claims_script_prepare(const claims_folder *place, char put_path[SCRATCH_PATH]);
/* In a process of its own: each call is made again as often as it fails, but not more than `faults`
 * times in all. Ends the process with a message if that does not suffice, if a claim is lost or if
 * one is refused. */
void claims_script_run(claims_folder *place, const char *put_path, unsigned faults,
                       volatile claims_script *progress);
/* Another worker takes everything that is left and moves it to done/; nothing that was ended may be
 * in it. */
void claims_script_finish(claims_folder *place, const claims_script *progress);
/* Every file is at exactly one place, whole, and nothing of the workers is left. */
void claims_script_check(const claims_folder *place, const claims_script *progress,
                         const char *put_path);

#endif
