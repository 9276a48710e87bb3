#include "pipeline/commands/signals/stop_signals.h"

#include "kernels/stage_guard.h"
#include "pipeline/icestream.h"

#include <signal.h>
#include <stddef.h>
#include <time.h>

enum { SAME_SIGNAL_MS = 500 };

static const int numbers[] = {SIGINT, SIGTERM};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

/* A signal handler has no other argument. */
static atomic_int first_signal;
static atomic_llong first_time; /* ms */
static atomic_bool cancels_at_once, cancelled;
static struct sigaction before[NUMBERS];

static long long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1000LL * now.tv_sec + now.tv_nsec / 1000000;
}

static void cancel(int number)
{
    atomic_store(&cancelled, true);
    ics_stage_guard_stop(number);
}

static void on_signal(int number)
{
    const long long now = now_ms();
    int none = 0;
    if (atomic_load(&first_signal) == 0) {
        atomic_store(&first_time, now); /* before other threads can see the signal */
    }
    if (atomic_compare_exchange_strong(&first_signal, &none, number)) {
        if (atomic_load(&cancels_at_once)) {
            cancel(number);
        }
    } else if (number != none || now - atomic_load(&first_time) >= SAME_SIGNAL_MS) {
        cancel(number);
    }
}

void ics_stop_signals_catch(bool at_once)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    atomic_store(&first_signal, 0);
    atomic_store(&cancelled, false);
    atomic_store(&cancels_at_once, at_once);
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < NUMBERS; ++i) {
        sigaddset(&action.sa_mask, numbers[i]);
    }
    for (size_t i = 0; i < NUMBERS; ++i) {
        sigaction(numbers[i], &action, &before[i]);
    }
}

void ics_stop_signals_release(void)
{
    for (size_t i = 0; i < NUMBERS; ++i) {
        sigaction(numbers[i], &before[i], NULL);
    }
}

int ics_stop_signals_first(void)
{
    return atomic_load(&first_signal);
}

int ics_stop_signals_status(void)
{
    return ics_stop_signals_first() == SIGTERM ? ICESTREAM_E_TERMINATED : ICESTREAM_E_INTERRUPTED;
}

const atomic_bool *ics_stop_signals_cancel(void)
{
    return &cancelled;
}
