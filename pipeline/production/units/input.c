/* What is known about the input of a unit: the digest of its step file, which may become known only
 * when the file has been read; whether its light was made with the settings of the run (files.md
 * 2.5), and whether there is any; and notices for the log. */
#include "base/error.h"
#include "base/new.h"
#include "pipeline/photons/models/light_record.h"
#include "pipeline/production/units/unit.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int ics_unit_await_digest(ics_unit *unit, const atomic_bool *cancel, icestream_error *error)
{
    if (ics_unit_has_digest(unit)) {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_step_reader_await_digest(unit->work->reader, cancel, unit->summary.digest, error));
    atomic_store_explicit(&unit->digest_due, false, memory_order_release);
    return ICESTREAM_OK;
}

int ics_unit_change_digest(ics_unit *unit, icestream_error *error)
{
    ics_unit_work *work = unit->work;
    if (work->other_digest[0] == '\0') {
        ICS_TRY(ics_step_reader_plain_digest(work->reader, &unit->common->stop, work->other_digest,
                                             error));
    }
    char before[ICS_PARTS_DIGEST_TEXT];
    memcpy(before, unit->summary.digest, sizeof before);
    memcpy(unit->summary.digest, work->other_digest, sizeof before);
    memcpy(work->other_digest, before, sizeof before);
    return ICESTREAM_OK;
}

bool ics_unit_has_digest(const ics_unit *unit)
{
    return !atomic_load_explicit(&unit->digest_due, memory_order_acquire);
}

int ics_unit_origin(const ics_unit *unit, json_t **out, icestream_error *error)
{
    ICS_TRY(ics_origin_metadata(&unit->common->origin, unit->summary.digest, out, error));
    const int status = ics_origin_add_light(*out, unit->light_settings, error);
    if (status != ICESTREAM_OK) {
        json_decref(*out);
        *out = NULL;
    }
    return status;
}

int ics_unit_check_light(ics_unit *unit, icestream_error *error)
{
    const ics_unit_common *common = unit->common;
    const json_t *record = ics_step_reader_light(unit->work->reader);
    unit->work->no_record = record == NULL && !ics_step_reader_awaits_trailer(unit->work->reader);
    json_decref(unit->light_mismatch);
    unit->light_mismatch = NULL;
    return ics_light_record_judge(common->config, common->light, unit->name, record,
                                  &unit->light_mismatch, error);
}

int ics_unit_check_late_light(ics_unit *unit, icestream_error *error)
{
    const ics_unit_common *common = unit->common;
    const bool awaited = ics_step_reader_awaits_trailer(unit->work->reader);
    const json_t *record = ics_step_reader_late_light(unit->work->reader);
    unit->work->no_record = awaited && record == NULL;
    if (!awaited) {
        return ICESTREAM_OK;
    }
    return ics_light_record_judge(common->config, common->light, unit->name, record,
                                  &unit->light_mismatch, error);
}

void ics_unit_leave_notice(ics_unit *unit, const char *format, ...)
{
    char *text = NULL;
    va_list values;
    va_start(values, format);
    if (vasprintf(&text, format, values) < 0) {
        ics_new_fail();
    }
    va_end(values);
    char *earlier = atomic_exchange(&unit->notice, NULL);
    if (earlier != NULL) {
        char *both = ics_new_text("%s; %s", earlier, text);
        free(earlier);
        free(text);
        text = both;
    }
    free(atomic_exchange(&unit->notice, text));
}

char *ics_unit_next_notice(ics_unit *unit)
{
    return atomic_exchange(&unit->notice, NULL);
}
