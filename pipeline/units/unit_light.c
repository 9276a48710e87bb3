/* The light of steps: whether it was made with the settings of the run (files.md 2.5), and whether
 * there is any. */
#include "base/error.h"
#include "pipeline/models/light_record.h"
#include "pipeline/units/unit.h"

#include <inttypes.h>

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

/* A step file without light is the mark of a producer that failed. */
int ics_unit_judge_empty(const icestream_config *config, const char *name, uint64_t rows,
                         uint64_t photons, icestream_error *error)
{
    if (photons > 0 || config->source.empty == ICS_EMPTY_ACCEPT) {
        return ICESTREAM_OK;
    }
    return ics_error_set(error, ICESTREAM_E_INPUT,
                         "%s: found %s%" PRIu64 " step%s, expected at least one photon "
                         "(source.empty: accept makes an empty hit file)",
                         name, rows == 0 ? "" : "no photon in ", rows, rows == 1 ? "" : "s");
}
