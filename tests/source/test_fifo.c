/* Promises of named pipes as streams of step messages: a reader without a writer does not block the
 * process, writers may follow one another, and an incomplete message is an error. How to join: open
 * the pipe with open_reader(), start writers, and call read_messages(). */
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

/* What every test has: a named pipe without writers, and a message that can be written into it. */
static struct {
    scratch place;
    char path[SCRATCH_PATH];  /* the pipe */
    char steps[SCRATCH_PATH]; /* a step file */
    int wake;                 /* an event descriptor: stops the readers */
    unsigned char *bytes;     /* the message, without a trailer */
    size_t size;
} test;

/* The results of the last read. */
static icestream_error error;
static unsigned messages;

static void set_up(void)
{
    test.place = scratch_create();
    test.wake = eventfd(0, EFD_CLOEXEC);
    icestream_step steps[3];
    for (uint32_t i = 0; i < 3; ++i) {
        steps[i] = step_file_good(1, i);
    }
    ck_assert_int_ge(test.wake, 0);
    ck_assert_int_eq(mkfifo(scratch_path(&test.place, "pipe", test.path), 0600), 0);
    step_file_write(scratch_path(&test.place, "a.steps.npy", test.steps), steps, 3);
    test.bytes = scratch_read(test.steps, &test.size);
    test.size = STEP_FILE_HEADER + 3 * sizeof(icestream_step);
}

static void tear_down(void)
{
    free(test.bytes);
    close(test.wake);
    scratch_remove(&test.place);
}

/* Opens the pipe for reading. */
static int open_reader(void)
{
    int descriptor = -1;
    ck_assert_int_eq(ics_fifo_open(test.path, &descriptor, NULL), ICESTREAM_OK);
    return descriptor;
}

/* A writer on another thread, because opening the pipe waits for the reader. */
typedef struct a_writer {
    size_t size; /* number of bytes of the message to write, */
    int repeats; /* this number of times */
    pthread_t thread;
} a_writer;

static void *write_messages(void *argument)
{
    const a_writer *writer = argument;
    int descriptor = open(test.path, O_WRONLY | O_CLOEXEC);
    ck_assert_int_ge(descriptor, 0);
    for (int i = 0; i < writer->repeats; ++i) {
        size_t sent = 0;
        while (sent < writer->size) {
            ssize_t count = write(descriptor, test.bytes + sent, writer->size - sent);
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

/* Reads messages to the end of the stream and adds their number to `messages`. Returns the status.
 */
static int read_messages(int descriptor)
{
    icestream_step steps[8];
    bool found = true;
    ics_step_reader *reader = NULL;
    int status = ics_step_reader_open_stream(descriptor, "pipe", STEP_FILE_SPECTRA, test.wake,
                                             &reader, &error);
    while (status == ICESTREAM_OK && found) {
        status = ics_step_reader_next(reader, &found, &error);
        for (size_t got = found; status == ICESTREAM_OK && got > 0;) {
            status = ics_step_reader_read(reader, steps, 8, &got, &error);
        }
        messages += status == ICESTREAM_OK && found;
    }
    ics_step_reader_destroy(reader);
    return status;
}

START_TEST(test_stream_waits_for_its_writer_and_ends_with_it)
{
    int descriptor = open_reader();
    /* Without a writer the stream does not end. */
    struct pollfd idle = {.fd = descriptor, .events = POLLIN};
    ck_assert_int_eq(poll(&idle, 1, 50), 0);

    a_writer writer = {.size = test.size, .repeats = 3};
    start_writer(&writer);
    ck_assert_msg(read_messages(descriptor) == ICESTREAM_OK, "%s", error.text);
    ck_assert_uint_eq(messages, 3);
    pthread_join(writer.thread, NULL);
    close(descriptor);
}
END_TEST

/* The descriptor for the next writer is opened before the old one is closed. */
START_TEST(test_one_writer_after_the_other)
{
    int descriptor = open_reader();
    for (unsigned round = 0; round < 20; ++round) {
        a_writer writer = {.size = test.size, .repeats = 1};
        start_writer(&writer);
        ck_assert_msg(read_messages(descriptor) == ICESTREAM_OK, "%s", error.text);
        pthread_join(writer.thread, NULL);
        ck_assert_uint_eq(messages, round + 1);
        int next = open_reader();
        close(descriptor);
        descriptor = next;
        struct pollfd idle = {.fd = descriptor, .events = POLLIN};
        /* The end of the last writer does not end this stream. */
        ck_assert_int_eq(poll(&idle, 1, 0), 0);
    }
    close(descriptor);
}
END_TEST

START_TEST(test_half_a_message)
{
    a_writer writer = {.size = test.size - 1, .repeats = 1};
    int descriptor = open_reader();
    start_writer(&writer);
    ck_assert_int_eq(read_messages(descriptor), ICESTREAM_E_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "expected 1 bytes more of the rows"));
    pthread_join(writer.thread, NULL);
    close(descriptor);
}
END_TEST

START_TEST(test_stopped_without_a_writer)
{
    const uint64_t one = 1;
    int descriptor = open_reader();
    ck_assert_int_eq(write(test.wake, &one, sizeof one), sizeof one);
    ck_assert_int_eq(read_messages(descriptor), ICESTREAM_E_INTERRUPTED);
    close(descriptor);
}
END_TEST

START_TEST(test_no_pipe)
{
    int descriptor = 0;
    char path[SCRATCH_PATH];
    ck_assert_int_eq(ics_fifo_open(test.steps, &descriptor, &error), ICESTREAM_E_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "a.steps.npy: found no pipe"));
    ck_assert_int_eq(descriptor, -1);
    ck_assert_int_eq(ics_fifo_open(scratch_path(&test.place, "none", path), &descriptor, &error),
                     ICESTREAM_E_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "none: cannot open: No such file"));
}
END_TEST

ICS_TEST_MAIN("fifo")
{
    TCase *tests = tcase_create("fifo");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, test_stream_waits_for_its_writer_and_ends_with_it);
    tcase_add_test(tests, test_one_writer_after_the_other);
    tcase_add_test(tests, test_half_a_message);
    tcase_add_test(tests, test_stopped_without_a_writer);
    tcase_add_test(tests, test_no_pipe);
    suite_add_tcase(suite, tests);
}
