#include "tests/support/step_files.h"

#include "pipeline/photons/files/table_writer.h"

#include <check.h>
#include <string.h>

icestream_step step_file_good(uint64_t event, uint32_t step)
{
    return (icestream_step){.x = 1,
                            .y = (float)(step % 100),
                            .z = -500,
                            .t = 10,
                            .dx = 0.6f,
                            .dz = 0.8f,
                            .length = 1,
                            .beta = 1,
                            .weight = 1,
                            .photons = 200,
                            .source_id = 7,
                            .event_id = event,
                            .step_id = step,
                            .kind = 1};
}

void step_file_write(const char *path, const icestream_step *steps, size_t count)
{
    ics_table_writer *writer = NULL;
    icestream_error error = {.text = ""};
    ck_assert_msg(ics_table_writer_create(path, ics_layout_steps(), true, &writer, &error) == 0,
                  "%s", error.text);
    ck_assert_int_eq(ics_table_writer_append(writer, steps, count, &error), 0);
    ck_assert_msg(ics_table_writer_commit(writer, NULL, &error) == 0, "%s", error.text);
    ics_table_writer_destroy(writer);
}

int step_file_check(const char *path, ics_step_summary *summary, icestream_error *error)
{
    ics_step_reader *reader = NULL;
    *error = (icestream_error){.text = ""};
    int status = ics_step_reader_open(path, STEP_FILE_SPECTRA, &reader, error);
    if (status == 0) {
        status = ics_step_reader_check(reader, summary, NULL, error);
    }
    ics_step_reader_destroy(reader);
    return status;
}

void step_file_refuse(const char *path, const char *expected)
{
    ics_step_summary summary;
    icestream_error error;
    ck_assert_msg(step_file_check(path, &summary, &error) == ICESTREAM_E_INPUT,
                  "accepted, expected '%s'", expected);
    ck_assert_int_eq(error.status, ICESTREAM_E_INPUT);
    ck_assert_int_eq(icestream_status_exit(error.status), 3);
    ck_assert_msg(strncmp(error.text, path, strlen(path)) == 0, "no file name in '%s'", error.text);
    ck_assert_msg(strstr(error.text, expected) != NULL, "found '%s', expected '%s'", error.text,
                  expected);
}
