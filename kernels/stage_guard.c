#include "kernels/stage_guard.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE = 5 /* s after the signal; a bounce of a wave takes milliseconds */ };

static const struct {
    int number;
    const char *name;
} faults[] = {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"}, {SIGILL, "SIGILL"}};
enum { FAULTS = sizeof faults / sizeof *faults };
static const int stops[] = {SIGINT, SIGTERM};
enum { STOPS = sizeof stops / sizeof *stops };

/* A handler of signals gets no pointer of ours, so its state is global. */
static atomic_bool catches;
static struct sigaction before_fault[FAULTS], before_stop[STOPS];
static atomic_uint inside;                    /* threads in kernels with headers */
static _Atomic(const char *) latest;          /* the headers of the last thread that entered */
static _Thread_local const char *volatile my; /* those of this thread; NULL: it is not inside */
static volatile sig_atomic_t stopped_by;
/* A function that calls itself without end leaves no stack for a handler. */
static _Thread_local char fault_stack[32 << 10];

const char *ics_stage_guard_names(const char *const headers[ICS_STAGES],
                                  char text[ICS_STAGE_GUARD_TEXT])
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < ICS_STAGES && used < ICS_STAGE_GUARD_TEXT; ++i) {
        if (headers[i] != NULL) {
            used +=
                (size_t)snprintf(text + used, ICS_STAGE_GUARD_TEXT - used, "%sstages.%s: %s",
                                 used > 0 ? ", " : "", ics_stage_name((ics_stage)i), headers[i]);
        }
    }
    return text;
}

/* ---- in handlers of signals ------------------------------------------------------------------ */

static void put(const char *text)
{
    (void)!write(STDERR_FILENO, text, strlen(text));
}

/* Gives the signal its default and sends it to this process, which it ends. */
static void end_by(int number)
{
    const struct sigaction action = {.sa_handler = SIG_DFL};
    sigaction(number, &action, NULL);
    kill(getpid(), number);
}

/* When the handler returns, the instruction fails again, and what was there before ends the
 * process: the default, or a sanitizer's report. */
static void on_fault(int number)
{
    for (size_t i = 0; i < FAULTS; ++i) {
        if (my != NULL && faults[i].number == number) {
            put("error: the kernels crashed (");
            put(faults[i].name);
            put("), and they have these headers of yours: ");
            put(my);
            put("; `icestream run --verify` finds values that break a contract "
                "(docs/stages.md)\n");
        }
        sigaction(faults[i].number, &before_fault[i], NULL);
    }
}

static void put_not_returned(void)
{
    put("\nerror: kernels have not returned, and they have these headers of yours: ");
    put(atomic_load(&latest));
    put("\n");
}

static void on_alarm(int number)
{
    (void)number;
    if (atomic_load(&inside) > 0) {
        put_not_returned();
        end_by(stopped_by);
    } else {
        alarm(1);
    }
}

static void on_stop_in_setup(int number)
{
    if (atomic_load(&inside) > 0) {
        put_not_returned();
    } else {
        put("\nerror: stopped before the first photon, while headers of yours were made ready: ");
        put(atomic_load(&latest));
        put("\n");
    }
    end_by(number);
}

void ics_stage_guard_stop(int signal_number)
{
    const struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    if (atomic_load(&catches)) {
        stopped_by = signal_number;
        sigaction(SIGALRM, &action, NULL);
        alarm(PATIENCE);
    }
}

/* ---- outside of them ------------------------------------------------------------------------- */

void ics_stage_guard_catch(void)
{
    const struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};
    for (size_t i = 0; i < FAULTS; ++i) {
        sigaction(faults[i].number, &action, &before_fault[i]);
    }
    atomic_store(&catches, true);
}

bool ics_stage_guard_catches(void)
{
    return atomic_load(&catches);
}

/* Gives this thread a stack for on_fault(), unless it has one, such as a sanitizer's. */
static void need_stack(void)
{
    stack_t stack;
    if (sigaltstack(NULL, &stack) == 0 && (stack.ss_flags & SS_DISABLE) != 0) {
        stack = (stack_t){.ss_sp = fault_stack, .ss_size = sizeof fault_stack};
        sigaltstack(&stack, NULL);
    }
}

void ics_stage_guard_enter(const char *names)
{
    if (names[0] != '\0') {
        if (my == NULL && atomic_load(&catches)) {
            need_stack();
        }
        my = names;
        atomic_store(&latest, names);
        atomic_fetch_add(&inside, 1);
    }
}

void ics_stage_guard_leave(const char *names)
{
    if (names[0] != '\0') {
        my = NULL;
        atomic_fetch_sub(&inside, 1);
    }
}

/* A signal that is ignored, as by nohup, stays so. */
static void replace_stops(const char *names)
{
    const struct sigaction action = {.sa_handler = on_stop_in_setup};
    atomic_store(&latest, names);
    for (size_t i = 0; i < STOPS; ++i) {
        sigaction(stops[i], NULL, &before_stop[i]);
        if (before_stop[i].sa_handler != SIG_IGN) {
            sigaction(stops[i], &action, NULL);
        }
    }
}

static atomic_bool in_setup; /* a program sets up one device at a time */

void ics_stage_guard_setup_begin(const char *names)
{
    if (atomic_load(&catches) && names[0] != '\0') {
        replace_stops(names);
        atomic_store(&in_setup, true);
    }
}

void ics_stage_guard_setup_end(void)
{
    if (atomic_exchange(&in_setup, false)) {
        for (size_t i = 0; i < STOPS; ++i) {
            sigaction(stops[i], &before_stop[i], NULL);
        }
    }
}
