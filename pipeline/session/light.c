/* The configuration of steps that a session makes. */
#include "base/error.h"
#include "pipeline/session/session_state.h"

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
    ICS_TRY(ics_config_derive(session->config, sets, set_count, out, error));
    const int status = ics_config_check_light(*out, "icestream_session_submit", error);
    if (status != ICESTREAM_OK) {
        icestream_config_destroy(*out);
        *out = NULL;
    }
    return status;
}
