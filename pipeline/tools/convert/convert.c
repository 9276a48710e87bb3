/* icestream_convert: between .npy and HDF5, and from .npy to text and pictures. The endings of the
 * file names decide. */
#include "base/error.h"
#include "base/terminal.h"
#include "pipeline/files/hdf5.h"
#include "pipeline/files/hit_csv.h"
#include "pipeline/files/hit_text.h"
#include "pipeline/tools/convert/pictures.h"

#include <string.h>

typedef enum layout {
    LAYOUT_UNKNOWN,
    LAYOUT_NPY,
    LAYOUT_HDF5,
    LAYOUT_TEXT,
    LAYOUT_CSV,
    LAYOUT_VTP
} layout;

static layout layout_of_ending(const char *ending)
{
    static const struct {
        const char *ending;
        layout layout;
    } all[] = {{"npy", LAYOUT_NPY},  {"h5", LAYOUT_HDF5}, {"hdf5", LAYOUT_HDF5},
               {"txt", LAYOUT_TEXT}, {"csv", LAYOUT_CSV}, {"vtp", LAYOUT_VTP}};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        if (strcmp(all[i].ending, ending) == 0) {
            return all[i].layout;
        }
    }
    return LAYOUT_UNKNOWN;
}

static layout layout_of(const char *path)
{
    const char *name = strrchr(path, '/');
    const char *ending = strrchr(name != NULL ? name : path, '.');
    return ending != NULL ? layout_of_ending(ending + 1) : LAYOUT_UNKNOWN;
}

/* Whether a file with this layout can only be written. */
static bool is_last(layout which)
{
    return which == LAYOUT_TEXT || which == LAYOUT_CSV || which == LAYOUT_VTP;
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

/* Standard input carries .npy. Standard output takes the format that the caller chose, or else what
 * the other side can become: the text of hits, or the table of an HDF5 file. */
static layout layout_of_stream(layout other, const char *format)
{
    if (format != NULL) {
        return layout_of_ending(format);
    }
    return other == LAYOUT_NPY ? LAYOUT_TEXT : LAYOUT_NPY;
}

/* From .npy to a format that icestream does not read. */
static int export(const char *from, layout target, const char *to,
                  const icestream_convert_options *options, icestream_error *error)
{
    if (target == LAYOUT_TEXT) {
        return ics_hit_text_export(from, to, options->force, error);
    }
    if (target == LAYOUT_CSV) {
        return ics_hit_csv_export(from, to, options->force, error);
    }
    return options->detector != NULL ? ics_pictures_put_hits(from, to, options, error)
                                     : ics_pictures_put_paths(from, to, options, error);
}

static int check_layouts(const char *from, layout source, const char *to, layout target,
                         icestream_error *error)
{
    const char *unknown = source == LAYOUT_UNKNOWN || is_last(source)   ? from
                          : target == LAYOUT_UNKNOWN || is_last(target) ? to
                                                                        : NULL;
    if (unknown != NULL) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "%s: found an unknown ending, expected .npy, .h5 or "
                             ".hdf5 (or, of the hits in a .npy file, .txt, .csv or .vtp, and of "
                             "paths .vtp)",
                             unknown);
    }
    if (source == target) {
        return ics_error_set(
            error, ICESTREAM_E_USAGE,
            "%s and %s: found the same kind of file twice, expected .npy and .h5 or "
            ".hdf5%s",
            from, to, strcmp(from, "-") == 0 ? " (standard input carries .npy)" : "");
    }
    return ICESTREAM_OK;
}

int icestream_convert_with(const char *from, const char *to,
                           const icestream_convert_options *options, icestream_error *error)
{
    const bool has_modules = from == NULL, is_stream = strcmp(to, "-") == 0;
    const layout source = has_modules              ? LAYOUT_UNKNOWN
                          : strcmp(from, "-") == 0 ? LAYOUT_NPY
                                                   : layout_of(from);
    const layout target = is_stream ? layout_of_stream(source, options->format) : layout_of(to);
    if (has_modules) {
        return target == LAYOUT_VTP
                   ? ics_pictures_put_modules(to, options, error)
                   : ics_error_set(error, ICESTREAM_E_USAGE,
                                   "%s: expected the ending .vtp for modules (icestream geometry "
                                   "makes other files of them)",
                                   to);
    }
    if (options->detector != NULL && target != LAYOUT_VTP) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "--detector: found %s as TO, expected .vtp, because only pictures "
                             "need the positions of modules",
                             to);
    }
    if (source == LAYOUT_NPY && is_last(target)) {
        return export(from, target, to, options, error);
    }
    ICS_TRY(check_layouts(from, source, to, target, error));
    if (is_stream) {
        ICS_TRY(ics_terminal_check_output("-", error));
    }
    return convert(source, from, to, options->force, error);
}

int icestream_convert(const char *from, const char *to, bool force, icestream_error *error)
{
    const icestream_convert_options options = {.force = force};
    return icestream_convert_with(from, to, &options, error);
}
