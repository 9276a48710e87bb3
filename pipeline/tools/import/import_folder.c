/* What a folder of ice contains, as far as a run file must say it. */
#include "base/error.h"
#include "pipeline/models/detector/detector_layout.h"
#include "pipeline/models/ice/ice_features.h"
#include "pipeline/models/ice/ice_sources.h"
#include "pipeline/models/text/line_stream.h"
#include "pipeline/tools/import/import.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ppc measures the positions of a tilt along this azimuth (degrees). */
static const double tilt_azimuth = 225;

static int no_memory(icestream_error *error)
{
    return ics_error_add(error, ICESTREAM_E_MEMORY, "import: error: out of memory");
}

static bool has_file(const char *folder, const char *name)
{
    char path[4096];
    struct stat about;
    return snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path &&
           stat(path, &about) == 0;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* Reads NAME of the folder; the caller frees both. */
static int read_text(const char *folder, const char *name, char **path, ics_text *text,
                     icestream_error *error)
{
    *text = (ics_text){0};
    if (asprintf(path, "%s/%s", folder, name) < 0) {
        *path = NULL;
        return no_memory(error);
    }
    return ics_text_read(*path, text, error);
}

static int read_settings(const char *folder, ics_import_folder *out, icestream_error *error)
{
    char *path;
    ics_text text;
    ice_medium properties = {0};
    ics_warnings unused = {0};
    int status = read_text(folder, "cfg.txt", &path, &text, error);
    if (status == ICESTREAM_OK) {
        status = ics_ice_ppc_settings_read(&text, &properties, &out->settings, &unused, error);
    }
    out->is_birefringent = ics_ice_birefringence_scattering(&properties.birefringence) > 0;
    out->has_columns = properties.hole.radius > 0;
    ics_warnings_free(&unused);
    ics_text_free(&text);
    free(path);
    return status;
}

static int recognise(const char *folder, ics_import_folder *out, icestream_error *error)
{
    const ics_ice_known *known;
    ICS_TRY(ics_ice_known_find(folder, &known, error));
    if (known != NULL) {
        out->known_as = known->name;
        out->subtraction = known->subtraction;
    }
    return ICESTREAM_OK;
}

/* ---- the origin of a tilt along a line ------------------------------------------------------- */

/* The string at position 0 of tilt.par; -1: there is none. */
static int find_reference(const char *folder, int *string, icestream_error *error)
{
    char *path;
    ics_text text;
    ics_text_table table = {0};
    *string = -1;
    int status = read_text(folder, "tilt.par", &path, &text, error);
    if (status == ICESTREAM_OK) {
        status =
            ics_text_table_read(&text, 2, 2, 4096, "a string and its position (m)", &table, error);
    }
    for (size_t i = 0; status == ICESTREAM_OK && i < table.rows; ++i) {
        const double *row = ics_text_table_row(&table, i);
        if (row[1] == 0) {
            *string = (int)row[0];
        }
    }
    ics_text_table_free(&table);
    ics_text_free(&text);
    free(path);
    return status;
}

/* ppc takes the mean position of the modules of the reference string as 0. */
static int find_origin(const char *folder, ics_import_folder *out, icestream_error *error)
{
    const double azimuth = tilt_azimuth * M_PI / 180;
    int string;
    char *path = NULL;
    ics_module_list list = {0};
    double sum = 0;
    size_t count = 0;
    ICS_TRY(find_reference(folder, &string, error));
    if (asprintf(&path, "%s/geo-f2k", folder) < 0) {
        return no_memory(error);
    }
    const int status = ics_detector_layout_read(path, NULL, NULL, &list, error);
    for (size_t i = 0; i < list.count; ++i) {
        const ice_module *module = &list.items[i].module;
        if (module->string == string) {
            sum += cos(azimuth) * module->x + sin(azimuth) * module->y;
            ++count;
        }
    }
    if (status == ICESTREAM_OK && count > 0) {
        out->tilt_origin = sum / (double)count;
        snprintf(out->reference, sizeof out->reference, "string %d", string);
    } else if (status == ICESTREAM_OK && string >= 0) {
        out->missing_reference = string;
    }
    ics_module_list_free(&list);
    free(path);
    return status;
}

/* ---- the list of particles ---------------------------------------------------------------------
 */

/* The run file names the list, so that it must be there when the run reads it. */
static int check_list(const char *path, icestream_error *error)
{
    struct stat about;
    const char *found = NULL;
    if (strcmp(path, "-") == 0) {
        found = "standard input";
    } else if (stat(path, &about) == 0 && !S_ISREG(about.st_mode)) {
        found = S_ISDIR(about.st_mode) ? "a folder" : "a pipe or device";
    }
    return found == NULL ? ICESTREAM_OK
                         : ics_error_add(error, ICESTREAM_E_CONFIG,
                                         "%s: error: F2K: found %s, expected an f2k file, whose "
                                         "name the run file contains",
                                         path, found);
}

/* Finds whether the numbers of the events ascend, as a run needs them. Many f2k files number all
 * events 1. Faults of the list are for `validate`. */
static int check_events(const char *path, ics_import_folder *out, icestream_error *error)
{
    ics_line_stream *lines;
    ics_text_line line;
    double last = -1, number;
    bool found = true, is_f2k = false;
    ICS_TRY(ics_line_stream_open(path, &lines, error));
    int status = ics_line_stream_next(lines, ' ', &line, &found, error);
    while (status == ICESTREAM_OK && found && !out->counts_events) {
        is_f2k |= line.count > 1 && (ics_text_field_equals(&line.fields[0], "EM") ||
                                     ics_text_field_equals(&line.fields[0], "TR"));
        if (line.count > 1 && ics_text_field_equals(&line.fields[0], "EM") &&
            ics_text_field_number(&line.fields[1], &number)) {
            out->counts_events = number <= last;
            last = number;
        }
        status = ics_line_stream_next(lines, ' ', &line, &found, error);
    }
    ics_line_stream_destroy(lines);
    if (status == ICESTREAM_OK && !is_f2k) {
        status = ics_error_add(error, ICESTREAM_E_CONFIG,
                               "%s: error: found no line that begins with EM or TR, expected the "
                               "particles of ppc, an f2k list",
                               path);
    }
    return status;
}

/* ---- paths ----------------------------------------------------------------------------------- */

/* A run file in the current folder, or on standard output, names the path as it was given; another
 * one names the whole path. */
static int path_for(const ics_import_request *request, const char *path, char **out,
                    icestream_error *error)
{
    const bool is_here = strchr(request->output, '/') == NULL;
    *out = is_here ? strdup(path) : realpath(path, NULL);
    if (*out == NULL) {
        return errno == ENOMEM ? no_memory(error)
                               : ics_error_add(error, ICESTREAM_E_CONFIG, "%s: error: %s", path,
                                               strerror(errno));
    }
    return ICESTREAM_OK;
}

int ics_import_folder_read(const ics_import_request *request, ics_import_folder *out,
                           icestream_error *error)
{
    const char *folder = request->folder;
    *out = (ics_import_folder){0};
    ICS_TRY(ics_ice_ppc_check_folder(folder, error));
    ICS_TRY(path_for(request, folder, &out->path, error));
    if (request->particles != NULL) {
        ICS_TRY(check_list(request->particles, error));
        ICS_TRY(path_for(request, request->particles, &out->particles, error));
        ICS_TRY(check_events(request->particles, out, error));
    }
    out->has_modules = has_file(folder, "geo-f2k");
    out->has_version = has_file(folder, "version");
    out->has_map = has_file(folder, "tilt.set");
    out->has_line = !out->has_map && has_file(folder, "tilt.par");
    out->has_cables = has_file(folder, "dx.dat");
    out->has_angular = has_file(folder, "as.dat");
    out->has_wavelengths = has_file(folder, "wv.dat");
    ICS_TRY(read_settings(folder, out, error));
    ICS_TRY(recognise(folder, out, error));
    return out->has_line && out->has_modules ? find_origin(folder, out, error) : ICESTREAM_OK;
}

void ics_import_folder_free(ics_import_folder *folder)
{
    free(folder->path);
    free(folder->particles);
    *folder = (ics_import_folder){0};
}
