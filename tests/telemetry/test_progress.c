/* Promises of progress.h: rates, what the status line shows of devices, files and queues, and
 * terminals that are too narrow for it. How to join: fill an ics_progress_state and compare the
 * text of its line. */
#include "pipeline/production/telemetry/progress.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static const char *text_of(const ics_progress_state *state, const ics_progress_figures *figures)
{
    static char text[ICS_PROGRESS_TEXT];
    ics_progress_text(state, figures, text);
    return text;
}

START_TEST(line_of_a_plain_run)
{
    ics_progress progress = ics_progress_begin(NULL);
    ics_progress_figures figures;
    ics_progress_state state = {
        .photons = 2000, .photons_total = 8000.0, .hits = 7, .files = 1, .files_total = 4};
    ics_progress_measure(&progress, &state, progress.start + 10.0, &figures);
    ck_assert_str_eq(text_of(&state, &figures),
                     "25.0 %, 2000 photons at 200/s, 7 hits, 1 of 4 files, 30 s left");
    state.stopping = true;
    ck_assert_str_eq(text_of(&state, &figures),
                     "25.0 %, 2000 photons at 200/s, 7 hits, 1 of 4 files, stopping");
}
END_TEST

START_TEST(line_of_a_service)
{
    ics_progress progress = ics_progress_begin(NULL);
    ics_progress_figures figures;
    const ics_progress_device devices[] = {{"cuda:0", 3000000, true}, {"cuda:1", 1000000, false}};
    ics_progress_state state = {.photons = 4000000,
                                .hits = 12,
                                .files = 5,
                                .files_taken = 8,
                                .files_quarantined = 2,
                                .queue = 3,
                                .queue_room = 16,
                                .devices = devices,
                                .device_count = 2};
    ics_progress_measure(&progress, &state, progress.start + 2.0, &figures);
    ck_assert_str_eq(text_of(&state, &figures),
                     "4.00 million photons at 2.00 million/s (cuda:0 1.50 million, cuda:1 lost), "
                     "12 hits, 8 files in, 5 out, 2 quarantined, queue 3/16");
    state.device_count = 1; /* one device: only the sum is shown */
    state.paused = "/out: No space left on device";
    ck_assert_str_eq(text_of(&state, &figures),
                     "paused: /out: No space left on device; 4.00 million photons at "
                     "2.00 million/s, 12 hits, 8 files in, 5 out, 2 quarantined, queue 3/16");
}
END_TEST

START_TEST(rates_follow_the_photons)
{
    ics_progress progress = ics_progress_begin(NULL);
    ics_progress_figures figures;
    ics_progress_device device = {"cpu", 0, true};
    ics_progress_state state = {.devices = &device, .device_count = 1};
    double now = progress.start;
    for (int i = 0; i < 400; ++i) { /* 100 s at 1000 photons/s */
        now += 0.25;
        state.photons += 250;
        device.photons += 125;
        ics_progress_measure(&progress, &state, now, &figures);
        /* The rate is right from the first measurement on. */
        ck_assert_double_eq_tol(figures.rate, 1000.0, 1e-6);
        ck_assert_double_eq_tol(figures.devices[0], 500.0, 1e-6);
    }
    for (int i = 0; i < 400; ++i) { /* 100 s without photons */
        now += 0.25;
        ics_progress_measure(&progress, &state, now, &figures);
    }
    ck_assert_double_lt(figures.rate, 1.0);
    ck_assert_double_eq_tol(figures.average, 500.0, 1e-6);
    ics_progress_measure(&progress, &state, now, &figures); /* no time has passed */
    ck_assert(isfinite(figures.rate));
    ck_assert_double_lt(figures.share, 0.0);
    ck_assert_double_lt(figures.seconds_left, 0.0);
}
END_TEST

/* Time without anything to compute is no part of a rate. */
START_TEST(waiting_lowers_no_rate)
{
    ics_progress progress = ics_progress_begin(NULL);
    ics_progress_figures figures;
    ics_progress_state state = {.photons = 10000, .files = 1, .files_taken = 1};
    ics_progress_measure(&progress, &state, progress.start + 10.0, &figures);
    state.waiting = true;
    progress.idle = 90.0;
    ics_progress_measure(&progress, &state, progress.start + 100.0, &figures);
    ck_assert_str_eq(text_of(&state, &figures),
                     "10000 photons, waiting for steps, 0 hits, 1 file in, 1 out");
    state.waiting = false;
    state.photons += 1000;
    ics_progress_measure(&progress, &state, progress.start + 101.0, &figures);
    ck_assert_double_eq_tol(figures.rate, 1000.0, 1e-6);
    ck_assert_double_eq_tol(figures.average, 1000.0, 1e-6);
}
END_TEST

START_TEST(more_devices_than_there_is_room_for)
{
    enum { MANY = 3 * ICS_PROGRESS_DEVICES };
    ics_progress progress = ics_progress_begin(NULL);
    ics_progress_figures figures;
    ics_progress_device devices[MANY];
    for (int i = 0; i < MANY; ++i) {
        devices[i] = (ics_progress_device){"a device with quite a long name", UINT64_MAX, true};
    }
    ics_progress_state state = {
        .photons = UINT64_MAX, .hits = UINT64_MAX, .devices = devices, .device_count = MANY};
    ics_progress_measure(&progress, &state, progress.start + 1e-9, &figures);
    ck_assert_uint_lt(strlen(text_of(&state, &figures)), ICS_PROGRESS_TEXT);
}
END_TEST

/* Returns what is written to a terminal with this number of columns; 0: to a file. The caller frees
 * it. NULL, after test_skip(): this machine has no terminals. */
static char *shown(unsigned short columns, const ics_progress_state *state)
{
    int master = -1, slave = -1;
    char *text = calloc(1, ICS_PROGRESS_TEXT), *memory = NULL;
    size_t size = 0;
    FILE *out = NULL;
    ck_assert_ptr_nonnull(text);
    if (columns > 0) {
        const struct winsize window = {.ws_col = columns, .ws_row = 24};
        struct termios raw;
        if (openpty(&master, &slave, NULL, NULL, &window) != 0) {
            test_skip("no pseudo-terminal can be opened: %s", strerror(errno));
            free(text);
            return NULL;
        }
        ck_assert_int_eq(tcgetattr(slave, &raw), 0);
        cfmakeraw(&raw);
        ck_assert_int_eq(tcsetattr(slave, TCSANOW, &raw), 0);
        out = fdopen(slave, "w");
    } else {
        out = open_memstream(&memory, &size);
    }
    ck_assert_ptr_nonnull(out);
    ics_progress progress = ics_progress_begin(out);
    ck_assert_int_eq(progress.terminal, columns > 0);
    ics_progress_update(&progress, state);
    ics_progress_line(&progress, "a line");
    fclose(out);
    if (columns > 0) {
        /* Text from a terminal arrives in pieces. The end of the terminal is reported as an error.
         */
        ssize_t got = 0;
        while ((got = read(master, text + size, ICS_PROGRESS_TEXT - 1 - size)) > 0) {
            size += (size_t)got;
        }
        close(master);
    } else {
        ck_assert_uint_lt(size, ICS_PROGRESS_TEXT);
        memcpy(text, memory, size);
        free(memory);
    }
    return text;
}

START_TEST(terminals)
{
    const ics_progress_state state = {.photons = 0, .photons_total = 10.0, .hits = 3};
    char *text = shown(0, &state);
    ck_assert_str_eq(text, "0.0 %, 0 photons at 0/s, 3 hits\na line\n");
    free(text);
    text = shown(80, &state);
    if (text == NULL) {
        return;
    }
    ck_assert_str_eq(text, "\r\033[K0.0 %, 0 photons at 0/s, 3 hits\r\033[Ka line\n");
    free(text);
    text = shown(12, &state); /* 11 characters, because text in the last column would wrap */
    ck_assert_str_eq(text, "\r\033[K0.0 %, 0 ph\r\033[Ka line\n");
    free(text);
}
END_TEST

ICS_TEST_MAIN("progress")
{
    TCase *all = tcase_create("status line");
    tcase_add_test(all, line_of_a_plain_run);
    tcase_add_test(all, line_of_a_service);
    tcase_add_test(all, rates_follow_the_photons);
    tcase_add_test(all, waiting_lowers_no_rate);
    tcase_add_test(all, more_devices_than_there_is_room_for);
    tcase_add_test(all, terminals);
    suite_add_tcase(suite, all);
}
