/* The configuration of steps that a session makes, and the record of the light of others. */
#include "base/error.h"
#include "pipeline/photons/models/light_record.h"
#include "pipeline/photons/session/state.h"

#include <string.h>

/* Ice, detector, light and device belong to the whole session. */
static int check_set(const char *set, icestream_error *error)
{
    if (set == NULL) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "submission.sets: found NULL, expected KEY=VALUE");
    }
    if (strncmp(set, "particles.", 10) == 0 || strncmp(set, "workload.", 9) == 0) {
        return ICESTREAM_OK;
    }
    return ics_error_set(error, ICESTREAM_E_CONFIG,
                         "--set %s: error: found a key of the whole session, expected a key of "
                         "particles or workload",
                         set);
}

int ics_session_light(const icestream_session *session, const char *const *sets, size_t set_count,
                      icestream_config **out, icestream_error *error)
{
    for (size_t i = 0; i < set_count; ++i) {
        ICS_TRY(check_set(sets[i], error));
    }
    ICS_TRY(ics_config_derive(session->config, "--set", sets, set_count, out, error));
    const int status = ics_config_check_light(*out, "icestream_session_submit", error);
    if (status != ICESTREAM_OK) {
        icestream_config_destroy(*out);
        *out = NULL;
    }
    return status;
}

/* Whether this is the first time, for notes that a session has once. */
static bool is_first(icestream_session *session, bool *noted)
{
    pthread_mutex_lock(&session->lock);
    const bool first = !*noted;
    *noted = true;
    pthread_mutex_unlock(&session->lock);
    return first;
}

/* Whether the photons of a step count as thinned. */
static bool has_thinned(const icestream_submission *given)
{
    for (uint64_t i = 0; i < given->step_count; ++i) {
        if (given->steps[i].photons > 0 &&
            (given->steps[i].flags & ICESTREAM_STEP_NOT_THINNED) == 0) {
            return true;
        }
    }
    return false;
}

static void note_no_record(icestream_session *session, const char *name)
{
    char text[512];
    if (is_first(session, &session->noted_no_record)) {
        ics_session_note(session,
                         "warning: %s: no record of their light: numbers of photons are taken as "
                         "those after thinning for %s, unless a step says that it is not thinned "
                         "(files.md 2.5)",
                         name, ics_light_record_assumed(session->record, text, sizeof text));
    }
}

int ics_session_judge_light(icestream_session *session, const icestream_submission *given,
                            const char *name, icestream_error *error)
{
    json_auto_t *accepted = NULL, *steps = NULL;
    if (given->light == NULL) {
        if (has_thinned(given)) {
            note_no_record(session, name);
        }
        return ICESTREAM_OK;
    }
    steps = json_loads(given->light, JSON_REJECT_DUPLICATES, NULL);
    if (!json_is_object(steps)) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: light: found '%.60s', expected the record of light that "
                             "icestream generate writes, as JSON",
                             name, given->light);
    }
    const int status =
        ics_light_record_judge(session->config, session->record, name, steps, &accepted, error);
    if (accepted != NULL && is_first(session, &session->noted_mismatch)) {
        ics_session_note(session,
                         "warning: %s: the light of these steps was made for other settings than "
                         "those of this session, which source.light_mismatch accepts",
                         name);
    }
    return status;
}
