/* What reading (unit_saving.c) and writing (unit_records.c) the checkpoint of a unit have in
 * common.
 *
 * No checkpoint is needed for a result. If one cannot be read or written, the unit leaves a notice
 * for the log and is computed without it. */
#include "base/error.h"
#include "base/new.h"
#include "pipeline/units/unit.h"

#include <stdarg.h>
#include <stdlib.h>

/* ---- notices --------------------------------------------------------------------------------- */

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

/* ---- origin and removal ---------------------------------------------------------------------- */

int ics_unit_checkpoint_origin(const ics_unit *unit, json_t **out, icestream_error *error)
{
    ICS_TRY(ics_unit_origin(unit, out, error));
    if (unit->common->content != NULL) {
        ics_new_member(*out, "content", json_string(unit->common->content));
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
