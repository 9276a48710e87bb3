#include "pipeline/session/step_array.h"

#include "base/error.h"
#include "pipeline/files/format/key_runs.h"
#include "pipeline/files/format/step_check.h"

#include <inttypes.h>

/* Finds the row in which a key appears for the second time. */
static int locate_duplicate(const icestream_step *steps, size_t count, const ics_key_run *key,
                            const char *name, icestream_error *error)
{
    size_t rows[2] = {0, 0};
    int found = 0;
    for (size_t i = 0; i < count && found < 2; ++i) {
        if (steps[i].event_id == key->event_id && steps[i].step_id == key->first) {
            rows[found++] = i;
        }
    }
    return ics_step_check_duplicate(name, &steps[rows[0]], rows[1], rows[0], error);
}

static int check_unique(const icestream_step *steps, size_t count, const char *name,
                        icestream_error *error)
{
    ics_key_runs runs = {0};
    ics_key_run key;
    int status = ics_key_runs_add(&runs, steps, count, error);
    if (status == ICESTREAM_OK && ics_key_runs_find_duplicate(&runs, &key)) {
        status = locate_duplicate(steps, count, &key, name, error);
    }
    ics_key_runs_free(&runs);
    return status;
}

static bool ascends(const icestream_step *before, const icestream_step *next)
{
    return (next->event_id > before->event_id) |
           ((next->event_id == before->event_id) & (next->step_id > before->step_id));
}

int ics_step_array_check(const icestream_step *steps, size_t count, uint32_t spectrum_count,
                         const char *name, uint64_t *photons, icestream_error *error)
{
    bool ascending = true;
    uint64_t sum = 0;
    *photons = 0;
    ICS_TRY(ics_step_check(steps, count, spectrum_count, name, 0, error));
    for (size_t i = 0; i < count; ++i) {
        ascending = ascending && (i == 0 || ascends(&steps[i - 1], &steps[i]));
        sum += steps[i].photons;
        ICS_TRY(ics_step_check_total(name, i, sum, error));
    }
    *photons = sum;
    return ascending ? ICESTREAM_OK : check_unique(steps, count, name, error);
}
