/* Promises of claims.h for crashes and faults: a process is killed before every system call of a
 * script that uses all functions, and every system call of the script fails once. No file is lost,
 * and no finished file is processed again. How to join: a new function of claims.h becomes a call
 * in the script (tests/support/claims_script.c). */
#include "tests/spool/claims_place.h"
#include "tests/support/claims_script.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* Puts the folder into memory if possible. A killed process loses no data that it wrote, so a disk
 * is not needed, and hundreds of rounds that wait for a disk would take long. */
static void set_up(void)
{
    if (access("/dev/shm", R_OK | W_OK | X_OK) == 0) {
        ck_assert_int_eq(setenv("TMPDIR", "/dev/shm", 1), 0);
    }
    open_place();
}

static void *shared_memory(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(memory != MAP_FAILED);
    return memory;
}

/* Forks a process that stops before the script. */
static pid_t start_script(bool as_nfs, unsigned faults, volatile claims_script *progress)
{
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        if ((as_nfs && !claims_forbid_noreplace()) || ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0 ||
            raise(SIGSTOP) != 0) {
            _exit(6);
        }
        claims_script_run(&place, faults, progress);
        _exit(0);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFSTOPPED(status), "status %d", status);
    return child;
}

/* ---- killed before every system call --------------------------------------------------------- */

/* Runs the script until its n-th system call and kills it before that call. Returns false if the
 * script has ended successfully before. */
static bool kill_before_call(unsigned n, bool as_nfs, volatile claims_script *progress)
{
    pid_t child = start_script(as_nfs, 0, progress);
    int status = 0;
    /* Every call stops the process twice: before and after it. */
    for (unsigned stops = 0; stops < 2 * n - 1; ++stops) {
        ck_assert_int_eq(ptrace(PTRACE_SYSCALL, child, NULL, NULL), 0);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        if (!WIFSTOPPED(status)) {
            ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %d", status);
            return false;
        }
    }
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status));
    return true;
}

static void kill_everywhere(bool as_nfs)
{
    claims_script *progress = shared_memory(sizeof *progress);
    bool killed = true;
    unsigned calls = 0;
    while (killed) {
        close_place();
        open_place();
        claims_script_prepare(&place);
        *progress = (claims_script){.is_done = false};
        killed = kill_before_call(++calls, as_nfs, progress);
        claims_script_finish(&place, progress);
        claims_script_check(&place, progress);
    }
    /* In the last round the script was not killed: it makes as many calls as there were rounds. */
    printf("killed before each of %u system calls\n", calls - 1);
    ck_assert_uint_gt(calls, 100);
    ck_assert(progress->is_done);
    ck_assert_int_eq(munmap(progress, sizeof *progress), 0);
}

START_TEST(test_killed_before_every_call)
{
    kill_everywhere(false);
}
END_TEST

START_TEST(test_killed_before_every_call_as_on_nfs)
{
    kill_everywhere(true);
}
END_TEST

/* ---- faults in every system call ------------------------------------------------------------- */

#ifdef __x86_64__
/* The calls in which a file system can fail. */
static bool may_fail(unsigned long long call)
{
    static const unsigned calls[] = {SYS_open,   SYS_openat, SYS_read,      SYS_write,
                                     SYS_fsync,  SYS_rename, SYS_renameat2, SYS_link,
                                     SYS_unlink, SYS_mkdir,  SYS_rmdir,     SYS_stat,
                                     SYS_lstat,  SYS_fstat,  SYS_access,    SYS_newfstatat,
                                     SYS_flock,  SYS_statx,  SYS_utimensat, SYS_getdents64};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i) {
        if (calls[i] == call) {
            return true;
        }
    }
    return false;
}

/* Makes the n-th such call of the script fail with this cause, without any effect. Returns false if
 * the script makes fewer calls. */
static bool fail_call(unsigned n, int cause, bool as_nfs, volatile claims_script *progress)
{
    pid_t child = start_script(as_nfs, 3, progress);
    int status = 0;
    unsigned calls = 0;
    bool before = true, failing = false;
    for (;; before = !before) {
        struct user_regs_struct registers;
        ck_assert_int_eq(ptrace(PTRACE_SYSCALL, child, NULL, NULL), 0);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        if (!WIFSTOPPED(status)) {
            break;
        }
        ck_assert_int_eq(ptrace(PTRACE_GETREGS, child, NULL, &registers), 0);
        failing = before ? may_fail(registers.orig_rax) && ++calls == n : failing;
        if (failing && before) {
            registers.orig_rax = (unsigned long long)-1; /* no system call */
        } else if (failing) {
            registers.rax = (unsigned long long)-cause;
        }
        ck_assert_int_eq(ptrace(PTRACE_SETREGS, child, NULL, &registers), 0);
    }
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "call %u: status %d", n, status);
    return calls >= n;
}

static void fail_everywhere(int cause, bool as_nfs)
{
    claims_script *progress = shared_memory(sizeof *progress);
    bool failed = true;
    unsigned calls = 0;
    while (failed) {
        close_place();
        open_place();
        claims_script_prepare(&place);
        *progress = (claims_script){.is_done = false};
        failed = fail_call(++calls, cause, as_nfs, progress);
        claims_script_finish(&place, progress);
        claims_script_check(&place, progress);
        ck_assert(progress->is_done);
    }
    printf("each of %u system calls failed once\n", calls - 1);
    ck_assert_uint_gt(calls, 100);
    ck_assert_int_eq(munmap(progress, sizeof *progress), 0);
}

static const int causes[] = {EIO, ENOSPC, EINTR, ENOMEM, ESTALE};

START_TEST(test_faults_in_every_call)
{
    fail_everywhere(causes[_i], false);
}
END_TEST

START_TEST(test_faults_in_every_call_as_on_nfs)
{
    fail_everywhere(EIO, true);
}
END_TEST
#endif

ICS_TEST_MAIN("claims and crashes")
{
    TCase *tests = tcase_create("every call");
    tcase_add_checked_fixture(tests, set_up, close_place);
    tcase_add_test(tests, test_killed_before_every_call);
    tcase_add_test(tests, test_killed_before_every_call_as_on_nfs);
#ifdef __x86_64__
    const int count = (int)(sizeof causes / sizeof *causes);
    tcase_add_loop_test(tests, test_faults_in_every_call, 0, count);
    tcase_add_test(tests, test_faults_in_every_call_as_on_nfs);
#else
    test_skip("faults in every call are made for x86-64 only");
#endif
    suite_add_tcase(suite, tests);
}
