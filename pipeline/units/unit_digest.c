/* The digest of a step file, which may become known only when the file has been read. */
#include "base/error.h"
#include "pipeline/units/unit.h"

int ics_unit_await_digest(ics_unit *unit, const atomic_bool *cancel, icestream_error *error)
{
    if (ics_unit_has_digest(unit)) {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_step_reader_await_digest(unit->work->reader, cancel, unit->summary.digest, error));
    atomic_store_explicit(&unit->digest_due, false, memory_order_release);
    return ICESTREAM_OK;
}

bool ics_unit_has_digest(const ics_unit *unit)
{
    return !atomic_load_explicit(&unit->digest_due, memory_order_acquire);
}
