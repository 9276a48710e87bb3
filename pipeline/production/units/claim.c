/* The claim of a unit, what its file and its output are at the moment, and the lines of the journal
 * about the unit. */
#include "base/clock.h"
#include "base/error.h"
#include "base/url.h"
#include "pipeline/production/units/command_pending.h"
#include "pipeline/production/units/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { YOUNG_SECONDS = 1 }; /* a bad file that changed later than this may still be written */

void ics_unit_look_for_claim(ics_unit *unit)
{
    unit->work->lost =
        unit->claim.name != NULL && !ics_claims_holds(unit->common->claims, &unit->claim);
}

/* If the time cannot be asked for, the file does not count as young. */
void ics_unit_judge_age(ics_unit *unit, int status)
{
    icestream_error ignored = {.status = ICESTREAM_OK};
    double age = HUGE_VAL;
    if (status == ICESTREAM_E_INPUT && unit->claim.name != NULL) {
        ics_claims_look_again(unit->common->claims, &unit->claim, &age, &ignored);
    }
    unit->work->young = age < YOUNG_SECONDS;
}

void ics_unit_look_for_command(ics_unit *unit)
{
    const ics_unit_work *work = unit->work;
    if (work->matches && ics_config_delivers(unit->common->config)) {
        unit->command_pending =
            ics_command_pending_has(work->found_in != NULL ? work->found_in : unit->output);
    }
}

ics_event ics_unit_report(const ics_unit *unit, ics_event_kind kind)
{
    const bool has_digest = ics_unit_has_digest(unit) && unit->summary.digest[0] != '\0';
    return (ics_event){.kind = kind,
                       .file = unit->name,
                       .output = unit->output,
                       .input_digest = has_digest ? unit->summary.digest : NULL,
                       .output_digest = unit->output_digest[0] != '\0' ? unit->output_digest : NULL,
                       .output_bytes = unit->output_bytes,
                       .photons = unit->account.created,
                       .hits = unit->account.hits,
                       .seconds = ics_clock_unix() - unit->arrived,
                       .attempt = unit->claim.attempt,
                       .reason = unit->refusal};
}

ics_event_kind ics_unit_refusal_kind(const ics_unit *unit)
{
    const ics_source *source = unit->input->source;
    return source->makes && source->repeats ? ICS_EVENT_REFUSED : ICS_EVENT_QUARANTINED;
}

void ics_unit_append_line(const ics_unit *unit, ics_event_kind kind, const char *output)
{
    ics_event event = ics_unit_report(unit, kind);
    event.output = output;
    ics_run_journal_append(unit->common->journal, &event);
}

/* The results of a queue say where the hits are, and what their SHA-256 is. */
static int end_done(ics_unit *unit, bool *held, icestream_error *error)
{
    ics_unit_common *common = unit->common;
    const icestream_config *config = common->config;
    icestream_error ignored = {.status = ICESTREAM_OK};
    char shown[ICS_URL_MOST + 1], *url = NULL;
    unit->claim.output = unit->output;
    unit->claim.output_digest = unit->output_digest;
    if (config->source.queue != NULL && unit->output != NULL) {
        const char *slash = strrchr(unit->output, '/');
        url = config->sink.url != NULL
                  ? ics_url_fill(config->sink.url, slash != NULL ? slash + 1 : unit->output)
                  : NULL;
        unit->claim.output = url != NULL ? ics_url_shown(url, shown) : unit->output;
        if (unit->output_digest[0] == '\0') { /* the hit file was there already */
            ics_output_digest_in_parts(unit->output, unit->output_digest, &ignored);
        }
    }
    const int status = ics_claims_done(common->claims, &unit->claim, common->after, held, error);
    free(url);
    return status;
}

static int end_claim(ics_unit *unit, bool *held, icestream_error *error)
{
    ics_unit_common *common = unit->common;
    const char *reason = unit->refusal != NULL ? unit->refusal : "no memory for the reason";
    switch (unit->result) {
    case ICS_RESULT_DONE:
    case ICS_RESULT_SKIPPED:
        return end_done(unit, held, error);
    case ICS_RESULT_QUARANTINED:
        return ics_claims_fail(common->claims, &unit->claim, reason, held, error);
    default:
        return ics_claims_give_back(common->claims, &unit->claim, held, error);
    }
}

int ics_unit_end_claim(ics_unit *unit, bool *held, icestream_error *error)
{
    *held = true;
    const bool delivered = unit->result == ICS_RESULT_DONE || unit->result == ICS_RESULT_SKIPPED;
    if (delivered && unit->command_pending) {
        ICS_TRY(ics_command_pending_remove(unit->output, error));
    }
    int status = unit->claim.name != NULL ? end_claim(unit, held, error) : ICESTREAM_OK;
    if (status == ICESTREAM_OK && unit->input->url != NULL) {
        unlink(unit->input->path); /* the fetched copy; what is left goes with its folder */
    }
    bool ended = status == ICESTREAM_OK && *held;
    if (ended && unit->result == ICS_RESULT_SKIPPED) {
        ics_unit_append_line(unit, ICS_EVENT_SKIPPED, unit->output);
    } else if (ended && unit->result == ICS_RESULT_QUARANTINED) {
        ics_unit_append_line(unit, ics_unit_refusal_kind(unit), NULL);
    } else if (ended && !delivered && unit->claim.name != NULL) {
        ics_unit_append_line(unit, ICS_EVENT_GIVEN_BACK, NULL);
    }
    return status;
}
