#include "tests/support/claims_folder.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void take_note(void *user, const char *line)
{
    claims_folder *place = user;
    place->notes++;
    snprintf(place->note, sizeof place->note, "%.*s", CLAIMS_PATH - 1, line);
}

void claims_folder_open(claims_folder *place)
{
    *place = (claims_folder){.folder = scratch_create()};
    scratch_path(&place->folder, "in", place->input);
    ck_assert_int_eq(mkdir(place->input, 0777), 0);
    place->options = (ics_claims_options){.directory = place->input,
                                          .pattern = "*.npy",
                                          .lease = 60.0,
                                          .note = take_note,
                                          .user = place};
}

void claims_folder_close(claims_folder *place)
{
    scratch_remove(&place->folder);
}

const char *claims_path(const claims_folder *place, const char *name, char path[CLAIMS_PATH])
{
    ck_assert_int_lt(snprintf(path, CLAIMS_PATH, "%s/%s", place->input, name), CLAIMS_PATH);
    return path;
}

bool claims_exists(const claims_folder *place, const char *name)
{
    char path[CLAIMS_PATH];
    struct stat about;
    return lstat(claims_path(place, name, path), &about) == 0;
}

/* The time of the last change (ns). */
static int64_t changed_ns(const char *path)
{
    struct stat about;
    ck_assert_int_eq(lstat(path, &about), 0);
    return (int64_t)about.st_ctim.tv_sec * 1000000000 + about.st_ctim.tv_nsec;
}

void claims_add(const claims_folder *place, const char *name, const char *text)
{
    char clock[SCRATCH_PATH], part[SCRATCH_PATH], path[CLAIMS_PATH];
    scratch_path(&place->folder, "clock", clock);
    scratch_path(&place->folder, "part", part);
    /* The new file is written before it replaces an old one, so that it cannot get the inode of the
     * old one. It is written again until the clock of the file system, which advances every few ms,
     * has another time. */
    scratch_write(clock, "", 0);
    const int64_t before = changed_ns(clock);
    do {
        scratch_write(part, text, strlen(text));
    } while (changed_ns(part) == before);
    ck_assert_int_eq(rename(part, claims_path(place, name, path)), 0);
}

void claims_assert_text(const claims_folder *place, const char *name, const char *text)
{
    char path[CLAIMS_PATH];
    size_t size;
    unsigned char *found = scratch_read(claims_path(place, name, path), &size);
    found[size] = 0;
    ck_assert_str_eq((const char *)found, text);
    free(found);
}

size_t claims_count(const claims_folder *place, const char *folder)
{
    char path[CLAIMS_PATH];
    size_t count = 0;
    DIR *names = opendir(claims_path(place, folder, path));
    for (const struct dirent *entry; names != NULL && (entry = readdir(names)) != NULL;) {
        count += entry->d_name[0] != '.';
    }
    if (names != NULL) {
        closedir(names);
    }
    return count;
}

void claims_age_lease(const claims_folder *place, const char *worker, double seconds)
{
    char name[SCRATCH_PATH], path[CLAIMS_PATH];
    struct timespec times[2];
    snprintf(name, sizeof name, ".icestream/claimed/%s/.lease", worker);
    ck_assert_int_eq(clock_gettime(CLOCK_REALTIME, &times[0]), 0);
    times[0].tv_sec -= (time_t)seconds;
    times[1] = times[0];
    ck_assert_int_eq(utimensat(AT_FDCWD, claims_path(place, name, path), times, 0), 0);
}

/* ---- workers --------------------------------------------------------------------------------- */

ics_claims claims_worker(claims_folder *place, const char *worker, double lease)
{
    ics_claims claims;
    icestream_error error;
    place->options.worker = worker;
    place->options.lease = lease;
    ck_assert_msg(ics_claims_create(&place->options, &claims, &error) == ICESTREAM_OK, "%s",
                  error.text);
    return claims;
}

ics_claim claims_take(const ics_claims *claims, const char *name)
{
    ics_claim claim;
    size_t count = 0;
    icestream_error error;
    ck_assert_msg(ics_claims_take(claims, 1, &claim, &count, &error) == ICESTREAM_OK, "%s",
                  error.text);
    ck_assert_uint_eq(count, 1);
    ck_assert_str_eq(claim.name, name);
    return claim;
}

void claims_take_none(const ics_claims *claims)
{
    ics_claim claim;
    size_t count = 0;
    icestream_error error;
    ck_assert_msg(ics_claims_take(claims, 1, &claim, &count, &error) == ICESTREAM_OK, "%s",
                  error.text);
    ck_assert_uint_eq(count, 0);
}

bool claims_hold(const ics_claims *claims, const ics_claim *claim)
{
    return ics_claims_holds(claims, claim);
}

bool claims_done(const ics_claims *claims, ics_claim *claim, ics_after after)
{
    bool held;
    icestream_error error;
    ck_assert_msg(ics_claims_done(claims, claim, after, &held, &error) == ICESTREAM_OK, "%s",
                  error.text);
    ics_claims_claim_free(claim);
    return held;
}

bool claims_fail(const ics_claims *claims, ics_claim *claim, const char *reason)
{
    bool held;
    icestream_error error;
    ck_assert_msg(ics_claims_fail(claims, claim, reason, &held, &error) == ICESTREAM_OK, "%s",
                  error.text);
    ics_claims_claim_free(claim);
    return held;
}

bool claims_give_back(const ics_claims *claims, ics_claim *claim)
{
    bool held;
    icestream_error error;
    ck_assert_msg(ics_claims_give_back(claims, claim, &held, &error) == ICESTREAM_OK, "%s",
                  error.text);
    ics_claims_claim_free(claim);
    return held;
}

static size_t count_reasons(const claims_folder *place)
{
    char path[CLAIMS_PATH];
    const char *folder = place->options.quarantine != NULL ? place->options.quarantine
                                                           : claims_path(place, "quarantine", path);
    size_t count = 0;
    DIR *names = opendir(folder);
    for (const struct dirent *entry; names != NULL && (entry = readdir(names)) != NULL;) {
        count += strstr(entry->d_name, ".reason") != NULL;
    }
    if (names != NULL) {
        closedir(names);
    }
    return count;
}

static size_t count_claimed(const claims_folder *place)
{
    char path[CLAIMS_PATH], home[CLAIMS_PATH];
    size_t count = 0;
    DIR *workers = opendir(claims_path(place, ".icestream/claimed", path));
    for (const struct dirent *entry; workers != NULL && (entry = readdir(workers)) != NULL;) {
        if (entry->d_name[0] != '.') {
            snprintf(home, sizeof home, ".icestream/claimed/%.200s", entry->d_name);
            count += claims_count(place, home);
        }
    }
    if (workers != NULL) {
        closedir(workers);
    }
    return count;
}

void claims_assert_counts(const claims_folder *place, const ics_claims *claims,
                          claims_counts expected)
{
    uint64_t waiting = 0;
    icestream_error error;
    ck_assert_msg(ics_claims_count_waiting(claims, &waiting, &error) == ICESTREAM_OK, "%s",
                  error.text);
    ck_assert_uint_eq(waiting, expected.waiting);
    ck_assert_uint_eq(count_claimed(place), expected.claimed);
    ck_assert_uint_eq(claims_count(place, ".icestream/marks") +
                          claims_count(place, ".icestream/done"),
                      expected.done);
    ck_assert_uint_eq(count_reasons(place), expected.quarantined);
}

bool claims_forbid_noreplace(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_renameat2, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[4])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 22 /* EINVAL */),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const struct sock_fprog program = {.len = sizeof rules / sizeof *rules, .filter = rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}
