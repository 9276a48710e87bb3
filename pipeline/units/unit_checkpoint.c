/* What reading (unit_saving.c) and writing (unit_records.c) the checkpoint of a unit have in
 * common.
 *
 * No checkpoint is needed for a result. If one cannot be read or written, the unit leaves a notice
 * for the log and is computed without it. */
#include "base/error.h"
#include "pipeline/units/unit.h"

#include <stdarg.h>
#include <stdlib.h>

/* ---- notices --------------------------------------------------------------------------------- */

void ics_unit_leave_notice(ics_unit *unit, const char *format, ...)
{
    char *text = NULL, *both = NULL;
    va_list values;
    va_start(values, format);
    int length = vasprintf(&text, format, values);
    va_end(values);
    if (length < 0) {
        return;
    }
    char *earlier = atomic_exchange(&unit->notice, NULL);
    if (earlier != NULL && asprintf(&both, "%s; %s", earlier, text) >= 0) {
        free(text);
        text = both;
    }
    free(earlier);
    free(atomic_exchange(&unit->notice, text));
}

char *ics_unit_next_notice(ics_unit *unit)
{
    return atomic_exchange(&unit->notice, NULL);
}

/* ---- origin and removal ---------------------------------------------------------------------- */

int ics_unit_checkpoint_origin(const ics_unit *unit, json_t **out, icestream_error *error)
{
    const char *content = unit->common->content;
    ICS_TRY(ics_unit_origin(unit, out, error));
    if (content != NULL && json_object_set_new(*out, "content", json_string(content)) != 0) {
        json_decref(*out);
        *out = NULL;
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for metadata");
    }
    return ICESTREAM_OK;
}

void ics_unit_remove_checkpoint(ics_unit *unit)
{
    icestream_error error = {.status = ICESTREAM_OK};
    if (unit->checkpoint != NULL &&
        ics_checkpoint_remove(unit->checkpoint, &error) != ICESTREAM_OK) {
        ics_unit_leave_notice(unit, "%s", error.text);
    }
}

void ics_unit_remove_records(ics_unit *unit)
{
    icestream_error error = {.status = ICESTREAM_OK};
    if (ics_checkpoint_remove_records(unit->checkpoint, &error) != ICESTREAM_OK) {
        ics_unit_leave_notice(unit, "%s", error.text);
    }
}
