/* ppc's om.wv_NUMBER.KIND: the effective area of a type of om.conf by wavelength. NUMBER is that of
 * the type, KIND that of its PMTs in eff-f2k, 0 or 1 (ini.cxx and doc/index.rst of ppc). */
#include "base/cleanup.h"
#include "base/error.h"
#include "pipeline/photons/models/detector/parts.h"
#include "pipeline/photons/models/detector/pmt_tables.h"
#include "pipeline/photons/models/file.h"
#include "pipeline/photons/models/light/acceptance_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS_MAX = 100000 };

#define AREA_MAX 1e6 /* cm2 */

/* What the files are about. */
typedef struct om_reader {
    const icestream_config *config;
    const char *folder;
    ice_detector *detector;
    icestream_error *error;
} om_reader;

/* ---- one file -------------------------------------------------------------------------------- */

static int check_rows(const ics_text *text, const ics_text_table *table, icestream_error *error)
{
    ics_text_reader reader = ics_text_open(text, ' ', error);
    for (size_t i = 0; i < table->rows; ++i) {
        const double *row = ics_text_table_row(table, i);
        if (!(row[0] > 0 && row[0] <= 1e5) || (i > 0 && !(row[0] > row[-2]))) {
            ics_text_fault(&reader, table->lines[i], 1,
                           "wavelength: found %.10g, expected ascending numbers of nm", row[0]);
        }
        if (!(row[1] >= 0 && row[1] <= AREA_MAX)) {
            ics_text_fault(&reader, table->lines[i], 0,
                           "effective area: found %.10g, expected 0 .. %g cm2", row[1], AREA_MAX);
        }
    }
    if (table->rows < 2) {
        ics_text_fault(&reader, 0, 0, "found one row, expected at least two");
    }
    return ics_text_status(&reader);
}

/* Makes a curve of the areas (cm2). As in ppc it falls to 0 within the width of the outermost bins
 * beyond them. */
static int make_curve(const ics_text_table *table, ics_curve *out, icestream_error *error)
{
    const double *first = table->values, *last = ics_text_table_row(table, table->rows - 1);
    ICS_TRY(ics_curve_add(out, 2 * first[0] - first[2], 0, error));
    for (size_t i = 0; i < table->rows; ++i) {
        const double *row = ics_text_table_row(table, i);
        ICS_TRY(ics_curve_add(out, row[0], row[1], error));
    }
    return ics_curve_add(out, 2 * last[0] - last[-2], 0, error);
}

/* Reads a file as the acceptance of a type, relative to which its PMTs have the mean area of the
 * standard module. */
static int read_areas(const char *path, const ice_module_type *type, ics_curve *out,
                      icestream_error *error)
{
    ICS_CLEANUP(ics_text_free) ics_text text = {0};
    ICS_CLEANUP(ics_text_table_free) ics_text_table table = {0};
    ICS_CLEANUP(ics_curve_free) ics_curve areas = {0};
    ICS_TRY(ics_text_read(path, &text, error));
    ICS_TRY(ics_text_table_read(&text, 2, 2, ROWS_MAX,
                                "2: wavelength (nm) and effective area (cm2), averaged over "
                                "directions",
                                &table, error));
    ICS_TRY(check_rows(&text, &table, error));
    ICS_TRY(make_curve(&table, &areas, error));
    for (double x = ICE_WAVELENGTH_MIN; x <= ICE_WAVELENGTH_MAX; x += 1) {
        const double area = 1e-4 * ics_curve_at(&areas, x); /* m2 */
        if (area > 0) {
            ICS_TRY(ics_curve_add(out, x, area / ics_pmt_standard_area(type), error));
        }
    }
    return out->count > 0 ? ICESTREAM_OK
                          : ics_error_add(error, ICESTREAM_E_CONFIG,
                                          "%s: error: found no area above 0 from %g to %g nm", path,
                                          ICE_WAVELENGTH_MIN, ICE_WAVELENGTH_MAX);
}

/* ---- types ----------------------------------------------------------------------------------- */

static void set_own(ice_module_type *type, ics_curve *curve)
{
    type->acceptance.own_wavelengths = curve->x;
    type->acceptance.own = curve->y;
    type->acceptance.own_count = curve->count;
    *curve = (ics_curve){0};
}

/* Modules of number -1 have the acceptance of the standard module. */
static int set_standard(const om_reader *reader, ice_module_type *type)
{
    ICS_CLEANUP(ics_curve_free) ics_curve curve = {0};
    ICS_FREES char *path = NULL;
    char place[512];
    ICS_TRY(ics_model_file_find(reader->config, "auto", "wv.dat", &path, reader->error));
    ics_config_place(reader->config, "ice.directory", place, sizeof place);
    ICS_TRY(path != NULL ? ics_acceptance_file_read(path, place, &curve, reader->error)
                         : ics_light_standard_curve(&curve, reader->error));
    set_own(type, &curve);
    return ICESTREAM_OK;
}

/* Reads the file of a type and a kind of PMTs. */
static int read_file(const om_reader *reader, const ice_module_type *type, int kind, ics_curve *out)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/om.wv_%d.%d", reader->folder, type->om_number, kind);
    if (access(path, F_OK) == 0 || errno != ENOENT) {
        return read_areas(path, type, out, reader->error);
    }
    return ics_error_add(reader->error, ICESTREAM_E_CONFIG,
                         "%s: error: found no such file, expected rows of wavelength (nm) and "
                         "effective area (cm2), averaged over directions, of the type %s (ppc "
                         "omits the hits of such modules); light.acceptance gives all modules one "
                         "acceptance",
                         path, type->name);
}

/* Appends a copy of a type, for its modules with PMTs of kind 1. */
static int split_type(const om_reader *reader, size_t number)
{
    ice_detector *detector = reader->detector;
    if (detector->type_count == ICE_TYPES_MAX) {
        return ics_error_add(reader->error, ICESTREAM_E_CONFIG,
                             "%s: error: found more than %d types of modules and kinds of PMTs",
                             reader->folder, ICE_TYPES_MAX);
    }
    ice_module_type *grown =
        reallocarray(detector->types, detector->type_count + 1, sizeof *detector->types);
    if (grown == NULL) {
        return ics_error_no_memory(reader->error, "detector");
    }
    detector->types = grown;
    const ice_module_type *from = &grown[number];
    ice_module_type *to = &grown[detector->type_count];
    *to = *from;
    to->pmts = calloc(from->pmt_count, sizeof *to->pmts);
    to->acceptance = (ice_pmt_acceptance){0};
    to->table = (ice_pmt_areas){0}; /* which pmt-plane does not use */
    if (asprintf(&to->name, "%s, PMTs of kind 1", from->name) < 0) {
        to->name = NULL;
    }
    ++detector->type_count; /* ics_detector_destroy() frees the type from now on */
    if (to->pmts == NULL || to->name == NULL) {
        to->pmt_count = 0;
        return ics_error_no_memory(reader->error, "detector");
    }
    memcpy(to->pmts, from->pmts, from->pmt_count * sizeof *to->pmts);
    return ICESTREAM_OK;
}

/* Sets the acceptance of a type with a number of 0 or more. The kind of the PMTs is a part of it
 * then, so that light.high_efficiency does not count for its modules. */
static int set_kinds(const om_reader *reader, size_t number)
{
    ice_detector *detector = reader->detector;
    bool has[2] = {false, false};
    for (size_t i = 0; i < detector->module_count; ++i) {
        if (detector->modules[i].type == number) {
            has[detector->modules[i].acceptance] = true;
        }
    }
    const bool is_split = has[0] && has[1];
    for (int kind = 0; kind < 2; ++kind) {
        ICS_CLEANUP(ics_curve_free) ics_curve curve = {0};
        size_t to = number;
        if (!has[kind]) {
            continue;
        }
        ICS_TRY(read_file(reader, &detector->types[number], kind, &curve));
        if (is_split && kind == 1) {
            ICS_TRY(split_type(reader, number));
            to = detector->type_count - 1;
        }
        for (size_t i = 0; i < detector->module_count; ++i) {
            ice_module *module = &detector->modules[i];
            if (module->type == number && module->acceptance == kind) {
                module->type = (uint32_t)to;
                module->acceptance = 0;
            }
        }
        set_own(&detector->types[to], &curve);
    }
    return ICESTREAM_OK;
}

/* ppc has a model of the time in the tube of a WOM, which it knows by this beta. */
#define BETA_OF_WOM -2

static void warn_of_wom(const ice_detector *detector, const char *om_conf, ics_warnings *warnings)
{
    for (size_t i = 0; i < detector->module_count; ++i) {
        const ice_module_type *type = &detector->types[detector->modules[i].type];
        if (type->beta == BETA_OF_WOM) {
            ics_warnings_add(
                warnings,
                "%s: the type %s has beta -2, a WOM: the time that light needs within "
                "its tube (some ns), and which PMT it goes to by where it hits the tube, "
                "are not simulated",
                om_conf, type->name);
            return;
        }
    }
}

int ics_om_acceptances_read(const icestream_config *config, ice_detector *detector,
                            ics_warnings *warnings, icestream_error *error)
{
    ICS_FREES char *path = NULL;
    const size_t count = detector->type_count;
    bool is_numbered = false;
    int status = ICESTREAM_OK;
    if (count == 0 || !detector->types[0].is_of_ppc ||
        strcmp(config->stages.detect, "pmt-plane") != 0 ||
        strcmp(config->light.acceptance, "auto") != 0) {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_model_file_find(config, config->detector.om_conf, "om.conf", &path, error));
    warn_of_wom(detector, path, warnings);
    char *slash = strrchr(path, '/');
    if (slash != NULL) {
        *slash = '\0';
    }
    const om_reader reader = {config, slash != NULL ? path : ".", detector, error};
    for (size_t i = 0; i < count; ++i) {
        if (detector->types[i].om_number >= 0) {
            status = ics_error_first(status, set_kinds(&reader, i));
            is_numbered |= detector->types[i].acceptance.own_count > 0;
        }
    }
    for (size_t i = 0; status == ICESTREAM_OK && is_numbered && i < count; ++i) {
        if (detector->types[i].om_number == -1) {
            status = set_standard(&reader, &detector->types[i]);
        }
    }
    return status;
}
