/* The lines of a session, and particles that come through a pipe.
 *
 * Promises: a session refuses light of other settings, and says what it assumes of steps without a
 * record; it warns of doubtful steps with the words of `icestream run`, of doubtful
 * results when it is closed, and keeps a bounded number of lines; a submission that waits for
 * particles from a pipe stops no other one, gives the hits of the same particles in a file, and can
 * be cancelled and closed. To join: add a doubt of one step to `doubts`.
 */
#include "pipeline/photons/session/state.h"
#include "tests/run/run_place.h"
#include "tests/session/session_world.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Looks for a line with this text among all lines that are there. Returns the number of lines. */
static size_t read_notes(icestream_session *session, const char *text, bool *found)
{
    char line[4096];
    size_t count = 0;
    *found = false;
    while (icestream_session_next_note(session, line, sizeof line)) {
        *found = *found || strstr(line, text) != NULL;
        count++;
    }
    return count;
}

static void expect_note(icestream_session *session, const char *text)
{
    bool found;
    read_notes(session, text, &found);
    ck_assert_msg(found, "no line has: %s", text);
}

static void run_steps(icestream_session *session, const icestream_step *step, const char *name)
{
    icestream_submission work = session_work(step, 1);
    uint64_t count;
    work.name = name;
    icestream_hits_free(session_take(session, session_submit(session, &work), &count));
}

/* ---- doubts ---------------------------------------------------------------------------------- */

typedef struct doubt {
    void (*spoil)(icestream_step *step);
    const char *text;
} doubt;

static void make_slow(icestream_step *step)
{
    step->beta = 0.5F;
}

static void make_distant(icestream_step *step)
{
    step->x = 9000;
}

static void make_weightless(icestream_step *step)
{
    step->weight = 0;
}

static const doubt doubts[] = {
    {make_slow,
     "a (ticket 1): 1 of 1 steps, the first one in row 0, are below the Cherenkov thres"},
    {make_distant, "a (ticket 1): x, y, z: "},
    {make_weightless, "a (ticket 1): weight: found 0 in 1 of the first 1 steps"},
};

START_TEST(doubtful_steps_are_noted)
{
    for (size_t i = 0; i < COUNT(doubts); ++i) {
        icestream_session *session = session_open_plain();
        icestream_step step = run_folder_bright(0, 10);
        step.flags = 0; /* Cherenkov light */
        step.dz = 1;
        step.length = 0.1F;
        doubts[i].spoil(&step);
        run_steps(session, &step, "a");
        expect_note(session, doubts[i].text);
        icestream_session_destroy(session);
    }
}
END_TEST

START_TEST(events_and_results_are_noted)
{
    icestream_session *session = session_open_plain();
    icestream_step step = run_folder_bright(0, 10);
    step.z -= 300; /* no module sees it */
    bool found;
    run_steps(session, &step, "a");
    read_notes(session, "", &found);
    run_steps(session, &step, "b");
    expect_note(session, "warning: a (ticket 1) and b (ticket 2) both have steps 0 to 0 of event");
    run_steps(session, &step, "b");
    ck_assert_uint_eq(read_notes(session, "", &found), 0); /* it is said once */
    ck_assert_int_eq(icestream_session_close(session, NULL), ICESTREAM_OK);
    expect_note(session, "warning: no hits: ");
    icestream_session_destroy(session);
}
END_TEST

START_TEST(lines_that_nobody_reads_are_counted)
{
    icestream_session *session = session_open_plain();
    char line[200];
    bool found;
    read_notes(session, "", &found);
    for (int i = 0; i < ICS_SESSION_NOTES + 7; ++i) {
        ics_session_note(session, "line %d", i);
    }
    for (int i = 0; i < ICS_SESSION_NOTES; ++i) {
        ck_assert(icestream_session_next_note(session, line, sizeof line));
    }
    ck_assert_str_eq(line, "line 999");
    ck_assert(icestream_session_next_note(session, line, sizeof line));
    ck_assert_msg(strstr(line, "7 more lines were not kept") != NULL, "%s", line);
    ck_assert(!icestream_session_next_note(session, line, sizeof line));
    ics_session_note(session, "later");
    ck_assert(icestream_session_next_note(session, line, sizeof line));
    ck_assert_str_eq(line, "later");
    icestream_session_destroy(session);
}
END_TEST

/* ---- the record of light --------------------------------------------------------------------- */

static icestream_step thinned_step(void)
{
    icestream_step step = run_folder_bright(0, 10);
    step.flags = ICESTREAM_STEP_ISOTROPIC;
    return step;
}

/* Submits a step with a record; returns the status. */
static int submit_with(icestream_session *session, const char *light, icestream_error *error)
{
    const icestream_step step = thinned_step();
    icestream_submission work = session_work(&step, 1);
    uint64_t ticket, count;
    work.light = light;
    const int status = icestream_session_submit(session, &work, &ticket, error);
    if (status == ICESTREAM_OK) {
        icestream_hits_free(session_take(session, ticket, &count));
    }
    return status;
}

static const char of_oversize_3[] =
    "{\"thinned\": true, \"seed\": \"1\", \"settings\": {\"detector.oversize\": \"3\"}}";

START_TEST(light_of_other_settings_is_refused)
{
    icestream_session *session = session_open((const char *[]){"detector.oversize=2", NULL});
    icestream_session *same = session_open((const char *[]){"detector.oversize=3", NULL});
    icestream_session *accepts =
        session_open((const char *[]){"detector.oversize=2", "source.light_mismatch=accept", NULL});
    icestream_error error = {0};
    bool found;
    ck_assert_int_eq(submit_with(session, of_oversize_3, &error), ICESTREAM_E_INPUT);
    ck_assert_msg(strstr(error.text, "steps: light: detector.oversize: found steps that were made "
                                     "for 3, expected 2, the value of this run") == error.text,
                  "%s", error.text);
    ck_assert_int_eq(submit_with(same, of_oversize_3, &error), ICESTREAM_OK);
    read_notes(same, "record", &found);
    ck_assert(!found);
    ck_assert_int_eq(submit_with(accepts, of_oversize_3, &error), ICESTREAM_OK);
    expect_note(accepts, "warning: steps: the light of these steps was made for other settings");
    icestream_session_destroy(session);
    icestream_session_destroy(same);
    icestream_session_destroy(accepts);
}
END_TEST

START_TEST(wrong_records_are_errors)
{
    static const char *const wrong[] = {
        "", "{", "[]", "3", "{\"settings\": 1}", "{\"settings\": {\"detector.oversize\": 3}}"};
    icestream_session *session = session_open_plain();
    icestream_error error = {0};
    icestream_submission work = {.size = sizeof work, .light = of_oversize_3};
    uint64_t ticket;
    for (size_t i = 0; i < COUNT(wrong); ++i) {
        ck_assert_msg(submit_with(session, wrong[i], &error) == ICESTREAM_E_INPUT, "%s", wrong[i]);
        ck_assert_msg(strstr(error.text, "light: ") != NULL, "%s", error.text);
    }
    ck_assert_int_eq(icestream_session_submit(session, &work, &ticket, &error), ICESTREAM_E_USAGE);
    ck_assert_msg(strstr(error.text, "submission.light: ") == error.text, "%s", error.text);
    icestream_session_destroy(session);
}
END_TEST

/* A program that was compiled for version 0.1 has a submission without a record. */
START_TEST(missing_records_are_noted_once)
{
    icestream_session *session = session_open((const char *[]){"detector.oversize=2", NULL});
    icestream_step step = thinned_step();
    icestream_submission work = session_work(&step, 1);
    uint64_t count;
    bool found;
    work.size = offsetof(icestream_submission, light);
    work.light = "[";
    step.flags = ICESTREAM_STEP_ISOTROPIC | ICESTREAM_STEP_NOT_THINNED;
    icestream_hits_free(session_take(session, session_submit(session, &work), &count));
    read_notes(session, "no record of their light", &found);
    ck_assert(!found);
    step.flags = ICESTREAM_STEP_ISOTROPIC;
    icestream_hits_free(session_take(session, session_submit(session, &work), &count));
    expect_note(session, "warning: steps: no record of their light: numbers of photons are taken "
                         "as those after thinning for light.acceptance standard, "
                         "detector.oversize 2, detector.angular_acceptance 0.");
    icestream_hits_free(session_take(session, session_submit(session, &work), &count));
    read_notes(session, "no record of their light", &found);
    ck_assert(!found);
    icestream_session_destroy(session);
}
END_TEST

/* ---- particles from a pipe --------------------------------------------------------------------
 */

static const char particles[] = "event,type,x,y,z,zenith,azimuth,energy,length\n"
                                "5,e-,3,0,1,0,0,2,\n";

typedef struct pipe_work {
    char path[2048], set[2100];
    const char *sets[1];
    icestream_submission work;
} pipe_work;

/* A submission of the particles in a pipe, or in a file, of this name. */
static void prepare(pipe_work *to, const char *name)
{
    snprintf(to->path, sizeof to->path, "%s/%s", place.steps, name);
    snprintf(to->set, sizeof to->set, "particles.file=%s", to->path);
    to->sets[0] = to->set;
    to->work = (icestream_submission){
        .size = sizeof to->work, .sets = to->sets, .set_count = 1, .name = name};
}

static void write_particles(const char *path, int flags)
{
    const int to = open(path, flags | O_WRONLY, 0600);
    ck_assert_int_ge(to, 0);
    ck_assert_int_eq(write(to, particles, strlen(particles)), (ssize_t)strlen(particles));
    close(to);
}

START_TEST(pipe_lets_others_pass)
{
    pipe_work silent, late, list;
    icestream_session *session = session_open_plain();
    uint64_t count, expected_count, finished;
    prepare(&silent, "silent.csv");
    ck_assert_int_eq(mkfifo(silent.path, 0600), 0);
    for (int i = 1; i < ICS_SESSION_PIPES; ++i) { /* more than batches that the device takes */
        session_submit(session, &silent.work);
    }
    prepare(&late, "late.csv");
    prepare(&list, "list.csv");
    ck_assert_int_eq(mkfifo(late.path, 0600), 0);
    write_particles(list.path, O_CREAT);
    const uint64_t ticket = session_submit(session, &late.work);
    icestream_hit *expected =
        session_take(session, session_submit(session, &list.work), &expected_count);
    ck_assert_uint_gt(expected_count, 0);
    ck_assert_int_eq(icestream_session_wait(session, ticket, 0, &finished, NULL), ICESTREAM_OK);
    ck_assert_uint_eq(finished, 0);
    write_particles(late.path, 0);
    icestream_hit *hits = session_take(session, ticket, &count);
    ck_assert_uint_eq(count, expected_count);
    ck_assert_mem_eq(hits, expected, count * sizeof *hits);
    icestream_hits_free(hits);
    icestream_hits_free(expected);
    icestream_session_destroy(session);
}
END_TEST

/* The driver itself reads a list, so it must notice that the session is closed meanwhile. */
START_TEST(a_session_closes_while_lists_are_read)
{
    pipe_work list;
    prepare(&list, "long.csv");
    FILE *to = fopen(list.path, "w");
    ck_assert_ptr_nonnull(to);
    fputs("event,type,x,y,z,zenith,azimuth,energy,length\n", to);
    for (int i = 0; i < 20000; ++i) {
        fprintf(to, "%d,e-,3,0,1,0,0,0.01,\n", i);
    }
    ck_assert_int_eq(fclose(to), 0);
    for (unsigned round = 0; round < 8; ++round) {
        icestream_session *session = session_open_plain();
        icestream_hit *hits;
        uint64_t count;
        icestream_error error;
        const uint64_t tickets[] = {session_submit(session, &list.work),
                                    session_submit(session, &list.work)};
        usleep(round * 2000); /* another place in the list each time; the outcome is the same */
        ck_assert_int_eq(icestream_session_close(session, NULL), ICESTREAM_OK);
        const int status = icestream_session_take(session, tickets[1], &hits, &count, NULL, &error);
        ck_assert(status == ICESTREAM_E_INTERRUPTED || status == ICESTREAM_OK);
        icestream_hits_free(hits);
        icestream_session_destroy(session);
    }
}
END_TEST

START_TEST(waiting_for_a_pipe_can_be_ended)
{
    pipe_work late;
    icestream_session *session = session_open_plain();
    uint64_t tickets[ICS_SESSION_PIPES + 2];
    icestream_error error;
    icestream_hit *hits;
    uint64_t count;
    prepare(&late, "silent.csv");
    ck_assert_int_eq(mkfifo(late.path, 0600), 0);
    for (size_t i = 0; i < COUNT(tickets); ++i) { /* some are not even begun */
        tickets[i] = session_submit(session, &late.work);
    }
    ck_assert_int_eq(icestream_session_cancel(session, tickets[3], NULL), ICESTREAM_OK);
    session_wait(session, tickets[3]);
    ck_assert_int_eq(icestream_session_take(session, tickets[3], &hits, &count, NULL, &error),
                     ICESTREAM_E_INTERRUPTED);
    ck_assert_str_eq(error.text, "silent.csv: cancelled");
    ck_assert_int_eq(icestream_session_close(session, NULL), ICESTREAM_OK);
    for (size_t i = 0; i < COUNT(tickets) - 1; ++i) {
        ck_assert_int_eq(icestream_session_take(session, 0, &hits, &count, NULL, &error),
                         ICESTREAM_E_INTERRUPTED);
        ck_assert_str_eq(error.text, "silent.csv: the session was closed");
    }
    icestream_session_destroy(session);
}
END_TEST

ICS_TEST_MAIN("session_notes")
{
    TCase *notes = tcase_create("notes");
    tcase_add_test(notes, doubtful_steps_are_noted);
    tcase_add_test(notes, events_and_results_are_noted);
    tcase_add_test(notes, lines_that_nobody_reads_are_counted);
    tcase_add_test(notes, light_of_other_settings_is_refused);
    tcase_add_test(notes, wrong_records_are_errors);
    tcase_add_test(notes, missing_records_are_noted_once);
    suite_add_tcase(suite, notes);
    TCase *pipes = tcase_create("pipes");
    tcase_add_checked_fixture(pipes, open_place, close_place);
    tcase_add_test(pipes, pipe_lets_others_pass);
    tcase_add_test(pipes, a_session_closes_while_lists_are_read);
    tcase_add_test(pipes, waiting_for_a_pipe_can_be_ended);
    suite_add_tcase(suite, pipes);
}
