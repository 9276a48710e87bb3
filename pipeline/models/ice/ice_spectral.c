/* Water from a YAML file: absorption, scattering and index of refraction by wavelength. */
#include "base/cleanup.h"
#include "base/error.h"
#include "pipeline/models/ice/ice_medium.h"
#include "pipeline/models/ice/ice_scatter.h"
#include "pipeline/models/ice/ice_sources.h"
#include "pipeline/models/ice/ice_water_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = (int)(ICE_WAVELENGTH_MAX - ICE_WAVELENGTH_MIN) + 1 };

typedef struct water_reader {
    ics_water_file file;
    const ics_yaml_node *root;
    ics_ice_keys keys;
    icestream_error *error;
} water_reader;

/* Returns where the table of the optics or of the index is given. NULL: nowhere. */
static const ics_yaml_node *table_node(const water_reader *reader, const char *file,
                                       const char *table)
{
    const ics_yaml_node *node = ics_ice_file_given(&reader->keys, file);
    return node != NULL ? node : ics_ice_file_given(&reader->keys, table);
}

/* The keys of the formula of the index, which exclude a table. */
static const char *const formula_keys[] = {"index.salinity", "index.temperature", "index.pressure"};

/* ---- checks ---------------------------------------------------------------------------------- */

/* Checks that the table spans the band, unless the values at its ends hold beyond them. */
static int check_band(const water_reader *reader, const ics_yaml_node *node, const char *what,
                      const ics_curve *curve, bool extend)
{
    const double first = curve->x[0], last = curve->x[curve->count - 1];
    if (extend || (first <= ICE_WAVELENGTH_MIN && last >= ICE_WAVELENGTH_MAX)) {
        return ICESTREAM_OK;
    }
    return ics_yaml_error(
        reader->error, node,
        "%s: found wavelengths of %.10g .. %.10g nm, expected at least %g .. %g nm, or "
        "%s.extend: constant, which takes the values of both ends beyond them",
        what, first, last, ICE_WAVELENGTH_MIN, ICE_WAVELENGTH_MAX, what);
}

static int check_optics(const water_reader *reader)
{
    const ics_wavelength_table *table = &reader->file.optics;
    const ics_yaml_node *node = table_node(reader, "optics.file", "optics.table");
    int absorption = 0, scattering = 0, status = ICESTREAM_OK;
    for (int i = 0; i < ICS_WATER_OPTICS; ++i) {
        *(i < ICS_WATER_SCATTERING_LENGTH ? &absorption : &scattering) +=
            ics_water_file_has(table, i);
    }
    if (absorption != 1) {
        status = ics_yaml_error(reader->error, node,
                                "optics: found %d columns of absorption, expected one: "
                                "absorption_length_m or absorption_per_m",
                                absorption);
    }
    if (scattering != 1) {
        status = ics_yaml_error(reader->error, node,
                                "optics: found %d columns of scattering, expected one: "
                                "scattering_length_m, scattering_per_m or either of them after "
                                "effective_",
                                scattering);
    }
    for (int i = 0; i < ICS_WATER_OPTICS && status == ICESTREAM_OK; ++i) {
        if (ics_water_file_has(table, i)) {
            return check_band(reader, node, "optics", &table->curves[i],
                              reader->file.optics_extend);
        }
    }
    return status;
}

static int check_index_table(const water_reader *reader, const ics_yaml_node *node)
{
    const ics_wavelength_table *table = &reader->file.index;
    const ics_curve *phase = &table->curves[ICS_WATER_PHASE_INDEX];
    for (int i = 0; i < 3; ++i) {
        const ics_yaml_node *given = ics_ice_file_given(&reader->keys, formula_keys[i]);
        if (given != NULL) {
            return ics_yaml_error(reader->error, given,
                                  "%s: found also a table of the index, expected one of the two",
                                  formula_keys[i]);
        }
    }
    if (!ics_water_file_has(table, ICS_WATER_PHASE_INDEX)) {
        return ics_yaml_error(reader->error, node, "index: found no column 'phase_index'");
    }
    if (!ics_water_file_has(table, ICS_WATER_GROUP_INDEX) && phase->count < 3) {
        return ics_yaml_error(reader->error, node,
                              "index: found %zu rows, expected 3 or more, or a column "
                              "'group_index', which is the slope of the phase index otherwise",
                              phase->count);
    }
    return check_band(reader, node, "index", phase, reader->file.index_extend);
}

static int check_index(const water_reader *reader)
{
    const ics_yaml_node *node = table_node(reader, "index.file", "index.table");
    const ics_yaml_node *section = ics_yaml_find(reader->root, "index");
    int status = ICESTREAM_OK;
    if (node != NULL) {
        return check_index_table(reader, node);
    }
    for (int i = 0; i < 3; ++i) {
        if (ics_ice_file_given(&reader->keys, formula_keys[i]) == NULL) {
            status =
                ics_yaml_error(reader->error, section != NULL ? section : reader->root,
                               "the key '%s' is missing: the index needs salinity (per mille), "
                               "temperature (deg C) and pressure (bar), or phase indices in "
                               "index.table or index.file",
                               formula_keys[i]);
        }
    }
    const ics_yaml_node *extend = ics_ice_file_given(&reader->keys, "index.extend");
    if (extend != NULL) {
        status = ics_yaml_error(reader->error, extend,
                                "index.extend: is for index.file or index.table, and neither is "
                                "given");
    }
    return status;
}

static int read_file(water_reader *reader)
{
    ICS_TRY(ics_ice_water_file_read(reader->root, &reader->keys, &reader->file, reader->error));
    int status = check_optics(reader);
    int result = check_index(reader);
    return status ? status : result;
}

/* ---- the medium ------------------------------------------------------------------------------ */

/* Computes the group index n - wavelength dn/dwavelength at the points of the phase index. */
static int derive_group_index(const water_reader *reader, ics_wavelength_table *table)
{
    const ics_curve *phase = &table->curves[ICS_WATER_PHASE_INDEX];
    ics_curve *group = &table->curves[ICS_WATER_GROUP_INDEX];
    const ics_yaml_node *node = table_node(reader, "index.file", "index.table");
    for (size_t i = 0; i < phase->count; ++i) {
        double value = phase->y[i] - phase->x[i] * ics_wavelength_table_slope(phase, i);
        if (!(value >= ICS_WATER_INDEX_MIN && value <= ICS_WATER_INDEX_MAX)) {
            return ics_yaml_error(
                reader->error, node,
                "index: found a group index of %.6g at %.10g nm from the slope of "
                "phase_index, expected %g .. %g",
                value, phase->x[i], ICS_WATER_INDEX_MIN, ICS_WATER_INDEX_MAX);
        }
        ICS_TRY(ics_curve_add(group, phase->x[i], value, reader->error));
    }
    return ICESTREAM_OK;
}

/* Returns a coefficient (1/m) at a wavelength, from the column with lengths or from the column with
 * coefficients, whichever the table has. */
static double coefficient(const ics_wavelength_table *table, int length, int inverse, double at)
{
    return ics_water_file_has(table, length) ? 1 / ics_curve_at_or_end(&table->curves[length], at)
                                             : ics_curve_at_or_end(&table->curves[inverse], at);
}

static ice_spectral_optics optics_at(const ics_water_file *file, double wavelength)
{
    const ics_wavelength_table *optics = &file->optics, *index = &file->index;
    const double effective = 1 - (1 - file->rayleigh_fraction) * file->mean_cosine;
    ice_spectral_optics at = {.absorption = coefficient(optics, ICS_WATER_ABSORPTION_LENGTH,
                                                        ICS_WATER_ABSORPTION, wavelength)};
    if (ics_water_file_has(optics, ICS_WATER_EFFECTIVE_LENGTH) ||
        ics_water_file_has(optics, ICS_WATER_EFFECTIVE)) {
        at.scattering =
            coefficient(optics, ICS_WATER_EFFECTIVE_LENGTH, ICS_WATER_EFFECTIVE, wavelength) /
            effective;
    } else {
        at.scattering =
            coefficient(optics, ICS_WATER_SCATTERING_LENGTH, ICS_WATER_SCATTERING, wavelength);
    }
    if (ics_water_file_has(index, ICS_WATER_PHASE_INDEX)) {
        at.phase_index = ics_curve_at_or_end(&index->curves[ICS_WATER_PHASE_INDEX], wavelength);
        at.group_index = ics_curve_at_or_end(&index->curves[ICS_WATER_GROUP_INDEX], wavelength);
    } else {
        at.phase_index = ice_water_phase_index(&file->water, wavelength);
        at.group_index = ice_water_group_index(&file->water, wavelength);
    }
    return at;
}

static void set_layers(const ics_water_file *file, ice_medium *medium)
{
    static const ics_water_layer everywhere = {.scattering = 1, .absorption = 1};
    const ics_water_layer *layers = file->layer_count ? file->layers : &everywhere;
    const size_t last = medium->layer_count - 1;
    medium->thickness = last ? (layers[last].z - layers[0].z) / (double)last : 100;
    medium->bottom = layers[0].z - 0.5 * medium->thickness;
    for (size_t i = 0; i <= last; ++i) {
        medium->layers[i] =
            (ice_layer){.effective_scattering = (1 - file->mean_cosine) * layers[i].scattering,
                        .dust_absorption = layers[i].absorption};
    }
}

static int make_medium(const water_reader *reader, const char *path, ice_medium **out)
{
    const ics_water_file *file = &reader->file;
    ice_medium *medium;
    ICS_TRY(ics_ice_allocate(file->name != NULL ? file->name : path,
                             file->layer_count ? file->layer_count : 1, &medium, reader->error));
    medium->spectral = calloc(ROWS, sizeof *medium->spectral);
    if (medium->spectral == NULL) {
        ics_ice_destroy(medium);
        return ics_yaml_no_memory(reader->error, reader->root);
    }
    medium->mean_cosine = file->mean_cosine;
    const bool has_formula = !ics_water_file_has(&file->index, ICS_WATER_PHASE_INDEX);
    medium->density = file->density;
    if (has_formula && file->density == 0) {
        medium->density = ice_water_density(&file->water);
    }
    medium->rayleigh_fraction = file->rayleigh_fraction;
    set_layers(file, medium);
    for (int i = 0; i < ROWS; ++i) {
        medium->spectral[i] = optics_at(file, ICE_WAVELENGTH_MIN + i);
    }
    *out = medium;
    return ICESTREAM_OK;
}

static int read_water(water_reader *reader, const char *path, const char *scatter, ice_medium **out,
                      ics_warnings *warnings)
{
    ics_wavelength_table *index = &reader->file.index;
    ICS_TRY(read_file(reader));
    const bool has_formula = !ics_water_file_has(index, ICS_WATER_PHASE_INDEX);
    if (!has_formula && !ics_water_file_has(index, ICS_WATER_GROUP_INDEX)) {
        ICS_TRY(derive_group_index(reader, index));
    }
    if (has_formula && reader->file.water.salinity > 1) {
        ics_warnings_add(
            warnings,
            "%s: what salinity adds to the index of refraction was fitted for %g .. %g nm and is "
            "trusted down to %g nm; for light below, give index.table",
            path, ICE_WATER_FITTED_FROM, ICE_WATER_FITTED_TO, ICE_WATER_TRUSTED_FROM);
    }
    ICS_TRY(make_medium(reader, path, out));
    ics_ice_scatter_choose(scatter, reader->file.scatter, *out);
    ics_ice_scatter_warn(ics_ice_scatter_variant(0), scatter, true, &reader->keys, warnings);
    return ICESTREAM_OK;
}

int ics_ice_from_spectral(const char *path, const ics_yaml_node *root, const char *scatter,
                          ice_medium **out, ics_warnings *warnings, icestream_error *error)
{
    water_reader reader = {.root = root, .error = error};
    *out = NULL;
    const int status = read_water(&reader, path, scatter, out, warnings);
    ics_ice_water_file_clear(&reader.keys, &reader.file);
    return status;
}
