#include "pipeline/photons/models/light_record.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "pipeline/photons/config/changes.h"
#include "pipeline/photons/models/detector/detector.h"
#include "pipeline/photons/models/ice/medium.h"
#include "pipeline/photons/models/light/curve.h"
#include "pipeline/photons/models/light/light.h"
#include "pipeline/photons/models/text/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int out_of_memory(icestream_error *error)
{
    return ics_error_no_memory(error, "light");
}

/* ---- making ---------------------------------------------------------------------------------- */

/* A record while it is made. The first failure stays in `status`. */
typedef struct maker {
    const icestream_config *config;
    const ics_models *models;
    json_t *settings;
    ics_digest *digest; /* digest of one table at a time */
    icestream_error *error;
    int status;
} maker;

static void set(maker *make, const char *key, json_t *value)
{
    if (json_object_set_new(make->settings, key, value) != 0 && make->status == ICESTREAM_OK) {
        make->status = out_of_memory(make->error);
    }
}

static void set_number(maker *make, const char *key, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.10g", value);
    set(make, key, json_string(text));
}

static void set_key(maker *make, const char *key)
{
    char *text = ics_config_value_text(make->config, key);
    set(make, key, text != NULL ? json_string(text) : NULL);
    free(text);
}

/* Adds numbers with seven digits: two machines may differ in the last bits of a formula. */
static void add_rounded(ics_digest *digest, const double *values, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        char text[32];
        const int length = snprintf(text, sizeof text, "%.7g\n", values[i]);
        ics_digest_add(digest, text, (size_t)length);
    }
}

/* Ends a table: its name and the digest of what was added. The folder of a file does not count. */
static void set_table(maker *make, const char *key, const char *name)
{
    char text[ICS_DIGEST_TEXT];
    const char *slash = strrchr(name, '/');
    ics_digest_text(make->digest, text);
    ics_digest_reset(make->digest);
    set(make, key,
        json_pack("{s:s, s:s}", "name", slash != NULL ? slash + 1 : name, "digest", text));
}

static bool is_standard(const ice_light *light)
{
    bool same = light->bias_count > 0;
    for (size_t i = 0; i < light->bias_count && same; ++i) {
        const double formula = ics_light_standard_acceptance(light->bias_wavelength[i]);
        same = light->standard_acceptance[i] == formula;
    }
    return same;
}

static void set_acceptance(maker *make)
{
    const ice_light *light = make->models->light;
    const char *name = make->config->light.acceptance;
    if (light->bias_count == 0 || is_standard(light)) {
        set(make, "light.acceptance", json_string(light->bias_count == 0 ? "none" : "standard"));
        return;
    }
    add_rounded(make->digest, light->bias_wavelength, light->bias_count);
    add_rounded(make->digest, light->standard_acceptance, light->bias_count);
    const bool is_auto = strcmp(name, "auto") == 0;
    set_table(make, "light.acceptance",
              !is_auto                                       ? name
              : make->models->detector->acceptance_count > 0 ? "detector.types"
                                                             : "wv.dat");
}

static void set_envelope(maker *make)
{
    const ice_light *light = make->models->light;
    const ice_detector *detector = make->models->detector;
    double largest[ICE_ACCEPTANCES];
    char text[80];
    bool has_ratio = false;
    ics_light_efficiencies(make->config, detector, largest);
    snprintf(text, sizeof text, "standard %.10g, high-efficiency %.10g", largest[0], largest[1]);
    set(make, "detector.efficiencies", json_string(text));
    set_number(make, "detector.angular_acceptance", detector->angular.maximum);
    set_number(make, "efficiency in cfg.txt", light->efficiency);
    for (size_t i = 0; i < light->bias_count; ++i) {
        has_ratio |= light->high_efficiency[i] != 1;
    }
    if (!has_ratio || !(largest[1] > 0)) {
        set(make, "light.high_efficiency", json_string("none"));
        return;
    }
    const char *name = make->config->light.high_efficiency;
    add_rounded(make->digest, light->high_efficiency, light->bias_count);
    set_table(make, "light.high_efficiency", strcmp(name, "auto") == 0 ? "wv.rde" : name);
}

static void set_medium(maker *make)
{
    const ice_medium *medium = make->models->medium;
    const double density = medium->density;
    for (double x = ICE_WAVELENGTH_MIN; x <= ICE_WAVELENGTH_MAX; x += 10) {
        const double index = ics_ice_phase_index(medium, x);
        add_rounded(make->digest, &index, 1);
    }
    add_rounded(make->digest, &density, 1);
    set_table(make, "refractive index and density",
              medium->spectral == NULL && density == 0 ? "ice" : medium->name);
}

/* A file of light.spectra: its content counts. */
static int add_file(const maker *make, const char *path)
{
    ICS_CLEANUP(ics_text_free) ics_text text = {0};
    ICS_CLEANUP(ics_curve_free) ics_curve curve = {0};
    ICS_TRY(ics_text_read(path, &text, make->error));
    ICS_TRY(ics_curve_read_density(&text, &curve, make->error));
    add_rounded(make->digest, curve.x, curve.count);
    add_rounded(make->digest, curve.y, curve.count);
    return ICESTREAM_OK;
}

static void set_spectra(maker *make)
{
    for (size_t i = 0; i < make->config->light.spectrum_count; ++i) {
        const ics_spectrum_config *entry = &make->config->light.spectra[i];
        char key[48], line[48];
        snprintf(key, sizeof key, "light.spectra[%zu]", i);
        if (entry->file == NULL) {
            snprintf(line, sizeof line, "line %.10g nm", entry->line);
            set(make, key, json_string(line));
        } else if (make->status == ICESTREAM_OK) {
            make->status = add_file(make, entry->file);
            set_table(make, key, entry->file);
        }
    }
}

/* What the thinning depends on; without an acceptance nothing is thinned. */
static const char *const thinning_keys[] = {"detector.oversize",     "detector.radius",
                                            "detector.efficiencies", "detector.angular_acceptance",
                                            "efficiency in cfg.txt", "light.high_efficiency"};

static bool is_none(const json_t *settings)
{
    const char *acceptance = json_string_value(json_object_get(settings, "light.acceptance"));
    return acceptance != NULL && strcmp(acceptance, "none") == 0;
}

static bool is_one_of(const char *key, const char *const *keys, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        if (strcmp(key, keys[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_thinning_key(const char *key)
{
    return is_one_of(key, thinning_keys, sizeof thinning_keys / sizeof *thinning_keys);
}

static void set_pulse(maker *make)
{
    const ice_transit *pulse = &make->models->pulse;
    if (pulse->count == 0) {
        return;
    }
    for (size_t i = 0; i < pulse->count; ++i) {
        const ice_transit_range *range = &pulse->ranges[i];
        add_rounded(make->digest, (const double[]){range->from, range->to, range->low, range->high},
                    4);
    }
    set_table(make, "particles.pulse", make->config->particles.pulse);
}

static void set_all(maker *make)
{
    const icestream_config *config = make->config;
    set_number(make, "detector.oversize", make->models->detector->oversize);
    set_number(make, "detector.radius", make->models->detector->radius);
    set_acceptance(make);
    set_envelope(make);
    set_medium(make);
    if (ics_config_has_particles(config)) {
        set_key(make, "particles.conventions");
        set_key(make, "particles.decays");
        set_key(make, "particles.losses");
        set_pulse(make);
        set_key(make, "particles.stopping");
    }
}

/* Digests the settings on which the light depends, in the order of their keys. */
static int digest_settings(const json_t *settings, char digest[ICS_DIGEST_TEXT],
                           icestream_error *error)
{
    json_auto_t *used = json_object();
    const char *key;
    json_t *value;
    int failed = used == NULL;
    json_object_foreach((json_t *)(uintptr_t)settings, key, value)
    {
        const json_t *table = json_object_get(value, "digest");
        if (!is_none(settings) || !is_thinning_key(key)) {
            failed |=
                json_object_set(used, key, table != NULL ? (json_t *)(uintptr_t)table : value);
        }
    }
    ICS_FREES char *text = failed ? NULL : json_dumps(used, JSON_COMPACT | JSON_SORT_KEYS);
    return text != NULL ? ics_digest_of(text, strlen(text), digest, error) : out_of_memory(error);
}

static int make_record(maker *make, bool thinned, json_t **out)
{
    char digest[ICS_DIGEST_TEXT], seed[24];
    if (make->settings == NULL) {
        return out_of_memory(make->error);
    }
    ICS_TRY(ics_digest_create(&make->digest, make->error));
    if (thinned) {
        set_all(make);
    }
    set_spectra(make);
    ICS_TRY(make->status);
    ICS_TRY(digest_settings(make->settings, digest, make->error));
    snprintf(seed, sizeof seed, "%" PRIu64, make->config->run.seed);
    *out = json_pack("{s:b, s:s, s:O, s:s}", "thinned", (int)thinned, "seed", seed, "settings",
                     make->settings, "digest", digest);
    return *out != NULL ? ICESTREAM_OK : out_of_memory(make->error);
}

int ics_light_record_create(const icestream_config *config, const ics_models *models, bool thinned,
                            json_t **out, icestream_error *error)
{
    maker make = {.config = config, .models = models, .settings = json_object(), .error = error};
    *out = NULL;
    const int status = make_record(&make, thinned, out);
    ics_digest_destroy(make.digest);
    json_decref(make.settings);
    return status;
}

/* ---- comparing ------------------------------------------------------------------------------- */

static const char spectra[] = "light.spectra[";

const char *ics_light_record_value_text(const json_t *value, char *buffer, size_t size)
{
    const char *name = json_string_value(json_object_get(value, "name"));
    const char *digest = json_string_value(json_object_get(value, "digest"));
    if (name != NULL && digest != NULL) {
        snprintf(buffer, size, "%s (digest %.12s)", name, digest);
    } else {
        const char *text = json_string_value(value);
        snprintf(buffer, size, "%s", text != NULL ? text : "nothing");
    }
    return buffer;
}

static bool is_setting(const json_t *value)
{
    return json_is_string(value) || (json_is_string(json_object_get(value, "name")) &&
                                     json_is_string(json_object_get(value, "digest")));
}

bool ics_light_record_value_same(const json_t *left, const json_t *right)
{
    const json_t *left_table = json_object_get(left, "digest");
    const json_t *right_table = json_object_get(right, "digest");
    return left_table != NULL && right_table != NULL ? json_equal(left_table, right_table)
                                                     : json_equal(left, right);
}

int ics_light_record_compare(const char *name, const json_t *steps, const json_t *run, json_t **out,
                             icestream_error *error)
{
    json_t *ours = json_object_get(run, "settings"), *theirs = json_object_get(steps, "settings");
    const bool both_none = is_none(ours) && is_none(theirs);
    const char *key;
    json_t *value;
    *out = NULL;
    if (!json_is_object(theirs)) {
        return ics_error_add(error, ICESTREAM_E_INPUT,
                             "%s: trailer: light: found no settings, expected the record that "
                             "icestream generate writes",
                             name);
    }
    json_auto_t *differences = json_array();
    int failed = differences == NULL;
    json_object_foreach(theirs, key, value)
    {
        char left[256], right[256];
        const json_t *mine = json_object_get(ours, key);
        if (!is_setting(value)) {
            return ics_error_add(error, ICESTREAM_E_INPUT,
                                 "%s: trailer: light: %s: found another type, expected a text or "
                                 "an object with name and digest",
                                 name, key);
        }
        const bool counts = mine != NULL || strncmp(key, spectra, sizeof spectra - 1) == 0;
        if (counts && !(both_none && is_thinning_key(key)) &&
            !ics_light_record_value_same(value, mine)) {
            failed |= json_array_append_new(
                differences, json_pack("{s:s, s:s, s:s}", "key", key, "steps",
                                       ics_light_record_value_text(value, left, sizeof left), "run",
                                       ics_light_record_value_text(mine, right, sizeof right)));
        }
    }
    if (failed) {
        return out_of_memory(error);
    }
    *out = json_incref(differences);
    return ICESTREAM_OK;
}

static const char *text_of(const json_t *difference, const char *member)
{
    const char *text = json_string_value(json_object_get(difference, member));
    return text != NULL ? text : "";
}

/* Whether --set can give the run this value. */
static bool can_set(const char *key, const char *value)
{
    static const char *const keys[] = {"detector.oversize",     "detector.radius",
                                       "particles.conventions", "particles.decays",
                                       "particles.losses",      "particles.stopping"};
    return (strcmp(key, "light.acceptance") == 0 && strchr(value, '(') == NULL) ||
           is_one_of(key, keys, sizeof keys / sizeof *keys);
}

/* Adds the error that the light of a step file differs: one line for each key with both values, and
 * one with the remedies. Returns ICESTREAM_E_INPUT. */
static int refuse(const char *name, const json_t *differences, icestream_error *error)
{
    size_t index;
    const json_t *difference;
    char sets[1024] = "";
    size_t used = 0;
    json_array_foreach(differences, index, difference)
    {
        char note[64];
        const char *key = text_of(difference, "key"), *steps = text_of(difference, "steps");
        const char *ours = text_of(difference, "run");
        ics_error_add(error, ICESTREAM_E_INPUT,
                      "%s: light: %s: found steps that were made for %s%s, expected %s, the value "
                      "of this run",
                      name, key, steps, ics_config_change_note(key, steps, ours, note, sizeof note),
                      ours);
        if (can_set(key, steps) && used < sizeof sets) {
            used += (size_t)snprintf(sets + used, sizeof sets - used, " --set %s=%s", key, steps);
        }
    }
    return ics_error_add(error, ICESTREAM_E_INPUT,
                         "%s: make the steps again with this configuration (icestream generate), "
                         "or give the run the values of the steps%s%s%s; --set "
                         "source.light_mismatch=accept uses the steps as they are",
                         name, used > 0 ? " (" : "", used > 0 ? sets + 1 : "", used > 0 ? ")" : "");
}

int ics_light_record_judge(const icestream_config *config, const json_t *run, const char *name,
                           const json_t *steps, json_t **accepted, icestream_error *error)
{
    json_auto_t *differences = NULL;
    *accepted = NULL;
    if (steps == NULL) {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_light_record_compare(name, steps, run, &differences, error));
    if (json_array_size(differences) == 0) {
        return ICESTREAM_OK;
    }
    if (config->source.light_mismatch == ICS_MISMATCH_REFUSE) {
        return refuse(name, differences, error);
    }
    *accepted = json_incref(differences);
    return ICESTREAM_OK;
}

const char *ics_light_record_assumed(const json_t *run, char *buffer, size_t size)
{
    static const struct {
        const char *key, *plain; /* plain: the value that says nothing; NULL: none does */
    } rows[] = {{"light.acceptance", NULL},
                {"detector.oversize", NULL},
                {"detector.angular_acceptance", "1"},
                {"detector.efficiencies", "standard 1, high-efficiency 0"},
                {"efficiency in cfg.txt", "1"}};
    size_t used = 0;
    buffer[0] = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && used < size; ++i) {
        char text[256];
        const json_t *value = json_object_get(json_object_get(run, "settings"), rows[i].key);
        ics_light_record_value_text(value, text, sizeof text);
        if (rows[i].plain == NULL || (value != NULL && strcmp(text, rows[i].plain) != 0)) {
            used += (size_t)snprintf(buffer + used, size - used, "%s%s %s", i > 0 ? ", " : "",
                                     rows[i].key, text);
        }
    }
    return buffer;
}

/* A step file without light is the mark of a producer that failed. */
int ics_light_record_refuse_empty(const icestream_config *config, const char *name, uint64_t rows,
                                  uint64_t photons, icestream_error *error)
{
    if (photons > 0 || config->source.empty == ICS_EMPTY_ACCEPT) {
        return ICESTREAM_OK;
    }
    return ics_error_set(error, ICESTREAM_E_INPUT,
                         "%s: found %s%" PRIu64 " step%s, expected at least one photon "
                         "(source.empty: accept makes an empty hit file)",
                         name, rows == 0 ? "" : "no photon in ", rows, rows == 1 ? "" : "s");
}
