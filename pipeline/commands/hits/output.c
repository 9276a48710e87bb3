#include "pipeline/commands/hits/output.h"

#include "base/disk.h"
#include "base/terminal.h"
#include "pipeline/photons/files/output.h"

#include <string.h>

int ics_hits_output_check(const char *command, const char *output, const char *const *inputs,
                          size_t count, icestream_error *error)
{
    if (output == NULL) {
        return ics_error_set(error, ICESTREAM_E_USAGE, "%s: expected --output FILE", command);
    }
    if (strcmp(output, "-") == 0) {
        return ics_terminal_check_output("--output", error);
    }
    for (size_t i = 0; i < count; ++i) {
        if (inputs[i] != NULL && ics_disk_is_same_file(inputs[i], output)) {
            return ics_error_set(error, ICESTREAM_E_USAGE,
                                 "--output: found %s, which is an input, expected another name",
                                 output);
        }
    }
    return ics_output_check_ending("--output", output, ".npy", error);
}
