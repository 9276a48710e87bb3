/* icestream_convert: hits in .npy as text. The endings of the file names decide. */
#include "base/error.h"
#include "base/replaced.h"
#include "pipeline/photons/files/hit_csv.h"
#include "pipeline/photons/files/hit_text.h"

#include <string.h>

static const char *ending_of(const char *path)
{
    const char *name = strrchr(path, '/');
    const char *ending = strrchr(name != NULL ? name : path, '.');
    return ending != NULL ? ending : "";
}

/* Refuses a file that convert does not read or write. */
static int refuse(const char *path, const char *expected, icestream_error *error)
{
    char left[256];
    return ics_replaced_say(left, sizeof left, "the ending %.40s of convert", ending_of(path))
               ? ics_error_set(error, ICESTREAM_E_USAGE, "%s: %s", path, left)
               : ics_error_set(error, ICESTREAM_E_USAGE, "%s: found an unknown ending, expected %s",
                               path, expected);
}

int icestream_convert_with(const char *from, const char *to,
                           const icestream_convert_options *options, icestream_error *error)
{
    const bool is_stream = strcmp(to, "-") == 0;
    const char *format = options->format != NULL ? options->format : "txt";
    const char *ending = is_stream ? format : ending_of(to) + (*ending_of(to) == '.');
    if (strcmp(from, "-") != 0 && strcmp(ending_of(from), ".npy") != 0) {
        return refuse(from, ".npy", error);
    }
    if (strcmp(ending, "txt") == 0) {
        return ics_hit_text_export(from, to, options->force, error);
    }
    return strcmp(ending, "csv") == 0 ? ics_hit_csv_export(from, to, options->force, error)
                                      : refuse(to, ".txt or .csv", error);
}

int icestream_convert(const char *from, const char *to, bool force, icestream_error *error)
{
    const icestream_convert_options options = {.force = force};
    return icestream_convert_with(from, to, &options, error);
}
