/* A step file as a source: it is read twice, once by the check and once for the batches. */
#include "base/error.h"
#include "pipeline/photons/models/light_record.h"
#include "pipeline/production/units/hit_path.h"
#include "pipeline/production/units/sources.h"
#include "pipeline/production/units/unit.h"

#include <string.h>

static char *name_output(const icestream_config *config, const ics_input *input, uint64_t message)
{
    (void)message;
    return ics_hit_path_of_file(config, input->path);
}

/* A ticket may say what the SHA-256 of its file is, also of a large one in either form. */
static int check_ticket(ics_unit *unit, icestream_error *error)
{
    const char *expected = unit->claim.sha256;
    if (expected[0] == '\0') {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_unit_await_digest(unit, &unit->common->stop, error));
    const char *found = unit->summary.digest;
    char plain[ICS_PARTS_DIGEST_TEXT];
    if (ics_parts_digest_has_parts(found) && !ics_parts_digest_has_parts(expected)) {
        ICS_TRY(
            ics_step_reader_plain_digest(unit->work->reader, &unit->common->stop, plain, error));
        found = plain;
    }
    return strcmp(expected, found) == 0
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_INPUT,
                               "%s: found a step file with the SHA-256 %s, expected %s, which is "
                               "that of its ticket",
                               unit->name, found, expected);
}

/* Opens the file and reads it to its end. */
static int open_file(ics_unit *unit, icestream_error *error)
{
    ics_unit_common *common = unit->common;
    double age = 0.0;
    unit->work->found = true;
    if (unit->work->again && unit->claim.name != NULL) {
        ICS_TRY(ics_claims_look_again(common->claims, &unit->claim, &age, error));
    }
    int status =
        ics_step_reader_open(unit->input->path, common->spectrum_count, &unit->work->reader, error);
    ics_unit_judge_age(unit, status);
    ICS_TRY(status);
    ICS_TRY(ics_unit_check_light(unit, error));
    status = ics_step_reader_check_rows(unit->work->reader, &unit->summary, &common->stop, error);
    atomic_store(&unit->digest_due, status == ICESTREAM_OK && unit->summary.digest[0] == '\0');
    ics_unit_judge_age(unit, status);
    ICS_TRY(status);
    ICS_TRY(check_ticket(unit, error));
    return ics_light_record_refuse_empty(common->config, unit->name, unit->summary.rows,
                                         unit->summary.photons, error);
}

static int read_file(ics_unit *unit, icestream_step *steps, size_t capacity, size_t *got,
                     icestream_error *error)
{
    ICS_TRY(ics_step_reader_read(unit->work->reader, steps, capacity, got, error));
    return *got > 0 ? ICESTREAM_OK : ics_unit_await_digest(unit, &unit->common->cancel, error);
}

static void close_file(ics_unit *unit)
{
    ics_step_reader_destroy(unit->work->reader);
    unit->work->reader = NULL;
}

const ics_source ics_source_file = {.repeats = true,
                                    .nameless = "step file",
                                    .output = name_output,
                                    .open = open_file,
                                    .read = read_file,
                                    .close = close_file};
