#include "pipeline/commands/gradient/parameters.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "pipeline/photons/config/yaml/yaml.h"
#include "pipeline/photons/models/detector/sensors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum key_kind {
    LAYERS_SCATTERING,
    LAYERS_ABSORPTION,
    LAYERS_BE400,
    LAYERS_ADUST400,
    HOLE_SCATTERING,
    HOLE_ABSORPTION,
    MEAN_COSINE,
    LIU_FRACTION,
    HOLE_MEAN_COSINE,
    HOLE_LIU_FRACTION,
    ANISOTROPY_ALONG,
    ANISOTROPY_ACROSS,
    FLOW_AZIMUTH,
    EFFICIENCY,
    EFFICIENCIES,
    KINDS
} key_kind;

/* What a key has a parameter for. */
typedef enum key_extent { OF_ALL, OF_LAYERS, OF_MODULES } key_extent;

/* The rows of files.md 15. `step`: that of the difference of weights which is the derivative; 0: it
 * follows from the sums along the path, or is 1. `is_exact`: ln w = n ln p - tau (p - 1) for every
 * p, so that both derivatives say everything. */
static const struct {
    const char *name;
    key_extent extent;
    bool is_logarithmic, of_columns, is_exact;
    double step;
} rows[KINDS] = {
    [LAYERS_SCATTERING] = {"layers.scattering", OF_LAYERS, true, false, true, 0},
    [LAYERS_ABSORPTION] = {"layers.absorption", OF_LAYERS, true, false, true, 0},
    [LAYERS_BE400] = {"layers.be400_per_m", OF_LAYERS, true, false, false, 0},
    [LAYERS_ADUST400] = {"layers.adust400_per_m", OF_LAYERS, true, false, true, 0},
    [HOLE_SCATTERING] = {"hole.effective_scattering", OF_ALL, true, true, false, 0},
    [HOLE_ABSORPTION] = {"hole.absorption", OF_ALL, true, true, false, 0},
    [MEAN_COSINE] = {"mean_cosine", OF_ALL, false, false, false, 0},
    [LIU_FRACTION] = {"liu_fraction", OF_ALL, false, false, false, 0},
    [HOLE_MEAN_COSINE] = {"hole.mean_cosine", OF_ALL, false, true, false, 0},
    [HOLE_LIU_FRACTION] = {"hole.liu_fraction", OF_ALL, false, true, false, 0},
    [ANISOTROPY_ALONG] = {"anisotropy[0]", OF_ALL, false, false, false, 1e-2},
    [ANISOTROPY_ACROSS] = {"anisotropy[1]", OF_ALL, false, false, false, 1e-2},
    [FLOW_AZIMUTH] = {"flow_azimuth", OF_ALL, false, false, false, 1},
    [EFFICIENCY] = {"efficiency", OF_ALL, true, false, true, 0},
    [EFFICIENCIES] = {"detector.efficiencies", OF_MODULES, true, false, true, 0},
};

/* A derivative is the sum of these weights of steps, divided by the step: the central difference
 * whose error is of the fourth order. So steps may be so large that the rounding of tables in
 * single precision does not count: it is 1e-5 of a derivative. */
static const struct {
    int steps;
    double weight;
} differences[ICS_GRADIENT_ICES] = {{2, -1.0 / 12}, {1, 8.0 / 12}, {-1, -8.0 / 12}, {-2, 1.0 / 12}};

static int no_memory(icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_MEMORY, "gradient: out of memory for parameters");
}

static const double degree = ICE_PI / 180;

/* ---- values ---------------------------------------------------------------------------------- */

/* The value of a parameter in the ice of the hits. */
static double value_of(const ice_medium *medium, key_kind kind, uint32_t layer)
{
    switch (kind) {
    case LAYERS_BE400:
        return medium->layers[layer].effective_scattering;
    case LAYERS_ADUST400:
        return medium->layers[layer].dust_absorption;
    case HOLE_SCATTERING:
        return medium->hole.effective_scattering;
    case HOLE_ABSORPTION:
        return medium->hole.absorption;
    case MEAN_COSINE:
        return medium->mean_cosine;
    case LIU_FRACTION:
        return medium->liu_fraction;
    case HOLE_MEAN_COSINE:
        return medium->hole.mean_cosine;
    case HOLE_LIU_FRACTION:
        return medium->hole.liu_fraction;
    case ANISOTROPY_ALONG:
        return medium->layers[0].anisotropy_along;
    case ANISOTROPY_ACROSS:
        return medium->layers[0].anisotropy_across;
    case FLOW_AZIMUTH:
        return medium->flow_azimuth / degree;
    case LAYERS_SCATTERING:
    case LAYERS_ABSORPTION:
    case EFFICIENCY:
    case EFFICIENCIES:
    case KINDS:
        break;
    }
    return 1;
}

/* Changes a parameter whose derivative is a difference. */
static void change(ice_medium *medium, key_kind kind, double by)
{
    medium->flow_azimuth += kind == FLOW_AZIMUTH ? by * degree : 0;
    for (size_t i = 0; i < medium->layer_count; ++i) {
        medium->layers[i].anisotropy_along += kind == ANISOTROPY_ALONG ? by : 0;
        medium->layers[i].anisotropy_across += kind == ANISOTROPY_ACROSS ? by : 0;
    }
}

/* ---- choosing -------------------------------------------------------------------------------- */

static int refuse(const char *name, const char *expected, icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_USAGE, "--parameters: found %s, expected %s", name,
                         expected);
}

static int find_row(const char *name, int *out, icestream_error *error)
{
    char list[512] = "";
    for (int i = 0; i < KINDS; ++i) {
        if (strcmp(name, rows[i].name) == 0) {
            *out = i;
            return ICESTREAM_OK;
        }
        strncat(list, i > 0 ? ", " : "one of ", sizeof list - strlen(list) - 1);
        strncat(list, rows[i].name, sizeof list - strlen(list) - 1);
    }
    return refuse(name, list, error);
}

static bool scatters_by_mixture(ice_variant scatter)
{
    return scatter == ICE_scatter_hg_sl;
}

/* Refuses a key that means nothing in the ice of the hits. */
static int check_row(const ics_made_run *run, int row, icestream_error *error)
{
    const ice_medium *medium = run->world.models->medium;
    const char *name = rows[row].name;
    if (rows[row].of_columns && !(medium->hole.radius > 0)) {
        return refuse(name, "a key of the ice of the hits, which has no columns of hole ice",
                      error);
    }
    if (row == EFFICIENCY || row == EFFICIENCIES) {
        return ics_config_content(run->config) == ICS_CONTENT_PE
                   ? ICESTREAM_OK
                   : refuse(name,
                            "a key of the ice, because hits of photons do not depend on what "
                            "detects them; it needs sink.hits: pe",
                            error);
    }
    if (medium->spectral != NULL && row != LAYERS_SCATTERING && row != LAYERS_ABSORPTION) {
        return refuse(name,
                      "layers.scattering or layers.absorption, because optics of the medium are "
                      "a table",
                      error);
    }
    if ((row == LIU_FRACTION || row == HOLE_LIU_FRACTION) &&
        !scatters_by_mixture(run->replay.variants.scatter)) {
        return refuse(name, "a key that stages.scatter of the hits uses", error);
    }
    return ICESTREAM_OK;
}

/* Makes the ice with another value. */
static int make_ice(const ics_made_run *run, int row, double by, ics_tables **out,
                    icestream_error *error)
{
    ICS_DESTROYS(ics_models_destroy) ics_models *models = NULL;
    ICS_TRY(ics_models_create(run->config, &models, error));
    change(models->medium, (key_kind)row, by);
    return ics_world_create_tables(run->config, models, out, error);
}

static int make_ices(const ics_made_run *run, ics_gradient_keys *keys, ics_gradient_key *key,
                     icestream_error *error)
{
    key->target = keys->target_count;
    for (size_t i = 0; i < ICS_GRADIENT_ICES; ++i) {
        ics_replay_target *target = &keys->targets[keys->target_count++];
        const double by = differences[i].steps * rows[key->row].step;
        ICS_TRY(make_ice(run, key->row, by, &key->ices[i], error));
        *target =
            (ics_replay_target){key->ices[i], run->replay.variants.scatter, rows[key->row].name};
        ICS_TRY(ics_replay_check_target(run->world.tables, target, error));
    }
    return ICESTREAM_OK;
}

static uint32_t count_parameters(const ics_made_run *run, int row)
{
    switch (rows[row].extent) {
    case OF_LAYERS:
        return (uint32_t)run->world.models->medium->layer_count;
    case OF_MODULES:
        return (uint32_t)run->world.models->detector->module_count;
    case OF_ALL:
        break;
    }
    return 1;
}

static int add_key(const ics_made_run *run, const char *name, ics_gradient_keys *keys,
                   icestream_error *error)
{
    ics_gradient_key *key = &keys->items[keys->count];
    *key = (ics_gradient_key){.first = keys->parameters};
    ICS_TRY(find_row(name, &key->row, error));
    for (size_t i = 0; i < keys->count; ++i) {
        if (keys->items[i].row == key->row) {
            return refuse(name, "each key once", error);
        }
    }
    ICS_TRY(check_row(run, key->row, error));
    key->count = count_parameters(run, key->row);
    keys->count += 1;
    keys->parameters += key->count;
    keys->angles |= key->row == MEAN_COSINE || key->row == LIU_FRACTION ||
                    key->row == HOLE_MEAN_COSINE || key->row == HOLE_LIU_FRACTION;
    return rows[key->row].step > 0 ? make_ices(run, keys, key, error) : ICESTREAM_OK;
}

/* Chooses the keys that a YAML file lists. */
static int add_file(const ics_made_run *run, const char *path, ics_gradient_keys *keys,
                    icestream_error *error)
{
    ICS_DESTROYS(ics_yaml_destroy) ics_yaml *document = NULL;
    ICS_TRY(ics_yaml_read_file(path, &document, error));
    const ics_yaml_node *list = ics_yaml_root(document);
    if (list->kind != ICS_YAML_LIST || list->count == 0) {
        return ics_yaml_unexpected(error, list, NULL, "a list of keys, such as [mean_cosine]");
    }
    for (size_t i = 0; i < list->count; ++i) {
        const ics_yaml_node *item = list->items[i];
        if (item->kind != ICS_YAML_SCALAR) {
            return ics_yaml_unexpected(error, item, NULL, "a key, such as mean_cosine");
        }
        ICS_TRY(add_key(run, item->text, keys, error));
    }
    return ICESTREAM_OK;
}

static bool is_yaml(const char *name)
{
    const size_t length = strlen(name);
    return length > 5 && strcmp(name + length - 5, ".yaml") == 0;
}

int ics_gradient_keys_create(const ics_made_run *run, const char *const *names, size_t count,
                             ics_gradient_keys *out, icestream_error *error)
{
    static const char *const usual[] = {"layers.scattering", "layers.absorption"};
    names = count > 0 ? names : usual;
    count = count > 0 ? count : 2;
    *out = (ics_gradient_keys){
        .items = calloc(KINDS + 1, sizeof *out->items), /* one more, which is refused */
        .targets = calloc(ICS_GRADIENT_ICES * (size_t)KINDS, sizeof *out->targets)};
    int status = out->items != NULL && out->targets != NULL ? ICESTREAM_OK : no_memory(error);
    for (size_t i = 0; i < count && status == ICESTREAM_OK; ++i) {
        status = is_yaml(names[i]) ? add_file(run, names[i], out, error)
                                   : add_key(run, names[i], out, error);
    }
    if (status != ICESTREAM_OK) {
        ics_gradient_keys_free(out);
    }
    return status;
}

void ics_gradient_keys_free(ics_gradient_keys *keys)
{
    for (size_t i = 0; i < keys->count; ++i) {
        for (size_t j = 0; j < ICS_GRADIENT_ICES; ++j) {
            ics_tables_destroy(keys->items[i].ices[j]);
        }
    }
    free(keys->items);
    free(keys->targets);
    *keys = (ics_gradient_keys){.count = 0};
}

/* ---- derivatives ----------------------------------------------------------------------------- */

/* Sums over the layers, or over the columns: n - tau, and tau. */
static ics_gradient_value scattering_sum(const ics_replay_result *result, bool columns)
{
    ics_gradient_value sum = {0, 0};
    for (size_t i = 0; i < result->layer_count; ++i) {
        const ics_replay_layer *at = &result->layers[i];
        if ((at->layer == ICS_REPLAY_COLUMNS) == columns) {
            sum.first += at->scatters - at->scattering_depth;
            sum.second -= at->scattering_depth;
        }
    }
    return sum;
}

static double column_absorption(const ics_replay_result *result)
{
    double sum = 0;
    for (size_t i = 0; i < result->layer_count; ++i) {
        sum +=
            result->layers[i].layer == ICS_REPLAY_COLUMNS ? result->layers[i].absorption_depth : 0;
    }
    return sum;
}

/* With L = ln p and the share s of the coefficient that p scales, the coefficient is proportional
 * to 1 - s + s exp(L). So n scatters and the depth tau contribute
 * n ln(1 - s + s exp(L)) - tau s (exp(L) - 1) to ln w, and absorption only the last term. */
static ics_gradient_value layer_value(const ics_made_run *run, key_kind kind,
                                      const ics_replay_layer *at, float wavelength)
{
    const bool scatters = kind == LAYERS_SCATTERING || kind == LAYERS_BE400;
    double s = 1, absorption = 1;
    if (kind == LAYERS_BE400 || kind == LAYERS_ADUST400) {
        ics_replay_shares(run->replay.models.tables, at->layer, wavelength, &s, &absorption);
    }
    if (!scatters) {
        return (ics_gradient_value){-absorption * at->absorption_depth,
                                    -absorption * at->absorption_depth};
    }
    return (ics_gradient_value){s * (at->scatters - at->scattering_depth),
                                s * (1 - s) * at->scatters - s * at->scattering_depth};
}

/* A key with one parameter. The effective scattering stays when a mean cosine g changes, so that
 * the scattering coefficient is proportional to 1 / (1 - g) (physics.md 4.2). */
static ics_gradient_value single_value(const ics_made_run *run, const ics_gradient_key *key,
                                       const ics_replay_result *result)
{
    const ice_medium *medium = run->world.models->medium;
    const ics_gradient_value ice = scattering_sum(result, false);
    const ics_gradient_value columns = scattering_sum(result, true);
    switch ((key_kind)key->row) {
    case HOLE_SCATTERING: /* a length: the coefficient is its inverse */
        return (ics_gradient_value){-columns.first, columns.second};
    case HOLE_ABSORPTION:
        return (ics_gradient_value){column_absorption(result), -column_absorption(result)};
    case MEAN_COSINE:
        return (ics_gradient_value){result->mean_cosine + ice.first / (1 - medium->mean_cosine),
                                    NAN};
    case HOLE_MEAN_COSINE:
        return (ics_gradient_value){
            result->column_mean_cosine + columns.first / (1 - medium->hole.mean_cosine), NAN};
    case LIU_FRACTION:
        return (ics_gradient_value){result->mixture, NAN};
    case HOLE_LIU_FRACTION:
        return (ics_gradient_value){result->column_mixture, NAN};
    case EFFICIENCY:
        return (ics_gradient_value){1, 0};
    default: {
        double sum = 0;
        for (size_t i = 0; i < ICS_GRADIENT_ICES; ++i) {
            sum += differences[i].weight * result->log_weights[key->target + i];
        }
        return (ics_gradient_value){sum / rows[key->row].step, NAN};
    }
    }
}

/* The derivatives by the parameters of all layers on the path. */
static void put_layers(const ics_made_run *run, const ics_gradient_key *key,
                       const ics_replay_result *result, ics_gradient_put put, void *self)
{
    const float wavelength = run->list.hits[result->hit].wavelength;
    for (size_t i = 0; i < result->layer_count; ++i) {
        const ics_replay_layer *at = &result->layers[i];
        if (at->layer != ICS_REPLAY_COLUMNS) {
            put(self, key->first + at->layer, layer_value(run, (key_kind)key->row, at, wavelength));
        }
    }
}

/* The weight of a photo-electron is proportional to the efficiency of its module. */
static void put_module(const ics_made_run *run, const ics_gradient_key *key,
                       const icestream_hit *hit, ics_gradient_put put, void *self)
{
    const ice_detector *detector = run->world.models->detector;
    const ice_module *module =
        ics_sensors_find_module(detector, (ics_module_identity){hit->string, hit->module});
    const ics_gradient_value one = {1, 0};
    put(self, key->first + (uint32_t)(module - detector->modules), one);
}

void ics_gradient_of_hit(const ics_made_run *run, const ics_gradient_keys *keys,
                         const ics_replay_result *result, ics_gradient_put put, void *self)
{
    for (size_t k = 0; k < keys->count; ++k) {
        const ics_gradient_key *key = &keys->items[k];
        if (rows[key->row].extent == OF_LAYERS) {
            put_layers(run, key, result, put, self);
        } else if (rows[key->row].extent == OF_MODULES) {
            put_module(run, key, &run->list.hits[result->hit], put, self);
        } else {
            const ics_gradient_value value = single_value(run, key, result);
            if (value.first != 0 || value.second < 0) {
                put(self, key->first, value);
            }
        }
    }
}

/* ---- metadata -------------------------------------------------------------------------------- */

/* Makes what says which layer or module parameter `i` of a key is of. */
static json_t *describe_one(const ics_made_run *run, const ics_gradient_key *key, uint32_t i)
{
    const char *name = rows[key->row].name;
    const ice_medium *medium = run->world.models->medium;
    const ice_module *module = &run->world.models->detector->modules[i];
    const double top = ICE_DETECTOR_DEPTH - medium->bottom - (i + 1) * medium->thickness;
    switch (rows[key->row].extent) {
    case OF_LAYERS:
        return json_pack("{s:o, s:I, s:[f, f]}", "name", json_sprintf("%s[%u]", name, i), "layer",
                         (json_int_t)i, "depth_m", top, top + medium->thickness);
    case OF_MODULES:
        return json_pack("{s:o, s:i, s:i}", "name",
                         json_sprintf("%s[%u/%u]", name, module->string, module->module), "string",
                         module->string, "module", module->module);
    case OF_ALL:
        break;
    }
    return json_pack("{s:s}", "name", name);
}

static json_t *describe(const ics_made_run *run, const ics_gradient_key *key, uint32_t i)
{
    const char *unit = rows[key->row].is_logarithmic ? "d ln w / d ln p" : "d ln w / d p";
    json_t *made = describe_one(run, key, i);
    json_auto_t *rest = json_pack("{s:s, s:f, s:s, s:b}", "key", rows[key->row].name, "value",
                                  value_of(run->world.models->medium, (key_kind)key->row, i),
                                  "unit", unit, "exact", rows[key->row].is_exact);
    if (rest == NULL || json_object_update(made, rest) != 0) {
        json_decref(made);
        return NULL;
    }
    return made;
}

int ics_gradient_describe(const ics_made_run *run, const ics_gradient_keys *keys, json_t **out,
                          icestream_error *error)
{
    json_auto_t *list = json_array();
    int failed = list == NULL;
    for (size_t k = 0; k < keys->count; ++k) {
        for (uint32_t i = 0; i < keys->items[k].count && !failed; ++i) {
            failed |= json_array_append_new(list, describe(run, &keys->items[k], i)) != 0;
        }
    }
    if (failed) {
        return no_memory(error);
    }
    *out = json_incref(list);
    return ICESTREAM_OK;
}
