/* Named pipes as streams of step messages: nobody waits where nobody writes, writers may come one
 * after the other, and what a writer leaves half is told. */
#include "pipeline/files/step_reader.h"
#include "pipeline/source/fifo.h"
#include "tests/support/scratch_files.h"
#include "tests/support/step_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct a_pipe {
    scratch place;
    char path[SCRATCH_PATH], steps[SCRATCH_PATH];
    int wake;
    unsigned char *bytes; /* a message */
    size_t size;
} a_pipe;

static a_pipe open_pipe(void)
{
    a_pipe test = {.place = scratch_create(), .wake = eventfd(0, EFD_CLOEXEC)};
    icestream_step steps[3];
    for (uint32_t i = 0; i < 3; ++i) {
        steps[i] = step_file_good(1, i);
    }
    ck_assert_int_ge(test.wake, 0);
    ck_assert_int_eq(mkfifo(scratch_path(&test.place, "pipe", test.path), 0600), 0);
    step_file_write(scratch_path(&test.place, "a.steps.npy", test.steps), steps, 3);
    test.bytes = scratch_read(test.steps, &test.size);
    test.size = STEP_FILE_HEADER + 3 * sizeof(icestream_step);
    return test;
}

static void close_pipe(a_pipe *test)
{
    free(test->bytes);
    close(test->wake);
    scratch_remove(&test->place);
}

/* A writer in a thread of its own: opening waits for the reader. */
typedef struct a_writer {
    const a_pipe *pipe;
    size_t size; /* of bytes to write */
    int repeats;
    pthread_t thread;
} a_writer;

static void *write_messages(void *argument)
{
    const a_writer *writer = argument;
    int descriptor = open(writer->pipe->path, O_WRONLY | O_CLOEXEC);
    ck_assert_int_ge(descriptor, 0);
    for (int i = 0; i < writer->repeats; ++i) {
        size_t sent = 0;
        while (sent < writer->size) {
            ssize_t count = write(descriptor, writer->pipe->bytes + sent, writer->size - sent);
            ck_assert_int_gt(count, 0);
            sent += (size_t)count;
        }
    }
    close(descriptor);
    return NULL;
}

static void start_writer(a_writer *writer)
{
    ck_assert_int_eq(pthread_create(&writer->thread, NULL, write_messages, writer), 0);
}

/* Reads all messages to the end of the stream. */
static int read_messages(const a_pipe *test, int descriptor, unsigned *messages,
                         icestream_error *error)
{
    icestream_step steps[8];
    bool found = true;
    ics_step_reader *reader = NULL;
    int status = ics_step_reader_open_stream(descriptor, "pipe", STEP_FILE_SPECTRA, test->wake,
                                             &reader, error);
    while (status == ICESTREAM_OK && found) {
        status = ics_step_reader_next(reader, &found, error);
        for (size_t got = found; status == ICESTREAM_OK && got > 0;) {
            status = ics_step_reader_read(reader, steps, 8, &got, error);
        }
        *messages += status == ICESTREAM_OK && found;
    }
    ics_step_reader_destroy(reader);
    return status;
}

START_TEST(test_waits_for_the_first_writer_and_ends_with_it)
{
    a_pipe test = open_pipe();
    int descriptor = -1;
    ck_assert(ics_fifo_is_fifo(test.path));
    ck_assert(!ics_fifo_is_fifo(test.steps));
    ck_assert_int_eq(ics_fifo_open(test.path, &descriptor, NULL), ICESTREAM_OK);
    /* Nobody writes: no end of the stream either. */
    struct pollfd idle = {.fd = descriptor, .events = POLLIN};
    ck_assert_int_eq(poll(&idle, 1, 50), 0);

    a_writer writer = {.pipe = &test, .size = test.size, .repeats = 3};
    unsigned messages = 0;
    icestream_error error = {.text = ""};
    start_writer(&writer);
    ck_assert_msg(read_messages(&test, descriptor, &messages, &error) == ICESTREAM_OK, "%s",
                  error.text);
    ck_assert_uint_eq(messages, 3);
    pthread_join(writer.thread, NULL);
    close(descriptor);
    close_pipe(&test);
}
END_TEST

/* The descriptor for the next writer is opened before the old one is closed. */
START_TEST(test_one_writer_after_the_other)
{
    a_pipe test = open_pipe();
    int descriptor = -1;
    unsigned messages = 0;
    icestream_error error = {.text = ""};
    ck_assert_int_eq(ics_fifo_open(test.path, &descriptor, NULL), ICESTREAM_OK);
    for (unsigned round = 0; round < 20; ++round) {
        a_writer writer = {.pipe = &test, .size = test.size, .repeats = 1};
        start_writer(&writer);
        ck_assert_msg(read_messages(&test, descriptor, &messages, &error) == ICESTREAM_OK, "%s",
                      error.text);
        pthread_join(writer.thread, NULL);
        ck_assert_uint_eq(messages, round + 1);
        int next = -1;
        ck_assert_int_eq(ics_fifo_open(test.path, &next, NULL), ICESTREAM_OK);
        close(descriptor);
        descriptor = next;
        struct pollfd idle = {.fd = descriptor, .events = POLLIN};
        ck_assert_int_eq(poll(&idle, 1, 0), 0); /* the last writer's end is not this one's */
    }
    close(descriptor);
    close_pipe(&test);
}
END_TEST

START_TEST(test_half_a_message)
{
    a_pipe test = open_pipe();
    int descriptor = -1;
    unsigned messages = 0;
    icestream_error error = {.text = ""};
    a_writer writer = {.pipe = &test, .size = test.size - 1, .repeats = 1};
    ck_assert_int_eq(ics_fifo_open(test.path, &descriptor, NULL), ICESTREAM_OK);
    start_writer(&writer);
    ck_assert_int_eq(read_messages(&test, descriptor, &messages, &error), ICESTREAM_E_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "expected 1 bytes more of the rows"));
    pthread_join(writer.thread, NULL);
    close(descriptor);
    close_pipe(&test);
}
END_TEST

/* After a bad message the rest of its writer is forgotten, and the next writer is heard. */
START_TEST(test_next_writer_after_a_bad_message)
{
    a_pipe test = open_pipe();
    int descriptor = -1, next = -1;
    unsigned messages = 0;
    icestream_error error = {.text = ""};
    a_writer bad = {.pipe = &test, .size = test.size - 1, .repeats = 200}; /* 240 kB: it blocks */
    ck_assert_int_eq(ics_fifo_open(test.path, &descriptor, NULL), ICESTREAM_OK);
    start_writer(&bad);
    ck_assert_int_eq(read_messages(&test, descriptor, &messages, &error), ICESTREAM_E_INPUT);
    ck_assert_uint_eq(messages, 0); /* its last flags have a byte of the next */
    ck_assert_int_eq(ics_fifo_discard("pipe", descriptor, test.wake, &error), ICESTREAM_OK);
    pthread_join(bad.thread, NULL);
    ck_assert_int_eq(ics_fifo_open(test.path, &next, NULL), ICESTREAM_OK);
    close(descriptor);

    a_writer good = {.pipe = &test, .size = test.size, .repeats = 2};
    start_writer(&good);
    messages = 0;
    ck_assert_msg(read_messages(&test, next, &messages, &error) == ICESTREAM_OK, "%s", error.text);
    ck_assert_uint_eq(messages, 2);
    pthread_join(good.thread, NULL);

    const uint64_t one = 1;
    ck_assert_int_eq(ics_fifo_open(test.path, &descriptor, NULL), ICESTREAM_OK);
    int writer = open(test.path, O_WRONLY | O_CLOEXEC);
    ck_assert_int_eq(write(test.wake, &one, sizeof one), sizeof one);
    ck_assert_int_eq(ics_fifo_discard("pipe", descriptor, test.wake, &error),
                     ICESTREAM_E_INTERRUPTED);
    close(writer);
    close(descriptor);
    close(next);
    close_pipe(&test);
}
END_TEST

START_TEST(test_stopped_while_nobody_writes)
{
    a_pipe test = open_pipe();
    int descriptor = -1;
    unsigned messages = 0;
    const uint64_t one = 1;
    icestream_error error = {.text = ""};
    ck_assert_int_eq(ics_fifo_open(test.path, &descriptor, NULL), ICESTREAM_OK);
    ck_assert_int_eq(write(test.wake, &one, sizeof one), sizeof one);
    ck_assert_int_eq(read_messages(&test, descriptor, &messages, &error), ICESTREAM_E_INTERRUPTED);
    close(descriptor);
    close_pipe(&test);
}
END_TEST

START_TEST(test_no_pipe)
{
    a_pipe test = open_pipe();
    int descriptor = 0;
    char path[SCRATCH_PATH];
    icestream_error error = {.text = ""};
    ck_assert_int_eq(ics_fifo_open(test.steps, &descriptor, &error), ICESTREAM_E_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "a.steps.npy: found no pipe"));
    ck_assert_int_eq(descriptor, -1);
    ck_assert_int_eq(ics_fifo_open(scratch_path(&test.place, "none", path), &descriptor, &error),
                     ICESTREAM_E_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "none: cannot open: No such file"));
    ck_assert(!ics_fifo_is_fifo(path));
    close_pipe(&test);
}
END_TEST

ICS_TEST_MAIN("fifo")
{
    TCase *tests = tcase_create("fifo");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, test_waits_for_the_first_writer_and_ends_with_it);
    tcase_add_test(tests, test_one_writer_after_the_other);
    tcase_add_test(tests, test_half_a_message);
    tcase_add_test(tests, test_next_writer_after_a_bad_message);
    tcase_add_test(tests, test_stopped_while_nobody_writes);
    tcase_add_test(tests, test_no_pipe);
    suite_add_tcase(suite, tests);
}
