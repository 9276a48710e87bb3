#include "pipeline/photons/models/detector/sensors.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "pipeline/photons/models/detector/angular.h"
#include "pipeline/photons/models/detector/layout.h"
#include "pipeline/photons/models/detector/pmt_detection.h"
#include "pipeline/photons/models/file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

ice_module *ics_sensors_find_module(const ice_detector *detector, ics_module_identity identity)
{
    uint32_t wanted = (uint32_t)identity.string << 16 | identity.module;
    size_t low = 0, high = detector->module_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ics_sensors_identity(&detector->modules[middle]) < wanted) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found =
        low < detector->module_count && ics_sensors_identity(&detector->modules[low]) == wanted;
    return found ? &detector->modules[low] : NULL;
}

/* The limits of geo-f2k: strings above LAST_WITH_SURFACE have no modules at the surface. */
enum { LAST_IN_ICE = 60, LAST_WITH_SURFACE = 86 };

/* ---- rows ------------------------------------------------------------------------------------ */

/* A file while it is read into copies of the modules. */
typedef struct sensor_reader {
    ics_text_reader text;
    const ics_text_table *table;
    ice_detector modules; /* a copy that owns only `modules` and `module_count` */
    size_t *rows;         /* [module_count], 1 + the row of the module in the file; 0: none */
    size_t known;         /* rows of modules that the detector has */
    size_t unknown;       /* rows of modules that the detector does not have */
    size_t beyond;        /* the same, of modules that are not in the ice, as IceTop has them */
} sensor_reader;

static int take_efficiency(sensor_reader *reader, size_t row, const double *values,
                           ice_module *module)
{
    const double type = reader->table->columns > 3 ? values[3] : 0;
    if (!(values[2] > 0 && values[2] <= 100)) {
        return ics_text_fault(&reader->text, reader->table->lines[row], 0,
                              "efficiency: found %.10g, expected more than 0, at most 100",
                              values[2]);
    }
    if (type != 0 && type != 1) {
        return ics_text_fault(&reader->text, reader->table->lines[row], 0,
                              "type: found %.10g, expected 0 or 1", type);
    }
    module->efficiency = values[2];
    module->acceptance = (uint8_t)type;
    return ICESTREAM_OK;
}

static int take_axis(sensor_reader *reader, size_t row, const double *values, ice_module *module)
{
    const double tolerance = 0.01; /* files have few digits */
    const double *n = values + 2;
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    if (!(fabs(length - 1) <= tolerance)) {
        return ics_text_fault(&reader->text, reader->table->lines[row], 0,
                              "axis: found a vector of length %.6g, expected a unit vector",
                              length);
    }
    for (size_t i = 0; i < 3; ++i) {
        module->back[i] = n[i] / length;
    }
    return ICESTREAM_OK;
}

static int take_cable(sensor_reader *reader, size_t row, const double *values, ice_module *module)
{
    if (!(values[2] >= -360 && values[2] <= 360)) {
        return ics_text_fault(&reader->text, reader->table->lines[row], 0,
                              "azimuth: found %.10g, expected -360 .. 360 degrees", values[2]);
    }
    module->has_cable = true;
    module->cable_azimuth = values[2] * (M_PI / 180);
    return ICESTREAM_OK;
}

static int take_voltage(sensor_reader *reader, size_t row, const double *values, ice_module *module)
{
    if (!(values[2] >= 0 && values[2] <= 1e5)) {
        return ics_text_fault(&reader->text, reader->table->lines[row], 0,
                              "voltage: found %.10g, expected 0 .. 1e5 V", values[2]);
    }
    module->is_off = values[2] == 0;
    return ICESTREAM_OK;
}

/* The files. */
static const struct {
    const char *name; /* in a ppc ice folder */
    const char *key;  /* of the configuration */
    size_t least, most;
    const char *columns;
    int (*take)(sensor_reader *reader, size_t row, const double *values, ice_module *module);
} formats[ICS_SENSOR_FILES] = {
    [ICS_SENSOR_EFFICIENCIES] = {"eff-f2k", "detector.efficiencies", 3, 4,
                                 "3 or 4: string, module, efficiency [, type]", take_efficiency},
    [ICS_SENSOR_AXES] = {"cx.dat", "detector.axes", 6, 6,
                         "6: string, module, nx, ny, nz, uncertainty", take_axis},
    [ICS_SENSOR_CABLES] = {"dx.dat", "detector.cables", 4, 4,
                           "4: string, module, azimuth, uncertainty", take_cable},
    [ICS_SENSOR_VOLTAGES] = {"hvs-f2k", "detector.voltages", 3, 3, "3: string, module, voltage",
                             take_voltage},
};

static bool is_identity(double value)
{
    return fabs(value) <= UINT16_MAX && value == floor(value);
}

static void read_row(sensor_reader *reader, ics_sensor_file kind, size_t row)
{
    static const char *const names[] = {"string", "module"};
    const double *values = ics_text_table_row(reader->table, row);
    const size_t line = reader->table->lines[row];
    bool good = true;
    for (size_t i = 0; i < 2; ++i) {
        if (!is_identity(values[i])) {
            ics_text_fault(&reader->text, line, 0,
                           "%s: found %.10g, expected a whole number up to %d", names[i], values[i],
                           UINT16_MAX);
            good = false;
        }
    }
    if (!good) {
        return;
    }
    ice_module *module = NULL;
    if (values[0] >= 0 && values[1] >= 0) {
        module = ics_sensors_find_module(
            &reader->modules,
            (ics_module_identity){.string = (uint16_t)values[0], .module = (uint16_t)values[1]});
    }
    if (module == NULL) {
        const bool in_ice =
            values[0] > LAST_WITH_SURFACE || (values[0] >= 1 && values[1] <= LAST_IN_ICE);
        reader->unknown += in_ice && values[1] >= 1;
        reader->beyond += values[0] >= 1 && !in_ice;
        return;
    }
    ++reader->known;
    size_t *earlier = &reader->rows[module - reader->modules.modules];
    if (*earlier > 0) {
        ics_text_fault(
            &reader->text, line, 0,
            "found string %g, module %g again (first on line %zu), expected every module "
            "at most once",
            values[0], values[1], reader->table->lines[*earlier - 1]);
        return;
    }
    *earlier = row + 1;
    formats[kind].take(reader, row, values, module);
}

/* Of a list of fewer rows nothing is said of its numbers. */
enum { LEAST_ROWS = 10 };

/* A list of azimuths in radians has small numbers only. One number for all, such as 0, says
 * nothing. */
static void warn_of_radians(const sensor_reader *reader, ics_warnings *warnings)
{
    bool differs = false;
    for (size_t i = 0; i < reader->table->rows; ++i) {
        const double azimuth = ics_text_table_row(reader->table, i)[2];
        if (fabs(azimuth) > 2 * M_PI) {
            return;
        }
        differs |= azimuth != ics_text_table_row(reader->table, 0)[2];
    }
    if (reader->table->rows >= LEAST_ROWS && differs) {
        ics_warnings_add(warnings,
                         "%s: azimuth: found %zu azimuths, all between -2 pi and 2 pi; "
                         "usual: 0 to 360 degrees; are they in radians?",
                         reader->text.name, reader->table->rows);
    }
}

/* Warns of rows of modules that the detector does not have. */
static void warn_of_others(const sensor_reader *reader, const ice_detector *detector,
                           ics_warnings *warnings)
{
    const size_t left_out = reader->unknown + reader->beyond;
    if (left_out > reader->known && left_out + reader->known >= LEAST_ROWS) {
        ics_warnings_add(warnings,
                         "%s: %zu of %zu rows are of modules that %s does not have; are "
                         "string and module swapped?",
                         reader->text.name, left_out, left_out + reader->known, detector->name);
    } else if (reader->unknown > 0) {
        ics_warnings_add(
            warnings, "%s: %zu row%s that %s does not have", reader->text.name, reader->unknown,
            reader->unknown == 1 ? " is of a module" : "s are of modules", detector->name);
    }
}

static int read_rows(sensor_reader *reader, ics_sensor_file kind, ice_detector *detector,
                     ics_warnings *warnings)
{
    for (size_t i = 0; i < reader->table->rows; ++i) {
        read_row(reader, kind, i);
    }
    ICS_TRY(ics_text_status(&reader->text));
    if (reader->known == 0 && reader->unknown > 0) {
        return ics_text_fault(&reader->text, 0, 0,
                              "found %zu row%s, none of a module that %s has; expected rows with "
                              "its numbers of strings and modules",
                              reader->unknown, reader->unknown == 1 ? "" : "s", detector->name);
    }
    for (size_t i = 0; kind == ICS_SENSOR_VOLTAGES && i < detector->module_count; ++i) {
        reader->modules.modules[i].is_off |= reader->rows[i] == 0;
    }
    if (kind == ICS_SENSOR_CABLES) {
        warn_of_radians(reader, warnings);
    }
    memcpy(detector->modules, reader->modules.modules,
           detector->module_count * sizeof *detector->modules);
    warn_of_others(reader, detector, warnings);
    return ICESTREAM_OK;
}

int ics_sensors_file_read(ics_sensor_file kind, const ics_text *text, ice_detector *detector,
                          ics_warnings *warnings, icestream_error *error)
{
    ICS_CLEANUP(ics_text_table_free) ics_text_table table = {0};
    ICS_TRY(ics_text_table_read(text, formats[kind].least, formats[kind].most, ICE_MODULES_MAX,
                                formats[kind].columns, &table, error));
    const size_t count = detector->module_count;
    ICS_FREES ice_module *modules = malloc(count * sizeof *modules);
    ICS_FREES size_t *rows = calloc(count, sizeof *rows);
    if (modules == NULL || rows == NULL) {
        return ics_error_no_memory(error, text->name);
    }
    memcpy(modules, detector->modules, count * sizeof *modules);
    sensor_reader reader = {.text = ics_text_open(text, ' ', error),
                            .table = &table,
                            .modules = {.modules = modules, .module_count = count},
                            .rows = rows};
    return read_rows(&reader, kind, detector, warnings);
}

/* ---- as configured --------------------------------------------------------------------------- */

bool ics_sensors_detecting(const icestream_config *config)
{
    return strcmp(config->stages.detect, "none") != 0;
}

static int read_angular(const icestream_config *config, ice_angular *out, ics_warnings *warnings,
                        icestream_error *error)
{
    const char *value = config->detector.angular_acceptance;
    char place[512];
    *out = ics_angular_standard();
    if (config->detector.angular_count > 0) {
        return ics_angular_from_numbers(
            ics_config_place(config, "detector.angular_polynomial", place, sizeof place),
            config->detector.angular_polynomial, config->detector.angular_count, out, warnings,
            error);
    }
    if (strcmp(value, "standard") == 0) {
        return ICESTREAM_OK;
    }
    if (strcmp(value, "none") == 0) {
        *out = ics_angular_none();
        return ICESTREAM_OK;
    }
    ICS_CLEANUP(ics_text_free) ics_text text = {0};
    ICS_TRY(ics_model_file_read(config, value, "as.dat", &text, error));
    return text.name != NULL ? ics_angular_read(&text, out, warnings, error) : ICESTREAM_OK;
}

/* Checks that a list of single modules is for this detector. If the folder of the list has a
 * geo-f2k, the numbers of strings and modules must mean the same positions in both. */
static int check_layout(const icestream_config *config, ics_sensor_file kind, const char *path,
                        const ice_detector *detector, ics_warnings *warnings,
                        icestream_error *error)
{
    ics_layout_difference difference = {0};
    const char *key = formats[kind].key;
    char buffer[512];
    const char *place = ics_config_place(config, key, buffer, sizeof buffer);
    if (strcmp(place, "default") == 0) {
        place = ics_config_place(config, "ice.directory", buffer, sizeof buffer);
    }
    ICS_TRY(ics_detector_layout_compare(detector, path, &difference, error));
    ICS_FREES char *file = difference.file;
    if (difference.moved > 0) {
        return ics_error_add(
            error, ICESTREAM_E_CONFIG,
            "%s: error: %s: found %s, which is for the modules of %s, and a detector, %s, whose "
            "module %u of string %u is %.4g m away from its position there (and %zu of %zu modules "
            "more than %g m); expected the detector of that file (neither detector.file nor "
            "detector.layout), or %s: none, or a list for this detector in another folder",
            place, key, path, file, detector->name, difference.module, difference.string,
            difference.distance, difference.moved, difference.shared, ICS_LAYOUT_TOLERANCE, key);
    }
    if (file == NULL && strcmp(detector->name, "hex86") == 0 && config->ice.directory != NULL) {
        ics_warnings_add(warnings,
                         "%s: %s: %s is applied to hex86 by numbers of strings and modules, "
                         "and no geo-f2k lies next to the list that says which modules "
                         "these are; give detector.file, or %s: none",
                         place, key, path, key);
    }
    return ICESTREAM_OK;
}

/* Reads the file that a key names. The value "auto" has an effect only if the detect stage makes
 * photo-electrons. */
static int read_sensor_file(const icestream_config *config, ics_sensor_file kind, const char *value,
                            ice_detector *detector, ics_warnings *warnings, icestream_error *error)
{
    ICS_FREES char *path = NULL;
    ICS_CLEANUP(ics_text_free) ics_text text = {0};
    if (strcmp(value, "auto") == 0 && !ics_sensors_detecting(config)) {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_model_file_find(config, value, formats[kind].name, &path, error));
    if (path == NULL) {
        return ICESTREAM_OK;
    }
    ICS_TRY(check_layout(config, kind, path, detector, warnings, error));
    ICS_TRY(ics_text_read(path, &text, error));
    return ics_sensors_file_read(kind, &text, detector, warnings, error);
}

int ics_sensors_create(const icestream_config *config, ice_detector *detector,
                       ics_warnings *warnings, icestream_error *error)
{
    const char *const values[ICS_SENSOR_FILES] = {
        [ICS_SENSOR_EFFICIENCIES] = config->detector.efficiencies,
        [ICS_SENSOR_AXES] = config->detector.axes,
        [ICS_SENSOR_CABLES] = config->detector.cables,
        [ICS_SENSOR_VOLTAGES] = config->detector.voltages};
    int status = ICESTREAM_OK;
    for (ics_sensor_file kind = 0; kind < ICS_SENSOR_FILES; ++kind) {
        status = ics_error_first(
            status, read_sensor_file(config, kind, values[kind], detector, warnings, error));
    }
    detector->cable_radius = config->detector.cable_radius;
    detector->cable_length = config->detector.cable_length;
    return status;
}

int ics_sensors_angular_create(const icestream_config *config, ice_detector *detector,
                               ics_warnings *warnings, icestream_error *error)
{
    if (!ics_pmt_detection_is(config->stages.detect)) {
        return read_angular(config, &detector->angular, warnings, error);
    }
    detector->angular = ics_angular_none();
    return ics_pmt_detection_maximum(config, detector, &detector->angular.maximum, warnings, error);
}
