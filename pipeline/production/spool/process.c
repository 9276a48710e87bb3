#include "pipeline/production/spool/process.h"

#include "pipeline/production/spool/files.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads state and start time from /proc/PID/stat. The name of the program, which stands before them
 * in brackets, may contain anything. */
static bool read_stat(const char *path, char *state, long long *start)
{
    enum { AFTER_STATE = 19 }; /* field 22, counted from field 3, the state */
    char text[1024];
    if (ics_spool_file_read(path, text, sizeof text, NULL) != 0) {
        return false;
    }
    const char *at = strrchr(text, ')');
    if (at == NULL || sscanf(at, ") %c", state) != 1) {
        return false;
    }
    at++;
    for (int field = 0; field < AFTER_STATE && at != NULL; ++field) {
        at = strchr(at + 1, ' ');
    }
    char *end = NULL;
    *start = at != NULL ? strtoll(at, &end, 10) : -1;
    return at != NULL && end != at && *start >= 0;
}

/* Reads the target of a link. An unknown link has the text "-". */
static void read_link(const char *path, char text[32])
{
    ssize_t length = readlink(path, text, 31);
    text[length > 0 ? length : 0] = '\0';
    if (length <= 0) {
        snprintf(text, 32, "-");
    }
}

void ics_process_self(ics_process *out)
{
    char boot[64], process[32], pids[32], times[32], state = 0;
    *out = (ics_process){.pid = getpid()};
    read_link("/proc/self", process);
    read_link("/proc/self/ns/pid", pids);
    read_link("/proc/self/ns/time", times);
    if (strtoll(process, NULL, 10) != out->pid || strcmp(pids, "-") == 0 ||
        !read_stat("/proc/self/stat", &state, &out->start) ||
        ics_spool_file_read("/proc/sys/kernel/random/boot_id", boot, sizeof boot, NULL) != 0) {
        return;
    }
    boot[strcspn(boot, "\n")] = '\0';
    if (boot[0] != '\0') {
        snprintf(out->space, sizeof out->space, "%.40s %s %s", boot, pids, times);
    }
}

/* Reads whether a process is a zombie, and when it began. False: the process is not shown. */
static bool look_at(long long pid, bool *zombie, long long *start)
{
    char state = 0;
    ics_path path = ics_spool_path_format("/proc/%lld/stat", pid);
    const bool shown = read_stat(path.text, &state, start);
    *zombie = shown && (state == 'Z' || state == 'X');
    return shown;
}

bool ics_process_has_ended(long long pid)
{
    bool zombie = false;
    long long start = 0;
    const bool missing = kill((pid_t)pid, 0) != 0 && errno == ESRCH;
    return pid > 0 && (missing || (look_at(pid, &zombie, &start) && zombie));
}

bool ics_process_is_gone(const ics_process *process, const ics_process *self)
{
    if (process->pid <= 0 || self->space[0] == '\0' || strcmp(self->space, process->space) != 0) {
        return false;
    }
    if (kill((pid_t)process->pid, 0) != 0 && errno == ESRCH) {
        return true;
    }
    /* A process that exists and is not shown to this user is not known to be another one. */
    bool zombie = false;
    long long start = 0;
    return look_at(process->pid, &zombie, &start) && (start != process->start || zombie);
}
