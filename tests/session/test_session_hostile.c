/* Sessions and callers that do everything wrong.
 *
 * Promises: wrong sizes, misaligned and NULL pointers, unknown tickets, bad steps, wrong keys,
 * submissions after the session was closed, and a session after fork() are errors with a message,
 * and never a crash; many sessions leave no memory, descriptors or threads behind.
 * To join: add a case to `cases`, or a test for what is no submission.
 */
#include "pipeline/icestream.h"
#include "tests/session/session_world.h"
#include "tests/support/test_main.h"
#include "tests/support/threads.h"

#include <dirent.h>
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SESSIONS = 40, WARM_UP = 20 };

/* A submission of one good step, and what the case makes wrong. */
typedef struct hostile {
    void (*spoil)(icestream_submission *work, icestream_step *step);
    int status;
    const char *text;
} hostile;

#define SPOIL(name, action)                                                                        \
    static void name(icestream_submission *work, icestream_step *step)                             \
    {                                                                                              \
        (void)work;                                                                                \
        (void)step;                                                                                \
        action;                                                                                    \
    }

static const char *const other_key[] = {"detector.oversize=2"};
static const char *const no_key[] = {"particles"};
static const char *const wrong_list[] = {"particles.list=[{type: unicorn}]"};
static const char *const null_set[] = {NULL};

static void make_light(icestream_submission *work, const char *const *sets, size_t count)
{
    *work = (icestream_submission){.size = sizeof *work, .sets = sets, .set_count = count};
}

SPOIL(no_size, work->size = 0)
SPOIL(short_size, work->size = offsetof(icestream_submission, light) - 8)
SPOIL(huge_size, work->size = UINT32_MAX)
SPOIL(step_size, work->step_size = 48)
SPOIL(misaligned, work->steps = (const icestream_step *)(uintptr_t)((uintptr_t)step + 4))
SPOIL(no_steps, work->steps = NULL)
SPOIL(too_many, work->step_count = UINT64_MAX)
SPOIL(no_photons, work->step_count = 0)
SPOIL(unknown_flag, work->flags = 8)
SPOIL(reserved, work->reserved = 1)
SPOIL(nan_position, step->x = NAN)
SPOIL(fast, step->beta = 2)
SPOIL(forged_name, (step->x = NAN, work->name = "a\x1b[31mb\nrow 3"))
SPOIL(same_id, work->step_count = 2)
SPOIL(sets_and_steps, (work->sets = other_key, work->set_count = 1))
SPOIL(null_sets, make_light(work, NULL, 3))
SPOIL(null_in_sets, make_light(work, null_set, 1))
SPOIL(session_key, make_light(work, other_key, 1))
SPOIL(half_key, make_light(work, no_key, 1))
SPOIL(unicorn, make_light(work, wrong_list, 1))
SPOIL(no_light, make_light(work, NULL, 0))

static const hostile cases[] = {
    {no_size, ICESTREAM_E_USAGE, "submission.size: found 0, expected sizeof of the struct, "},
    {short_size, ICESTREAM_E_USAGE, "submission.size: found "},
    {huge_size, ICESTREAM_E_USAGE, "submission.size: found 4294967295, expected"},
    {step_size, ICESTREAM_E_USAGE,
     "submission.step_size: found 48, expected 72, the bytes of an icestream_step"},
    {misaligned, ICESTREAM_E_USAGE, "expected a multiple of 8"},
    {no_steps, ICESTREAM_E_USAGE, "submission.steps: found NULL with submission.step_count 1"},
    {too_many, ICESTREAM_E_USAGE, "submission.step_count: found 18446744073709551615"},
    {no_photons, ICESTREAM_E_INPUT, "steps: found 0 steps, expected at least one photon"},
    {unknown_flag, ICESTREAM_E_USAGE, "submission.flags: found 8"},
    {reserved, ICESTREAM_E_USAGE, "submission.reserved"},
    {nan_position, ICESTREAM_E_INPUT, "steps: row 0, field x: found nan, expected"},
    {forged_name, ICESTREAM_E_INPUT, "a\\x1b[31mb\\nrow 3: row 0, field x: found nan, expected"},
    {fast, ICESTREAM_E_INPUT, "steps: row 0, field beta: found 2, expected"},
    {same_id, ICESTREAM_E_INPUT,
     "steps: row 1, field step_id: found 0 again in event 3 (as in row 0)"},
    {sets_and_steps, ICESTREAM_E_USAGE, "submission.sets: found texts and steps"},
    {null_sets, ICESTREAM_E_USAGE, "submission.sets: found NULL with submission.set_count 3"},
    {null_in_sets, ICESTREAM_E_USAGE, "submission.sets: found NULL, expected KEY=VALUE"},
    {session_key, ICESTREAM_E_CONFIG, "--set detector.oversize=2: error: found a key of the whole"},
    {half_key, ICESTREAM_E_CONFIG, "--set particles: error: "},
    {unicorn, ICESTREAM_E_CONFIG, "unicorn"},
    {no_light, ICESTREAM_E_CONFIG, "found neither particles nor a workload"},
};

START_TEST(wrong_submissions_are_errors)
{
    icestream_session *session = session_open_plain();
    for (size_t i = 0; i < COUNT(cases); ++i) {
        icestream_step steps[3] = {run_folder_bright(0, 10), run_folder_bright(0, 10)};
        icestream_submission work = session_work(steps, 1);
        icestream_error error = {0};
        uint64_t ticket = 0;
        cases[i].spoil(&work, steps);
        const int status = icestream_session_submit(session, &work, &ticket, &error);
        ck_assert_msg(status == cases[i].status && error.status == status, "case %zu: %d: %s", i,
                      status, error.text);
        ck_assert_msg(strstr(error.text, cases[i].text) != NULL, "case %zu: %s", i, error.text);
        ck_assert_uint_eq(ticket, 0);
        ck_assert_int_eq(icestream_session_submit(session, &work, &ticket, NULL), status);
    }
    icestream_session_destroy(session);
}
END_TEST

/* A struct of a later version, with members that this one does not know. */
START_TEST(longer_structs_are_understood)
{
    struct {
        icestream_submission work;
        uint64_t later;
    } longer = {.later = 0};
    struct {
        icestream_ticket about;
        uint64_t later;
    } answer = {.later = 5};
    const icestream_step step = run_folder_bright(0, 10);
    icestream_session *session = session_open_plain();
    icestream_hit *hits;
    uint64_t ticket, count;
    longer.work = session_work(&step, 1);
    longer.work.size = sizeof longer;
    answer.about.size = sizeof answer;
    ticket = session_submit(session, &longer.work);
    session_wait(session, ticket);
    ck_assert_int_eq(icestream_session_take(session, ticket, &hits, &count, &answer.about, NULL),
                     ICESTREAM_OK);
    icestream_hits_free(hits);
    ck_assert_uint_eq(answer.later, 0);
    ck_assert_uint_eq(answer.about.size, sizeof answer);
    longer.later = 1;
    ck_assert_int_eq(icestream_session_submit(session, &longer.work, &ticket, NULL),
                     ICESTREAM_E_USAGE);
    icestream_session_destroy(session);
}
END_TEST

static void refuse_everything(icestream_session *session, uint64_t ticket)
{
    const icestream_step step = run_folder_bright(0, 10);
    const icestream_submission work = session_work(&step, 1);
    icestream_ticket about = {.size = sizeof about};
    icestream_hit *hits;
    char text[64];
    uint64_t number;
    ck_assert_int_eq(icestream_session_cancel(session, ticket, NULL), ICESTREAM_E_USAGE);
    ck_assert_int_eq(icestream_session_poll(session, ticket, &about, NULL), ICESTREAM_E_USAGE);
    ck_assert_int_eq(icestream_session_wait(session, ticket, -1, &number, NULL), ICESTREAM_E_USAGE);
    ck_assert_int_eq(icestream_session_take(session, ticket, &hits, &number, NULL, NULL),
                     ICESTREAM_E_USAGE);
    if (ticket == 0) { /* not because of the ticket */
        ck_assert_int_eq(icestream_session_submit(session, &work, &number, NULL),
                         ICESTREAM_E_USAGE);
        ck_assert_int_eq(icestream_session_close(session, NULL), ICESTREAM_E_USAGE);
        ck_assert_int_eq(icestream_session_descriptor(session), -1);
        ck_assert_uint_eq(icestream_session_describe(session, text, sizeof text), 0);
        ck_assert(!icestream_session_next_note(session, text, sizeof text));
    }
}

START_TEST(null_and_unknown_tickets_are_errors)
{
    icestream_session *session = session_open_plain();
    icestream_ticket about = {.size = 3};
    icestream_hit *hits = NULL;
    const icestream_step step = run_folder_bright(0, 10);
    const icestream_submission work = session_work(&step, 1);
    uint64_t count = 0;
    refuse_everything(NULL, 0);
    refuse_everything(session, 12);
    const uint64_t ticket = session_submit(session, &work);
    ck_assert_int_eq(icestream_session_submit(session, NULL, &count, NULL), ICESTREAM_E_USAGE);
    ck_assert_int_eq(icestream_session_submit(session, &work, NULL, NULL), ICESTREAM_E_USAGE);
    ck_assert_int_eq(icestream_session_poll(session, ticket, NULL, NULL), ICESTREAM_E_USAGE);
    ck_assert_int_eq(icestream_session_poll(session, ticket, &about, NULL), ICESTREAM_E_USAGE);
    ck_assert_int_eq(icestream_session_wait(session, ticket, NAN, &count, NULL), ICESTREAM_E_USAGE);
    ck_assert_int_eq(icestream_session_wait(session, ticket, 1, NULL, NULL), ICESTREAM_E_USAGE);
    ck_assert_int_eq(icestream_session_take(session, ticket, NULL, &count, NULL, NULL),
                     ICESTREAM_E_USAGE);
    ck_assert_int_eq(icestream_session_take(session, ticket, &hits, &count, &about, NULL),
                     ICESTREAM_E_USAGE);
    icestream_hits_free(session_take(session, ticket, &count));
    refuse_everything(session, ticket); /* it was taken */
    icestream_session_destroy(session);
    icestream_session_destroy(NULL);
    icestream_hits_free(NULL);
}
END_TEST

START_TEST(wrong_openings_are_errors)
{
    icestream_config *config = session_config((const char *[]){NULL});
    icestream_session *session = NULL;
    icestream_session_options options = {.size = 1};
    icestream_error error = {0};
    ck_assert_int_eq(icestream_session_open(NULL, NULL, &session, &error), ICESTREAM_E_USAGE);
    ck_assert_int_eq(icestream_session_open(config, NULL, NULL, &error), ICESTREAM_E_USAGE);
    ck_assert_int_eq(icestream_session_open(config, &options, &session, &error), ICESTREAM_E_USAGE);
    options.size = UINT32_MAX;
    ck_assert_int_eq(icestream_session_open(config, &options, &session, &error), ICESTREAM_E_USAGE);
    options = (icestream_session_options){.size = sizeof options, .reserved = 1};
    ck_assert_int_eq(icestream_session_open(config, &options, &session, &error), ICESTREAM_E_USAGE);
    ck_assert_ptr_null(session);
    ck_assert_int_eq(icestream_config_read("a/b.yaml", NULL, 4, NULL, 0, &config, &error),
                     ICESTREAM_E_USAGE);
    icestream_config_destroy(config);
    config = NULL;
    static const char text[] = "detector: { file: none.csv }\n";
    ck_assert_int_eq(
        icestream_config_read("a/b.yaml", text, strlen(text), NULL, 0, &config, &error),
        ICESTREAM_OK);
    ck_assert_int_eq(icestream_session_open(config, NULL, &session, &error), ICESTREAM_E_CONFIG);
    ck_assert_msg(strstr(error.text, "a/none.csv") != NULL, "%s", error.text);
    icestream_config_destroy(config);
}
END_TEST

START_TEST(session_does_not_survive_fork)
{
    const icestream_step step = run_folder_bright(0, 1000);
    icestream_session *session = session_open_plain();
    const icestream_submission work = session_work(&step, 1);
    const uint64_t ticket = session_submit(session, &work);
    uint64_t count;
    int ended = 1;
    const pid_t child = fork();
    if (child == 0) {
        refuse_everything(session, 0);
        icestream_session_destroy(session);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &ended, 0), child);
    ck_assert_int_eq(ended, 0);
    icestream_hits_free(session_take(session, ticket, &count)); /* the parent goes on */
    icestream_session_destroy(session);
}
END_TEST

static size_t count_entries(const char *path)
{
    size_t count = 0;
    DIR *folder = opendir(path);
    ck_assert_ptr_nonnull(folder);
    while (readdir(folder) != NULL) {
        count++;
    }
    closedir(folder);
    return count;
}

/* Memory that the process has touched (B). */
static size_t memory(void)
{
    size_t pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%zu %zu", &pages, &resident), 2);
    fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* A sanitizer keeps freed memory for a while, and finds leaks in its own way. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_INSTRUMENTED true
#elif defined(__has_feature)
#define IS_INSTRUMENTED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define IS_INSTRUMENTED false
#endif

/* ICESTREAM_TEST_SESSIONS: how many; the long test of the same name sets it. */
START_TEST(sessions_leave_nothing_behind)
{
    const char *given = getenv("ICESTREAM_TEST_SESSIONS");
    const long sessions = given != NULL ? strtol(given, NULL, 10) : SESSIONS;
    const icestream_step step = run_folder_bright(0, 200);
    const icestream_submission work = session_work(&step, 1);
    icestream_config *config = session_config((const char *[]){NULL});
    size_t descriptors = 0, before = 0;
    for (long i = 0; i < sessions; ++i) {
        icestream_session *session = NULL;
        uint64_t count;
        ck_assert_int_eq(icestream_session_open(config, NULL, &session, NULL), ICESTREAM_OK);
        const uint64_t ticket = session_submit(session, &work);
        if (i % 2 == 0) { /* else the session is destroyed while it works */
            icestream_hits_free(session_take(session, ticket, &count));
        }
        icestream_session_destroy(session);
        if (i == WARM_UP) {
            descriptors = count_entries("/proc/self/fd");
            before = memory();
        }
    }
    ck_assert_uint_eq(count_entries("/proc/self/fd"), descriptors);
    ck_assert(threads_end("session"));
    ck_assert(threads_end("compute"));
    /* A leak of 1 kB per session is 10 MB of 10,000. */
    ck_assert_msg(IS_INSTRUMENTED || memory() < before + (4u << 20), "%zu B before, %zu B after",
                  before, memory());
    icestream_config_destroy(config);
}
END_TEST

ICS_TEST_MAIN("session_hostile")
{
    TCase *calls = tcase_create("calls");
    tcase_add_test(calls, wrong_submissions_are_errors);
    tcase_add_test(calls, longer_structs_are_understood);
    tcase_add_test(calls, null_and_unknown_tickets_are_errors);
    tcase_add_test(calls, wrong_openings_are_errors);
    tcase_add_test(calls, session_does_not_survive_fork);
    suite_add_tcase(suite, calls);
    TCase *many = tcase_create("many");
    tcase_set_timeout(many, 3600);
    tcase_add_test(many, sessions_leave_nothing_behind);
    suite_add_tcase(suite, many);
}
