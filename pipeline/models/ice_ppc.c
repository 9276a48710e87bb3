/* A ppc ice folder, as it is: icemodel.par, icemodel.dat, cfg.txt, and what may lie beside them
 * (physics.md 4.2-4.4, 11; the README of the public ice models). */
#include "pipeline/error.h"
#include "pipeline/models/ice_layers.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Files of ppc that mean something this version does not simulate. */
static const struct {
    const char *name, *feature;
} later_files[] = {
    {"tilt.par", "ice tilt"},
    {"tilt.dat", "ice tilt"},
    {"tilt.set", "ice tilt"},
    {"tilt.map", "ice tilt"},
    {"dx.dat", "cable shadow"},
    {"cx.dat", "module tilt"},
    {"eff-f2k", "module efficiencies"},
    {"hvs-f2k", "modules without high voltage"},
    {"wv.rde", "high-efficiency modules' wavelength acceptance"},
    {"om.conf", "other sensors"},
    {"om.map", "other sensors"},
};

/* Numbers of cfg.txt, counted from 0, that switch on what is not simulated. */
static const struct {
    size_t first, count;
    const char *feature;
} later_settings[] = {
    {5, 2, "scattering anisotropy"},  {7, 1, "hole ice"},
    {12, 3, "absorption anisotropy"}, {15, 1, "older absorption anisotropy"},
    {16, 12, "birefringence"},
};

enum { SETTINGS_LEAST = 4, SETTINGS_MOST = 28 };

/* The folder while it is being read. Goes on after errors, so that all files are reported. */
typedef struct ppc_folder {
    const char *directory;
    is_warnings *warnings;
    is_error *error;
    int status; /* the first failure */
} ppc_folder;

static void note(ppc_folder *folder, int status)
{
    if (folder->status == IS_OK)
        folder->status = status;
    if (status == IS_E_MEMORY)
        is_error_add(folder->error, IS_E_MEMORY, "%s: error: out of memory", folder->directory);
}

/* The path of a file of the folder; the caller frees it. NULL: out of memory, noted. */
static char *path_of(ppc_folder *folder, const char *name)
{
    char *path;
    if (asprintf(&path, "%s/%s", folder->directory, name) < 0) {
        note(folder, IS_E_MEMORY);
        return NULL;
    }
    return path;
}

static bool exists(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 || errno != ENOENT;
}

/* Reads a file of the folder with `read` if it is there; missing required files are errors. */
static void read_file(ppc_folder *folder, const char *name, bool required,
                      int (*read)(ppc_folder *, const is_text *, void *), void *target)
{
    char *path = path_of(folder, name);
    if (path && (required || exists(path))) {
        is_text text;
        int status = is_text_read(path, &text, folder->error);
        if (status == IS_OK) {
            status = read(folder, &text, target);
            is_text_free(&text);
        }
        if (folder->status == IS_OK)
            folder->status = status;
    }
    free(path);
}

/* ---- icemodel.par ---------------------------------------------------------------------------- */

typedef struct ppc_model {
    ice_medium scalars;
    double dust_scale, dust_offset; /* adust400 = scale * column 3 + offset */
    is_layer_list layers;
    double bubbles[3]; /* b, d1, d2 */
    double oversize;
    is_ice_factors *factors;
} ppc_model;

static int check_property(const is_text *text, size_t line, const char *property, double value,
                          is_error *error)
{
    char place[512];
    snprintf(place, sizeof place, "%s:%zu", text->name, line);
    return is_ice_property_check(place, property, value, error);
}

static int read_parameters(ppc_folder *folder, const is_text *text, void *target)
{
    static const char *const names[] = {"alpha", "kappa", "absorption_a", "absorption_b"};
    ppc_model *model = target;
    is_number_table table;
    int status =
        is_number_table_read(text, 1, 2, 6, "a value and its uncertainty", &table, folder->error);
    if (status != IS_OK)
        return status;
    if (table.rows != 4 && table.rows != 6) {
        status = is_error_add(folder->error, IS_E_CONFIG,
                              "%s: error: found %zu rows, expected 4 (alpha, kappa, A, B) or 6 "
                              "(and D, E)",
                              text->name, table.rows);
    } else {
        double *const values[] = {&model->scalars.alpha, &model->scalars.kappa,
                                  &model->scalars.absorption_a, &model->scalars.absorption_b};
        for (size_t i = 0; i < 4; ++i) {
            *values[i] = is_number_row(&table, i)[0];
            if (check_property(text, table.lines[i], names[i], *values[i], folder->error))
                status = IS_E_CONFIG;
        }
        if (table.rows == 6) {
            double factor = pow(400, -model->scalars.kappa);
            model->dust_scale = is_number_row(&table, 4)[0] * factor;
            model->dust_offset = is_number_row(&table, 5)[0] * factor;
        }
    }
    is_number_table_free(&table);
    return status;
}

/* ---- cfg.txt --------------------------------------------------------------------------------- */

static bool begins_number(const is_field *field)
{
    size_t i = 0;
    while (i < field->length && field->start[i] != 0 && strchr("+-.", field->start[i]))
        ++i;
    return i < field->length && field->start[i] >= '0' && field->start[i] <= '9';
}

/* The first number of every line; lines that begin with something else are comments. */
static size_t read_settings_numbers(ppc_folder *folder, is_text_reader *reader, double *numbers,
                                    size_t *lines)
{
    is_line line;
    size_t count = 0;
    char shown[48];
    while (is_text_next(reader, &line)) {
        if (!begins_number(&line.fields[0])) {
            note(folder,
                 is_warnings_add(folder->warnings,
                                 "%s:%zu: %s is no number, the line is taken as a comment",
                                 reader->name, line.number, is_field_show(&line.fields[0], shown)));
            continue;
        }
        double value = 0;
        is_text_number(reader, &line, 0, "first number of the line", &value);
        if (count < SETTINGS_MOST) {
            numbers[count] = value;
            lines[count] = line.number;
        }
        ++count;
    }
    return count;
}

static void warn_of_later_settings(ppc_folder *folder, const double *numbers, size_t count)
{
    for (size_t k = 0; k < sizeof later_settings / sizeof *later_settings; ++k) {
        bool on = false;
        for (size_t i = 0; i < later_settings[k].count; ++i) {
            size_t at = later_settings[k].first + i;
            on |= at < count && numbers[at] != 0;
        }
        if (on)
            note(folder, is_warnings_add(folder->warnings, "not simulated yet: cfg.txt (%s)",
                                         later_settings[k].feature));
    }
}

static int read_settings(ppc_folder *folder, const is_text *text, void *target)
{
    ppc_model *model = target;
    double numbers[SETTINGS_MOST] = {0};
    size_t lines[SETTINGS_MOST] = {0};
    is_text_reader reader = is_text_open(text, ' ', folder->error);
    size_t count = read_settings_numbers(folder, &reader, numbers, lines);
    bool known = false;
    static const size_t lengths[] = {SETTINGS_LEAST, 7, 10, 12, 15, 16, SETTINGS_MOST};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; ++i)
        known |= count == lengths[i];
    if (!known)
        is_text_fault(&reader, 0, 0, "found %zu numbers, expected 4, 7, 10, 12, 15, 16 or 28",
                      count);
    if (reader.faults > 0)
        return IS_E_CONFIG;

    int status = IS_OK;
    if (!(numbers[0] > 0 && numbers[0] <= 1000))
        status = is_text_fault(&reader, lines[0], 0, "oversize: found %.10g, expected 1 .. 1000",
                               numbers[0]);
    if (!(numbers[1] > 0 && numbers[1] <= 100))
        status =
            is_text_fault(&reader, lines[1], 0,
                          "efficiency: found %.10g, expected more than 0, at most 100", numbers[1]);
    if (check_property(text, lines[2], "liu_fraction", numbers[2], folder->error))
        status = IS_E_CONFIG;
    if (check_property(text, lines[3], "mean_cosine", numbers[3], folder->error))
        status = IS_E_CONFIG;
    model->factors->efficiency = numbers[1];
    model->scalars.liu_fraction = numbers[2];
    model->scalars.mean_cosine = numbers[3];
    warn_of_later_settings(folder, numbers, count);
    if (status == IS_OK && numbers[0] != model->oversize)
        note(folder, is_warnings_add(folder->warnings,
                                     "%s:%zu: oversize %g is not used, detector.oversize is %g",
                                     text->name, lines[0], numbers[0], model->oversize));
    return status;
}

/* ---- the small files ------------------------------------------------------------------------- */

static int read_bubbles(ppc_folder *folder, const is_text *text, void *target)
{
    ppc_model *model = target;
    is_number_table table;
    int status = is_number_table_read(text, 1, 3, 3, "b, d1, d2", &table, folder->error);
    if (status != IS_OK)
        return status;
    if (table.rows * table.columns != 3)
        status = is_error_add(folder->error, IS_E_CONFIG,
                              "%s: error: found %zu numbers, expected 3: b, d1, d2", text->name,
                              table.rows * table.columns);
    else if (!(table.values[0] >= 0 && table.values[1] > 0 && table.values[2] > 0))
        status = is_error_add(folder->error, IS_E_CONFIG,
                              "%s:%zu: error: bubbles: found %.10g %.10g %.10g, expected a "
                              "coefficient >= 0 and two depths > 0",
                              text->name, table.lines[0], table.values[0], table.values[1],
                              table.values[2]);
    else
        memcpy(model->bubbles, table.values, sizeof model->bubbles);
    is_number_table_free(&table);
    return status;
}

/* Only the first number counts here: the maximum, or 0 for a sharp edge on the module's surface,
 * whose maximum is 1 (physics.md 8.5). */
static int read_angular_acceptance(ppc_folder *folder, const is_text *text, void *target)
{
    ppc_model *model = target;
    is_text_reader reader = is_text_open(text, ' ', folder->error);
    is_line line;
    double maximum;
    if (!is_text_next(&reader, &line))
        return is_text_fault(&reader, 0, 0, "found no number, expected the maximum first");
    if (!is_text_number(&reader, &line, 0, "maximum", &maximum))
        return IS_E_CONFIG;
    if (!(maximum >= 0 && maximum <= 10))
        return is_text_fault(&reader, line.number, line.fields[0].column,
                             "maximum: found %.10g, expected 0 .. 10", maximum);
    model->factors->angular_maximum = maximum > 0 ? maximum : 1;
    return is_warnings_add(folder->warnings,
                           "not simulated yet: as.dat (angular acceptance; its maximum %g scales "
                           "the light)",
                           model->factors->angular_maximum);
}

/* Newer models say in this file how column 3 is meant. */
static int read_version(ppc_folder *folder, const is_text *text, void *target)
{
    (void)target;
    enum { FULL_ABSORPTION = 20 };
    is_text_reader reader = is_text_open(text, ' ', folder->error);
    is_line line;
    double version = 0;
    if (is_text_next(&reader, &line) && !is_text_number(&reader, &line, 0, "version", &version))
        return IS_E_CONFIG;
    if (version >= FULL_ABSORPTION)
        return is_text_fault(&reader, line.number, 0,
                             "version: found %g, expected less than %d: tables of the whole "
                             "absorption are not supported",
                             version, FULL_ABSORPTION);
    return is_warnings_add(folder->warnings,
                           "not simulated yet: version (subtraction of birefringence)");
}

/* ---- icemodel.dat ---------------------------------------------------------------------------- */

int is_ppc_layers_read(const is_text *text, double dust_scale, double dust_offset,
                       is_layer_list *out, is_warnings *warnings, is_error *error)
{
    is_number_table table;
    *out = (is_layer_list){.name = text->name};
    int status =
        is_number_table_read(text, 4, 8, ICE_LAYERS_MAX,
                             "depth be400 adust400 dtau [k1 k2 [BFRA [BFRB]]]", &table, error);
    if (status != IS_OK)
        return status;
    if (table.columns == 5)
        status = is_error_add(error, IS_E_CONFIG,
                              "%s:%zu: error: found 5 columns, expected 4, 6, 7 or 8", text->name,
                              table.lines[0]);
    bool anisotropic = false;
    for (size_t i = 0; i < table.rows && status == IS_OK; ++i) {
        const double *row = is_number_row(&table, i);
        is_layer_row layer = {.depth = row[0],
                              .layer = {.effective_scattering = row[1],
                                        .dust_absorption = dust_scale * row[2] + dust_offset,
                                        .delta_tau = row[3]},
                              .line = table.lines[i]};
        anisotropic |= table.columns >= 6 && (row[4] != 0 || row[5] != 0);
        status = is_layer_list_add(out, &layer);
    }
    if (status == IS_OK && anisotropic)
        status = is_warnings_add(warnings, "not simulated yet: icemodel.dat columns 5 and 6 "
                                           "(scattering anisotropy)");
    if (status == IS_E_MEMORY)
        is_error_add(error, IS_E_MEMORY, "%s: error: out of memory", text->name);
    is_number_table_free(&table);
    if (status != IS_OK)
        is_layer_list_free(out);
    return status;
}

static void add_bubbles(const double bubbles[3], is_layer_list *layers)
{
    for (size_t i = 0; i < layers->count; ++i) {
        double depth = layers->rows[i].depth;
        if (depth < bubbles[1] && depth < bubbles[2])
            layers->rows[i].layer.bubbles =
                bubbles[0] * (1 - depth / bubbles[1]) * (1 - depth / bubbles[2]);
    }
}

typedef struct layers_request {
    ppc_model *model;
    ice_medium **out;
} layers_request;

static int read_layers(ppc_folder *folder, const is_text *text, void *target)
{
    const layers_request *request = target;
    ppc_model *model = request->model;
    is_layer_list layers;
    int status = is_ppc_layers_read(text, model->dust_scale, model->dust_offset, &layers,
                                    folder->warnings, folder->error);
    if (status != IS_OK)
        return status;
    add_bubbles(model->bubbles, &layers);
    /* Without good parameters the coefficients would be judged by the wrong formula. */
    if (folder->status == IS_OK)
        status = is_medium_from_layers(folder->directory, &layers, &model->scalars, request->out,
                                       folder->error);
    is_layer_list_free(&layers);
    return status;
}

/* ---- the folder ------------------------------------------------------------------------------ */

static void warn_of_later_files(ppc_folder *folder)
{
    for (size_t i = 0; i < sizeof later_files / sizeof *later_files; ++i) {
        char *path = path_of(folder, later_files[i].name);
        if (path && exists(path))
            note(folder, is_warnings_add(folder->warnings, "not simulated yet: %s (%s)",
                                         later_files[i].name, later_files[i].feature));
        free(path);
    }
}

int is_medium_from_ppc(const char *directory, double oversize, ice_medium **out,
                       is_ice_factors *factors, is_warnings *warnings, is_error *error)
{
    ppc_folder folder = {.directory = directory, .warnings = warnings, .error = error};
    ppc_model model = {.dust_scale = 1, .oversize = oversize, .factors = factors};
    layers_request request = {.model = &model, .out = out};
    struct stat status;
    *out = NULL;
    if (stat(directory, &status) != 0)
        return is_error_add(error, IS_E_CONFIG, "%s: error: %s", directory, strerror(errno));
    if (!S_ISDIR(status.st_mode))
        return is_error_add(error, IS_E_CONFIG,
                            "%s: error: found a file, expected a ppc ice folder", directory);

    read_file(&folder, "icemodel.par", true, read_parameters, &model);
    read_file(&folder, "cfg.txt", true, read_settings, &model);
    read_file(&folder, "icemodel.bbl", false, read_bubbles, &model);
    read_file(&folder, "as.dat", false, read_angular_acceptance, &model);
    read_file(&folder, "version", false, read_version, NULL);
    /* Last, because its checks need the parameters. */
    read_file(&folder, "icemodel.dat", true, read_layers, &request);
    warn_of_later_files(&folder);
    if (folder.status != IS_OK) {
        is_medium_destroy(*out);
        *out = NULL;
    }
    return folder.status;
}
