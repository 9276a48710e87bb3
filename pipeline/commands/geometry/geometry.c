/* icestream_geometry: the modules of a run as a table, for plots and other programs. The positions
 * in hit files are relative to the modules, so a plot needs this table. */
#include "base/error.h"
#include "pipeline/commands/geometry/pmt_table.h"
#include "pipeline/icestream.h"
#include "pipeline/photons/files/text_output.h"
#include "pipeline/photons/models/detector/detector.h"
#include "pipeline/photons/models/detector/layout.h"

#include <string.h>

/* Writes the type of a module, and its orientation if some module is not upright. */
static int put_type(const ice_detector *detector, const ice_module *module, ics_text_output *file,
                    icestream_error *error)
{
    const char *name = detector->types[module->type].name;
    ice_orientation q = {.w = 1};
    if (detector->orientation_count == 0) {
        return ics_text_output_put(file, error, ",%.400s\n", name);
    }
    if (module->orientation > 0) {
        q = detector->orientations[module->orientation];
    }
    return ics_text_output_put(file, error, ",%.300s,%.15g,%.15g,%.15g,%.15g\n", name, q.w, q.x,
                               q.y, q.z);
}

/* The table is a file that detector.file reads. */
static int put_modules(const ice_detector *detector, ics_text_output *file, icestream_error *error)
{
    const bool has_types = detector->type_count > 0;
    ICS_TRY(ics_text_output_put(file, error, "string,module,x,y,z,efficiency%s%s\n",
                                has_types ? ",type" : "",
                                detector->orientation_count > 0 ? ",qw,qx,qy,qz" : ""));
    for (size_t i = 0; i < detector->module_count; ++i) {
        const ice_module *module = &detector->modules[i];
        ICS_TRY(ics_text_output_put(file, error, "%u,%u,%.15g,%.15g,%.15g,%.15g%s", module->string,
                                    module->module, module->x, module->y, module->z,
                                    module->efficiency, has_types ? "" : "\n"));
        if (has_types) {
            ICS_TRY(put_type(detector, module, file, error));
        }
    }
    return ics_text_output_commit(file, error);
}

static int write_modules(const ice_detector *detector, const char *path, bool force,
                         icestream_error *error)
{
    ics_text_output *file = NULL;
    ICS_TRY(ics_text_output_create(path, force, &file, error));
    int status = put_modules(detector, file, error);
    ics_text_output_destroy(file);
    return status;
}

static bool ends_with(const char *text, const char *ending)
{
    const size_t length = strlen(text), size = strlen(ending);
    return length > size && strcmp(text + length - size, ending) == 0;
}

/* Writes what the ending of the name says. */
static int write_any(const ice_detector *detector, const char *path, bool pmts, bool force,
                     icestream_error *error)
{
    if (pmts || ends_with(path, ".npy")) {
        return ics_pmt_table_write(detector, ics_detector_layout_height(detector->name), path,
                                   force, error);
    }
    return write_modules(detector, path, force, error);
}

static int write_geometry(const icestream_config *config, const char *path, bool pmts, bool force,
                          FILE *report, icestream_error *error)
{
    ice_detector *detector = NULL;
    ics_warnings warnings = {0};
    int status = ics_detector_create(config, &detector, &warnings, error);
    if (status == ICESTREAM_OK) {
        status = write_any(detector, path, pmts, force, error);
    }
    if (report != NULL) {
        ics_warnings_print(&warnings, 0, "warning: ", report);
    }
    ics_warnings_free(&warnings);
    ics_detector_destroy(detector);
    return status;
}

int icestream_geometry(const icestream_config *config, const char *path, bool force, FILE *report,
                       icestream_error *error)
{
    return write_geometry(config, path, false, force, report, error);
}

int icestream_geometry_pmts(const icestream_config *config, const char *path, bool force,
                            FILE *report, icestream_error *error)
{
    return write_geometry(config, path, true, force, report, error);
}
