#include "tests/support/claims_script.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* How the script ends the claim of each of its files. */
enum { KEPT, MOVED, DELETED, FAILED, GIVEN_BACK, ADOPTED };
static const char *const script_names[CLAIMS_SCRIPT_FILES] = {
    "kept.npy", "moved.npy", "deleted.npy", "failed.npy", "given.npy", "adopted.npy"};

void claims_script_prepare(const claims_folder *place)
{
    char path[CLAIMS_PATH];
    for (int i = 0; i < CLAIMS_SCRIPT_FILES; ++i) {
        scratch_write(claims_path(place, script_names[i], path), script_names[i],
                      strlen(script_names[i]));
    }
    static const char *const folders[] = {"", "/claimed", "/claimed/dead"};
    for (size_t i = 0; i < 3; ++i) {
        char name[64], from[CLAIMS_PATH];
        snprintf(name, sizeof name, ".icestream%s", folders[i]);
        ck_assert_int_eq(mkdir(claims_path(place, name, path), 0777), 0);
        if (i == 2) {
            ck_assert_int_eq(
                rename(claims_path(place, "adopted.npy", from),
                       claims_path(place, ".icestream/claimed/dead/1~adopted.npy", path)),
                0);
        }
    }
}

/* Returns whether a failed call may be repeated, and counts it. Ends the process if no fault is
 * left. */
static bool again(int status, const icestream_error *error, unsigned *faults)
{
    if (status == ICESTREAM_OK) {
        return false;
    }
    if (*faults == 0) {
        fprintf(stderr, "%s\n", error->text);
        _exit(9);
    }
    --*faults;
    return true;
}

static void end_claim(const ics_claims *claims, ics_claim *claim, int which, unsigned *faults)
{
    static const ics_after ways[] = {ICS_AFTER_KEEP, ICS_AFTER_MOVE, ICS_AFTER_DELETE};
    icestream_error error;
    bool held = false;
    int status;
    do {
        status =
            which == FAILED ? ics_claims_fail(claims, claim, "bad", &held, &error)
            : which == GIVEN_BACK
                ? ics_claims_give_back(claims, claim, &held, &error)
                : ics_claims_done(claims, claim, which == ADOPTED ? ICS_AFTER_KEEP : ways[which],
                                  &held, &error);
    } while (again(status, &error, faults));
    if (!held || claim->refusal != NULL) {
        fprintf(stderr, "%s: %s\n", claim->name, held ? claim->refusal : "was lost");
        _exit(8);
    }
    ics_claims_claim_free(claim);
}

void claims_script_run(claims_folder *place, unsigned faults, volatile claims_script *progress)
{
    ics_claims claims;
    icestream_error error;
    ics_claim taken[CLAIMS_SCRIPT_FILES];
    place->options.worker = "script";
    while (again(ics_claims_create(&place->options, &claims, &error), &error, &faults)) {
    }
    /* A file that could not be claimed in one scan can be claimed in the next. */
    size_t count = 0;
    for (unsigned looks = 0; looks < 3 && count < CLAIMS_SCRIPT_FILES; ++looks) {
        size_t more = 0;
        while (again(
            ics_claims_take(&claims, CLAIMS_SCRIPT_FILES - count, taken + count, &more, &error),
            &error, &faults)) {
        }
        count += more;
    }
    if (count < CLAIMS_SCRIPT_FILES) {
        fprintf(stderr, "found %zu files\n", count);
        _exit(7);
    }
    while (again(ics_claims_extend(&claims, NULL, &error), &error, &faults)) {
    }
    for (size_t i = 0; i < count; ++i) {
        int which = 0;
        while (strcmp(taken[i].name, script_names[which]) != 0) {
            which++;
        }
        end_claim(&claims, &taken[i], which, &faults);
        progress->ended[which] = which != GIVEN_BACK;
    }
    progress->is_done = true;
    ics_claims_destroy(&claims);
}

void claims_script_finish(claims_folder *place, const claims_script *progress)
{
    if (claims_exists(place, ".icestream/claimed/script/.lease")) {
        claims_age_lease(place, "script", 100);
    }
    ics_claims claims = claims_worker(place, "heir", 60);
    ics_claim claim;
    size_t count = 1;
    while (count > 0) {
        icestream_error error;
        ck_assert_msg(ics_claims_take(&claims, 1, &claim, &count, &error) == ICESTREAM_OK, "%s",
                      error.text);
        if (count == 0) {
            break;
        }
        for (int i = 0; i < CLAIMS_SCRIPT_FILES; ++i) {
            ck_assert_msg(!progress->ended[i] || strcmp(claim.name, script_names[i]) != 0,
                          "%s is claimed after it was done", claim.name);
        }
        ck_assert(claims_done(&claims, &claim, ICS_AFTER_MOVE));
    }
    ics_claims_destroy(&claims);
}

void claims_script_check(const claims_folder *place, const claims_script *progress)
{
    ck_assert_uint_eq(claims_count(place, ".icestream/claimed"), 0);
    ck_assert_uint_eq(claims_count(place, ".icestream/locks"), 0);
    for (int i = 0; i < CLAIMS_SCRIPT_FILES; ++i) {
        static const char *const folders[] = {"", ".icestream/done/", "quarantine/"};
        char name[SCRATCH_PATH];
        unsigned places = 0;
        for (size_t j = 0; j < 3; ++j) {
            snprintf(name, sizeof name, "%s%s", folders[j], script_names[i]);
            if (claims_exists(place, name)) {
                claims_assert_text(place, name, script_names[i]);
                places++;
            }
            snprintf(name, sizeof name, "%s%s.2", folders[j], script_names[i]);
            ck_assert_msg(!claims_exists(place, name), "%s", name);
        }
        bool gone = i == DELETED && places == 0; /* unlinked, perhaps before the call returned */
        ck_assert_msg(places == 1 || gone, "%s is at %u places", script_names[i], places);
        bool kept = (i == KEPT || i == ADOPTED) && progress->ended[i];
        ck_assert(!kept || claims_exists(place, script_names[i]));
    }
    if (claims_exists(place, "quarantine/failed.npy")) {
        claims_assert_text(place, "quarantine/failed.npy.reason", "bad\n");
    }
}
