/* icestream_convert: between .npy and HDF5, and from .npy to text. The endings of the file names
 * decide. */
#include "base/error.h"
#include "base/terminal.h"
#include "pipeline/files/hdf5.h"
#include "pipeline/files/hit_text.h"

#include <string.h>

typedef enum layout { LAYOUT_UNKNOWN, LAYOUT_NPY, LAYOUT_HDF5, LAYOUT_TEXT } layout;

static layout layout_of(const char *path)
{
    const char *name = strrchr(path, '/');
    const char *ending = strrchr(name != NULL ? name : path, '.');
    if (ending != NULL && strcmp(ending, ".npy") == 0) {
        return LAYOUT_NPY;
    }
    if (ending != NULL && (strcmp(ending, ".h5") == 0 || strcmp(ending, ".hdf5") == 0)) {
        return LAYOUT_HDF5;
    }
    if (ending != NULL && strcmp(ending, ".txt") == 0) {
        return LAYOUT_TEXT;
    }
    return LAYOUT_UNKNOWN;
}

#if ICS_HAVE_HDF5
static int convert(layout source, const char *from, const char *to, bool force,
                   icestream_error *error)
{
    return source == LAYOUT_NPY ? ics_hdf5_export(from, to, force, error)
                                : ics_hdf5_import(from, to, force, error);
}
#else
static int convert(layout source, const char *from, const char *to, bool force,
                   icestream_error *error)
{
    (void)force;
    return ics_error_set(error, ICESTREAM_E_FAILED,
                         "%s: found an icestream built without HDF5, expected one with it to "
                         "convert %s HDF5 (install libhdf5-dev and build again)",
                         source == LAYOUT_NPY ? to : from, source == LAYOUT_NPY ? "to" : "from");
}
#endif

/* Standard input carries .npy. Standard output takes what the other side can become: the text of
 * hits, or the table of an HDF5 file. */
static layout layout_of_stream(layout other)
{
    return other == LAYOUT_NPY ? LAYOUT_TEXT : LAYOUT_NPY;
}

int icestream_convert(const char *from, const char *to, bool force, icestream_error *error)
{
    const layout source = strcmp(from, "-") == 0 ? LAYOUT_NPY : layout_of(from);
    const layout target = strcmp(to, "-") == 0 ? layout_of_stream(source) : layout_of(to);
    if (source == LAYOUT_NPY && target == LAYOUT_TEXT) {
        return ics_hit_text_export(from, to, force, error);
    }
    const char *unknown = source == LAYOUT_UNKNOWN || source == LAYOUT_TEXT   ? from
                          : target == LAYOUT_UNKNOWN || target == LAYOUT_TEXT ? to
                                                                              : NULL;
    if (unknown != NULL) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "%s: found an unknown ending, expected .npy, .h5 or "
                             ".hdf5 (or, of the hits in a .npy file, .txt, and with --waveforms "
                             ".csv)",
                             unknown);
    }
    if (source == target) {
        return ics_error_set(
            error, ICESTREAM_E_USAGE,
            "%s and %s: found the same kind of file twice, expected .npy and .h5 or "
            ".hdf5%s",
            from, to, strcmp(from, "-") == 0 ? " (standard input carries .npy)" : "");
    }
    if (strcmp(to, "-") == 0) {
        ICS_TRY(ics_terminal_check_output("-", error));
    }
    return convert(source, from, to, force, error);
}
