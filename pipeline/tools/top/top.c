#include "pipeline/tools/top/top.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/json_read.h"
#include "base/json_text.h"
#include "pipeline/tools/measure/report.h"
#include "pipeline/tools/top/top_text.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDE = 1000 /* columns, where lines are not cut */ };

/* The second screen of the terminal, without a cursor and without wrapped lines; and back. */
static const char enter_screen[] = "\033[?1049h\033[?25l\033[?7l";
static const char leave_screen[] = "\033[?7h\033[?25h\033[?1049l";

/* ---- signals --------------------------------------------------------------------------------- */

/* Every signal that ends a process and can be caught. */
static const int endings[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGILL,    SIGTRAP, SIGABRT, SIGBUS,
                              SIGFPE,  SIGUSR1, SIGSEGV, SIGUSR2,   SIGALRM, SIGTERM, SIGSTKFLT,
                              SIGXCPU, SIGXFSZ, SIGSYS,  SIGVTALRM, SIGPROF, SIGIO,   SIGPWR};

/* Only functions that a handler may call. Of a terminal that is gone nothing can be restored. */
static void put(const char *text, size_t size)
{
    const ssize_t written = write(STDOUT_FILENO, text, size);
    (void)written;
}

/* Restores the terminal, and ends the process by the signal as if it had not been caught. */
static void on_ending(int number)
{
    put(leave_screen, sizeof leave_screen - 1);
    signal(number, SIG_DFL);
    raise(number); /* it arrives when this handler returns */
}

/* Ctrl-Z: the shell gets its screen back until the process continues. */
static void on_stop(int number)
{
    const int cause = errno;
    (void)number;
    put(leave_screen, sizeof leave_screen - 1);
    raise(SIGSTOP);
    put(enter_screen, sizeof enter_screen - 1);
    errno = cause;
}

/* The terminal has another size: the signal only ends the pause. */
static void on_resize(int number)
{
    (void)number;
}

static void handle_signals(void)
{
    struct sigaction action = {.sa_handler = on_ending};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; ++i) {
        sigaction(endings[i], &action, NULL);
    }
    action.sa_handler = on_stop;
    sigaction(SIGTSTP, &action, NULL);
    action.sa_handler = on_resize;
    sigaction(SIGWINCH, &action, NULL);
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* Gets the report of `status` as an object with visible texts, which the caller releases. */
static int read_report(const char *folder, json_t **report, icestream_error *error)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    *report = NULL;
    int status =
        memory != NULL ? icestream_folder_status(folder, true, memory, error) : ICESTREAM_E_MEMORY;
    if (memory != NULL && fclose(memory) != 0 && status == ICESTREAM_OK) {
        status = ICESTREAM_E_MEMORY;
    }
    if (status == ICESTREAM_OK) {
        *report = ics_json_read_text(text, 0, NULL);
    }
    free(text);
    if (status == ICESTREAM_E_MEMORY ||
        (status == ICESTREAM_OK && ics_json_make_visible(*report) != 0)) {
        json_decref(*report);
        *report = NULL;
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", folder);
    }
    return status;
}

int ics_top_once(const char *folder, FILE *out, icestream_error *error)
{
    json_t *report = NULL;
    ICS_TRY(read_report(folder, &report, error));
    int status = ics_top_text(report, WIDE, out, error);
    json_decref(report);
    return status == ICESTREAM_OK ? ics_report_end("top", out, error) : status;
}

/* Makes the text of a frame, which the caller frees. */
static int make_frame(const char *folder, char **frame, icestream_error *error)
{
    struct winsize window = {.ws_row = 24, .ws_col = 80};
    struct winsize found;
    char *text = NULL;
    size_t size = 0;
    json_t *report = NULL;
    *frame = NULL;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &found) == 0 && found.ws_row > 0 && found.ws_col > 0) {
        window = found;
    }
    ICS_TRY(read_report(folder, &report, error));
    FILE *lines = open_memstream(&text, &size);
    int status = lines != NULL ? ics_top_text(report, window.ws_col, lines, error)
                               : ics_error_set(error, ICESTREAM_E_MEMORY, "top: out of memory");
    json_decref(report);
    const bool closed = lines != NULL && fclose(lines) == 0;
    FILE *drawn = status == ICESTREAM_OK && closed ? open_memstream(frame, &size) : NULL;
    if (drawn != NULL) {
        ics_top_draw(text, window.ws_col, window.ws_row, drawn);
    }
    if (status == ICESTREAM_OK && (drawn == NULL || fclose(drawn) != 0)) {
        status = ics_error_set(error, ICESTREAM_E_MEMORY, "top: out of memory");
    }
    free(text);
    return status;
}

/* Waits for a second, and longer if reading the journals takes long: top needs at most a tenth of
 * one core. A signal ends the pause. */
static void pause_after(double begun)
{
    const double taken = ics_clock_seconds() - begun, seconds = taken > 0.1 ? 10.0 * taken : 1.0;
    const struct timespec time = {.tv_sec = (time_t)seconds,
                                  .tv_nsec = (long)(1e9 * (seconds - (double)(time_t)seconds))};
    nanosleep(&time, NULL);
}

static int write_frame(const char *frame, icestream_error *error)
{
    return fputs(frame, stdout) >= 0 && fflush(stdout) == 0
               ? ICESTREAM_OK
               : ics_error_set_cause(error, ICESTREAM_E_OUTPUT, errno,
                                     "standard output: cannot write: %s", strerror(errno));
}

int ics_top_follow(const char *folder, icestream_error *error)
{
    char *frame = NULL;
    double begun = ics_clock_seconds();
    ICS_TRY(make_frame(folder, &frame, error)); /* a wrong folder does not touch the terminal */
    handle_signals();
    put(enter_screen, sizeof enter_screen - 1);
    int status = write_frame(frame, error);
    while (status == ICESTREAM_OK) {
        free(frame);
        pause_after(begun);
        begun = ics_clock_seconds();
        status = make_frame(folder, &frame, error);
        if (status == ICESTREAM_OK) {
            status = write_frame(frame, error);
        }
    }
    free(frame);
    put(leave_screen, sizeof leave_screen - 1);
    return status;
}
