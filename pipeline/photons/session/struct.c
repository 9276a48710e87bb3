#include "pipeline/photons/session/struct.h"

#include "base/error.h"

#include <inttypes.h>
#include <string.h>

/* Larger than any struct of a later version. */
enum { SIZE_MOST = 4096 };

static uint32_t size_of(const void *given)
{
    uint32_t size;
    memcpy(&size, given, sizeof size);
    return size;
}

int ics_session_check_out(const char *name, const void *given, uint32_t size,
                          icestream_error *error)
{
    if (given == NULL) {
        return ics_error_set(error, ICESTREAM_E_USAGE, "%s: found NULL, expected a struct", name);
    }
    if (size_of(given) < size || size_of(given) > SIZE_MOST) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "%s.size: found %" PRIu32 ", expected sizeof of the struct, %" PRIu32,
                             name, size_of(given), size);
    }
    return ICESTREAM_OK;
}

int ics_session_copy_in(const char *name, const void *given, uint32_t least, uint32_t size,
                        void *out, icestream_error *error)
{
    ICS_TRY(ics_session_check_out(name, given, least, error));
    for (uint32_t i = size; i < size_of(given); ++i) {
        if (((const char *)given)[i] != 0) {
            return ics_error_set(error, ICESTREAM_E_USAGE,
                                 "%s: found a member that this version of the library, %s, does "
                                 "not know, expected 0 behind the first %" PRIu32 " bytes",
                                 name, ICESTREAM_VERSION, size);
        }
    }
    memset(out, 0, size);
    memcpy(out, given, size_of(given) < size ? size_of(given) : size);
    return ICESTREAM_OK;
}

void ics_session_copy_out(const void *filled, uint32_t size, void *out)
{
    const uint32_t room = size_of(out);
    memcpy(out, filled, size);
    memset((char *)out + size, 0, room - size);
    memcpy(out, &room, sizeof room);
}
