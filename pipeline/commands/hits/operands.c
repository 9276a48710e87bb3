#include "pipeline/commands/hits/operands.h"

#include "base/error.h"
#include "pipeline/photons/replay/hit_list.h"

#include <string.h>

static bool is_hit_file(const char *path)
{
    const size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".npy") == 0;
}

int ics_hits_operands_read(const ics_arguments *given, icestream_config **out, int *first,
                           icestream_error *error)
{
    const char *begin = given->operands[0];
    char **settings = NULL;
    size_t count = 0;
    *first = is_hit_file(begin) ? 0 : 1;
    if (*first == given->operand_count) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "found no hit file after %s, expected at least one", begin);
    }
    if (*first == 1) {
        return ics_command_load(given, begin, NULL, 0, out, error);
    }
    ICS_TRY(ics_hit_settings(begin, &settings, &count, error));
    const int status =
        ics_command_load(given, NULL, (const char *const *)settings, count, out, error);
    ics_hit_settings_free(settings, count);
    return status;
}
