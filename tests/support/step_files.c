#include "tests/support/step_files.h"

#include "pipeline/files/table_writer.h"

#include <check.h>
#include <string.h>

is_step step_file_good(uint64_t event, uint32_t step)
{
    return (is_step){.x = 1,
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

void step_file_write(const char *path, const is_step *steps, size_t count)
{
    is_table_writer *writer = NULL;
    is_error error = {.text = ""};
    ck_assert_msg(is_table_writer_create(path, is_schema_steps(), true, &writer, &error) == 0, "%s",
                  error.text);
    ck_assert_int_eq(is_table_writer_append(writer, steps, count, &error), 0);
    ck_assert_msg(is_table_writer_commit(writer, NULL, &error) == 0, "%s", error.text);
    is_table_writer_destroy(writer);
}

int step_file_check(const char *path, is_step_summary *summary, is_error *error)
{
    is_step_reader *reader = NULL;
    *error = (is_error){.text = ""};
    int status = is_step_reader_open(path, STEP_FILE_SPECTRA, &reader, error);
    if (status == 0)
        status = is_step_reader_check(reader, summary, NULL, error);
    is_step_reader_destroy(reader);
    return status;
}

void step_file_refuse(const char *path, const char *expected)
{
    is_step_summary summary;
    is_error error;
    ck_assert_msg(step_file_check(path, &summary, &error) == IS_E_INPUT, "accepted, expected '%s'",
                  expected);
    ck_assert_int_eq(error.status, IS_E_INPUT);
    ck_assert_int_eq(is_status_exit(error.status), 3);
    ck_assert_msg(strncmp(error.text, path, strlen(path)) == 0, "no file name in '%s'", error.text);
    ck_assert_msg(strstr(error.text, expected) != NULL, "found '%s', expected '%s'", error.text,
                  expected);
}
