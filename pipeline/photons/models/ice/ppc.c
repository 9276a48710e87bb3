/* A ppc ice folder: icemodel.par, icemodel.dat, cfg.txt, and optional files (physics.md 4.2-4.4,
 * 11; the README of the public ice models). */
#include "base/cleanup.h"
#include "base/error.h"
#include "pipeline/photons/models/ice/features.h"
#include "pipeline/photons/models/ice/medium.h"
#include "pipeline/photons/models/ice/sources.h"
#include "pipeline/photons/models/ice/tilt.h"
#include "tables/tables.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A folder while it is read. Reading continues after errors, so that the errors of all files are
 * reported. */
typedef struct ppc_folder {
    const icestream_config *config;
    const char *directory;
    ics_warnings *warnings;
    icestream_error *error;
    int status;            /* the first failure */
    ice_medium properties; /* what does not depend on depth */
    ics_ppc_settings settings;
    ics_ppc_columns columns;
    ics_subtraction subtraction;
    bool has_version; /* the file `version`, or the name of a public model, says what tables contain
                       */
    double bubbles[3]; /* b, d1, d2 */
    ics_ice_factors *factors;
    ice_medium **out; /* made of the layers, which are read last */
} ppc_folder;

static void note(ppc_folder *folder, int status)
{
    folder->status = folder->status ? folder->status : status;
}

/* Returns the path of a file in the folder; the caller frees it. NULL: out of memory, and the error
 * was added. */
static char *path_of(ppc_folder *folder, const char *name)
{
    char *path;
    if (asprintf(&path, "%s/%s", folder->directory, name) < 0) {
        note(folder, ics_error_no_memory(folder->error, folder->directory));
        return NULL;
    }
    return path;
}

static bool has_file(ppc_folder *folder, const char *name)
{
    ICS_FREES char *path = path_of(folder, name);
    struct stat status;
    return path != NULL && (stat(path, &status) == 0 || errno != ENOENT);
}

/* Reads a file of the folder with `read` if it is there; missing required files are errors. */
static void read_file(ppc_folder *folder, const char *name, bool required,
                      int (*read)(ppc_folder *, const ics_text *))
{
    ICS_CLEANUP(ics_text_free) ics_text text = {0};
    ICS_FREES char *path = path_of(folder, name);
    if (path != NULL && (required || has_file(folder, name))) {
        const int status = ics_text_read(path, &text, folder->error);
        note(folder, status ? status : read(folder, &text));
    }
}

/* ---- icemodel.par ---------------------------------------------------------------------------- */

static int check_property(const ics_text *text, size_t line, const char *property, double value,
                          icestream_error *error)
{
    char place[512];
    snprintf(place, sizeof place, "%s:%zu", text->name, line);
    return ics_ice_property_check(place, property, value, error);
}

static int read_parameters(ppc_folder *folder, const ics_text *text)
{
    static const char *const names[] = {"alpha", "kappa", "absorption_a", "absorption_b"};
    ICS_CLEANUP(ics_text_table_free) ics_text_table table = {0};
    ICS_TRY(
        ics_text_table_read(text, 1, 2, 6, "a value and its uncertainty", &table, folder->error));
    if (table.rows < 4) {
        return ics_error_add(folder->error, ICESTREAM_E_CONFIG,
                             "%s: error: found %zu rows, expected alpha, kappa, A, B and, in older "
                             "models, D and E",
                             text->name, table.rows);
    }
    double *const values[] = {&folder->properties.alpha, &folder->properties.kappa,
                              &folder->properties.absorption_a, &folder->properties.absorption_b};
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < 4; ++i) {
        *values[i] = ics_text_table_row(&table, i)[0];
        if (check_property(text, table.lines[i], names[i], *values[i], folder->error)) {
            status = ICESTREAM_E_CONFIG;
        }
    }
    const double factor = pow(400, -folder->properties.kappa);
    if (table.rows > 4) {
        folder->columns.dust_scale = ics_text_table_row(&table, 4)[0] * factor;
    }
    if (table.rows > 5) {
        folder->columns.dust_offset = ics_text_table_row(&table, 5)[0] * factor;
    }
    return status;
}

/* ---- cfg.txt --------------------------------------------------------------------------------- */

static int read_settings(ppc_folder *folder, const ics_text *text)
{
    double configured = folder->config->detector.oversize;
    ICS_TRY(ics_ice_ppc_settings_read(text, &folder->properties, &folder->settings,
                                      folder->warnings, folder->error));
    folder->factors->efficiency = folder->settings.efficiency;
    if (folder->settings.efficiency < 0.1 || folder->settings.efficiency > 10) {
        ics_warnings_add(folder->warnings,
                         "%s:%zu: efficiency: found %g for all modules; usual: about 1; is "
                         "it in percent?",
                         text->name, folder->settings.efficiency_line, folder->settings.efficiency);
    }
    /* Modules of true size are no mistake. */
    if (configured != 1 && folder->settings.oversize != configured) {
        ics_warnings_add(folder->warnings,
                         "%s:%zu: oversize %g is not used, detector.oversize is %g", text->name,
                         folder->settings.oversize_line, folder->settings.oversize, configured);
    }
    return ICESTREAM_OK;
}

/* ---- the small files ------------------------------------------------------------------------- */

static int read_bubbles(ppc_folder *folder, const ics_text *text)
{
    const double shallow = 100; /* m: such bubbles are in no layer of a detector */
    ICS_CLEANUP(ics_text_table_free) ics_text_table table = {0};
    ICS_TRY(ics_text_table_read(text, 1, 3, 3, "b, d1, d2", &table, folder->error));
    if (table.rows * table.columns != 3) {
        return ics_error_add(folder->error, ICESTREAM_E_CONFIG,
                             "%s: error: found %zu numbers, expected 3: b, d1, d2", text->name,
                             table.rows * table.columns);
    }
    const double *bubbles = table.values;
    if (!(bubbles[0] >= 0 && bubbles[1] > 0 && bubbles[2] > 0)) {
        return ics_error_add(folder->error, ICESTREAM_E_CONFIG,
                             "%s:%zu: error: bubbles: found %.10g %.10g %.10g, expected a "
                             "coefficient >= 0 and two depths > 0",
                             text->name, table.lines[0], bubbles[0], bubbles[1], bubbles[2]);
    }
    memcpy(folder->bubbles, bubbles, sizeof folder->bubbles);
    if (bubbles[0] > 0 && fmin(bubbles[1], bubbles[2]) < shallow) {
        ics_warnings_add(folder->warnings,
                         "%s:%zu: bubbles: found depths of %g and %g m, above all "
                         "layers; usual: 1350 and 1400 m; are they in km?",
                         text->name, table.lines[0], bubbles[1], bubbles[2]);
    }
    return ICESTREAM_OK;
}

/* Newer models have this file. Its one number says what the tables of the folder contain
 * (physics.md 4.2). */
static int read_version(ppc_folder *folder, const ics_text *text)
{
    enum { PLAIN = 0, NOTHING_TO_SUBTRACT = 10, FULL_ABSORPTION = 20 };
    ics_text_reader reader = ics_text_open(text, ' ', folder->error);
    ics_text_line line;
    double version = 0;
    if (!ics_text_next(&reader, &line)) {
        return ics_text_fault(&reader, 0, 0, "found no number, expected the version of the model");
    }
    if (!ics_text_number(&reader, &line, 0, "version", &version)) {
        return ICESTREAM_E_CONFIG;
    }
    if (version == NOTHING_TO_SUBTRACT) {
        folder->subtraction = ICS_SUBTRACTION_NONE;
    }
    if (version == FULL_ABSORPTION) {
        const ice_medium *properties = &folder->properties;
        folder->subtraction = ICS_SUBTRACTION_SCALED;
        folder->columns.pure_ice = properties->absorption_a * exp(-properties->absorption_b / 400);
    }
    if (version == PLAIN || version == NOTHING_TO_SUBTRACT || version == FULL_ABSORPTION) {
        folder->has_version = true;
        return ICESTREAM_OK;
    }
    return ics_text_fault(&reader, line.number, 0, "version: found %.10g, expected 0, 10 or 20",
                          version);
}

/* ---- tilt ------------------------------------------------------------------------------------ */

/* Reads the tilt. A map has priority over a line, as in ppc. */
static void read_tilt(ppc_folder *folder, ice_tilt *out)
{
    if (!folder->config->ice.tilt) {
        return;
    }
    const bool line = has_file(folder, "tilt.par") || has_file(folder, "tilt.dat");
    const bool map = has_file(folder, "tilt.set") || has_file(folder, "tilt.map");
    if (map || line) {
        ICS_FREES char *nodes = path_of(folder, map ? "tilt.set" : "tilt.par");
        ICS_FREES char *shifts = path_of(folder, map ? "tilt.map" : "tilt.dat");
        if (nodes != NULL && shifts != NULL) {
            note(folder, ics_ice_ppc_tilt_read(nodes, shifts, map, out, folder->error));
        }
    }
    if (map && line) {
        ics_warnings_add(folder->warnings,
                         "%s: tilt.par and tilt.dat are not used, because tilt.set and "
                         "tilt.map describe the tilt, too",
                         folder->directory);
    }
}

/* ---- icemodel.dat ---------------------------------------------------------------------------- */

/* Returns the number of a column, or what stands for it in a row that does not have it. */
static double number_or(double number, double other)
{
    return isnan(number) ? other : number;
}

/* Makes a layer of a row, in which the columns behind the fourth may be missing. */
static ics_layer_row layer_of(const double *row, size_t line, const ics_ppc_columns *columns)
{
    const double pure = columns->pure_ice * (1 + 0.01 * row[3]);
    const double strength = number_or(row[6], 1);
    return (ics_layer_row){
        .depth = row[0],
        .layer = {.effective_scattering = row[1],
                  .dust_absorption = columns->dust_scale * row[2] + columns->dust_offset - pure,
                  .delta_tau = row[3],
                  .anisotropy_along = number_or(row[4], columns->anisotropy[0]),
                  .anisotropy_across = number_or(row[5], columns->anisotropy[1]),
                  .birefringence = strength,
                  .birefringence_mean = strength * number_or(row[7], 1)},
        .line = line};
}

int ics_ice_ppc_layers_read(const ics_text *text, const ics_ppc_columns *columns,
                            ics_layer_list *out, icestream_error *error)
{
    ICS_CLEANUP(ics_text_table_free) ics_text_table table = {0};
    int status = ICESTREAM_OK;
    *out = (ics_layer_list){.name = text->name};
    ICS_TRY(ics_text_table_read_ragged(text, 4, 8, ICE_LAYERS_MAX,
                                       "depth be400 adust400 dtau [k1 [k2 [BFRA [BFRB]]]]", &table,
                                       error));
    for (size_t i = 0; i < table.rows && status == ICESTREAM_OK; ++i) {
        const ics_layer_row layer =
            layer_of(ics_text_table_row(&table, i), table.lines[i], columns);
        status = ics_ice_layer_list_add(out, &layer, error);
    }
    if (status != ICESTREAM_OK) {
        ics_ice_layer_list_free(out);
    }
    return status;
}

static void add_bubbles(const double bubbles[3], ics_layer_list *layers)
{
    for (size_t i = 0; i < layers->count; ++i) {
        double depth = layers->rows[i].depth;
        if (depth < bubbles[1] && depth < bubbles[2]) {
            layers->rows[i].layer.bubbles =
                bubbles[0] * (1 - depth / bubbles[1]) * (1 - depth / bubbles[2]);
        }
    }
}

static int read_layers(ppc_folder *folder, const ics_text *text)
{
    ICS_CLEANUP(ics_ice_layer_list_free) ics_layer_list layers = {0};
    memcpy(folder->columns.anisotropy, folder->settings.anisotropy,
           sizeof folder->columns.anisotropy);
    ICS_TRY(ics_ice_ppc_layers_read(text, &folder->columns, &layers, folder->error));
    add_bubbles(folder->bubbles, &layers);
    ics_ice_features_switch_off(folder->config, &folder->properties, &layers);
    /* With wrong parameters the layers would be checked by the wrong formula. */
    return folder->status != ICESTREAM_OK
               ? folder->status
               : ics_ice_from_layers(folder->directory, &layers, &folder->properties,
                                     folder->subtraction, folder->out, folder->error);
}

/* ---- the folder ------------------------------------------------------------------------------ */

/* Sets which scattering by crystals is in the table: by the configuration, by the file version, or
 * by the numbers of a public model. */
static int choose_subtraction(ppc_folder *folder)
{
    const ics_ice_known *known = NULL;
    if (folder->config->ice.birefringence_subtraction != ICS_SUBTRACTION_AUTO) {
        folder->subtraction = folder->config->ice.birefringence_subtraction;
    } else if (!folder->has_version) {
        ICS_TRY(ics_ice_known_find(folder->directory, &known, folder->error));
        folder->has_version = known != NULL;
    }
    if (known != NULL && known->taken == ICE_TAKEN_NOTHING) {
        folder->subtraction = ICS_SUBTRACTION_NONE;
    }
    return ICESTREAM_OK;
}

/* Rejects a folder with birefringence if neither the folder nor the user says whether its table of
 * scattering contains the scattering by crystals: both kinds of table are public, and they look the
 * same. */
static int check_version(const ppc_folder *folder, const ice_medium *medium)
{
    const icestream_config *config = folder->config;
    char place[512];
    if (folder->has_version || config->ice.birefringence_subtraction != ICS_SUBTRACTION_AUTO ||
        !(ics_tables_find_features(medium) & ICE_HAS_BIREFRINGENCE)) {
        return ICESTREAM_OK;
    }
    return ics_error_add(
        folder->error, ICESTREAM_E_CONFIG,
        "%s: error: ice.birefringence_subtraction: found auto, and %s, whose ice is birefringent, "
        "has no file 'version' that says what icemodel.dat contains, and is no public model; "
        "expected constant (its scattering contains that by crystals, as in spice_bfr-v2), none "
        "(it does not, as in spice_ftp-v3m) or scaled (it does, at 400 nm)",
        ics_config_place(config, "ice.directory", place, sizeof place), config->ice.directory);
}

int ics_ice_from_ppc(const icestream_config *config, ice_medium **out, ics_ice_factors *factors,
                     ics_warnings *warnings, icestream_error *error)
{
    const char *directory = config->ice.directory;
    ppc_folder folder = {.config = config,
                         .directory = directory,
                         .warnings = warnings,
                         .error = error,
                         .columns = {.dust_scale = 1},
                         .subtraction = ICS_SUBTRACTION_CONSTANT,
                         .factors = factors,
                         .out = out};
    ice_tilt tilt = {0};
    *out = NULL;
    ICS_TRY(ics_ice_ppc_check_folder(directory, error));
    read_file(&folder, "icemodel.par", true, read_parameters);
    read_file(&folder, "cfg.txt", true, read_settings);
    read_file(&folder, "icemodel.bbl", false, read_bubbles);
    read_file(&folder, "version", false, read_version);
    note(&folder, choose_subtraction(&folder));
    read_tilt(&folder, &tilt);
    /* The layers come last, because their checks need the parameters. */
    read_file(&folder, "icemodel.dat", true, read_layers);
    ics_ice_ppc_warn_of_unread(directory, warnings);
    if (folder.status == ICESTREAM_OK) {
        folder.status = check_version(&folder, *out);
    }
    if (folder.status == ICESTREAM_OK && *out != NULL) {
        (*out)->tilt = tilt;
        return ICESTREAM_OK;
    }
    ics_ice_tilt_free(&tilt);
    ics_ice_destroy(*out);
    *out = NULL;
    return folder.status;
}
