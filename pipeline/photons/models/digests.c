/* Each model (ice, detector, light) is digested in the form that photons and the code that makes
 * hits read. To get this form, tables are made from the model and from two fixed models. The digest
 * covers the bytes of these tables, and the few numbers that are read in addition to the tables.
 *
 * So no list of the members of a model has to be kept. A new member needs no line here if it
 * reaches hits through the tables of tables/ or of the detect stage. */
#include "base/error.h"
#include "pipeline/photons/models/models.h"
#include "tables/tables.h"

#include <math.h>
#include <string.h>

/* ---- fixed models ---------------------------------------------------------------------------- */

/* Any valid models would do. They must not change: every digest depends on them. */
static ice_layer fixed_layers[] = {{.effective_scattering = 0.04, .dust_absorption = 0.01}};
static const ice_medium fixed_medium = {.layers = fixed_layers,
                                        .layer_count = 1,
                                        .bottom = -50,
                                        .thickness = 100,
                                        .alpha = 0.9,
                                        .kappa = 1.08,
                                        .absorption_a = 7000,
                                        .absorption_b = 6600,
                                        .mean_cosine = 0.9,
                                        .liu_fraction = 0.35,
                                        .absorb_above = INFINITY,
                                        .absorb_below = -INFINITY};

static ice_module fixed_modules[] = {{.string = 1, .module = 1, .efficiency = 1}};
static const ice_detector fixed_detector = {
    .modules = fixed_modules, .module_count = 1, .radius = 0.1651, .oversize = 1};

static double fixed_wavelength[] = {400}, fixed_density[] = {1};
static ice_spectrum fixed_spectrum[] = {
    {.wavelength = fixed_wavelength, .density = fixed_density, .count = 1}};
static const ice_light fixed_light = {.spectra = fixed_spectrum, .count = 1};

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Adds 32-bit words. The two zeros of single precision count as one, because models that differ
 * only in the sign of a zero make the same hits. No whole number in tables is as large as 2^31. */
static void add_words(void *user, const void *bytes, size_t size)
{
    const uint32_t negative_zero = UINT32_C(0x80000000);
    uint32_t words[1024];
    for (size_t done = 0, part; done < size; done += part) {
        part = size - done < sizeof words ? size - done : sizeof words;
        memcpy(words, (const char *)bytes + done, part);
        for (size_t i = 0; i < part / sizeof *words; ++i) {
            words[i] = words[i] == negative_zero ? 0 : words[i];
        }
        ics_digest_add(user, words, part);
    }
}

/* `part`: of the detector, or NULL. */
static int add_tables(ics_digest *digest, const ice_medium *medium, const ice_detector *detector,
                      const ics_detector_part *part, const ice_light *light, icestream_error *error)
{
    const ics_table_options options = {.seed = 0, .bounce_limit = 1, .reach_cull = false};
    ics_tables *tables = NULL;
    ICS_TRY(ics_tables_create_with(medium, detector, part, light, &options, &tables, error));
    ics_tables_visit(tables, add_words, digest);
    ics_tables_destroy(tables);
    return ICESTREAM_OK;
}

/* ---- models ---------------------------------------------------------------------------------- */

/* Next to the tables, hits need the names of modules. */
static void add_names(ics_digest *digest, const ice_detector *detector)
{
    for (size_t i = 0; i < detector->module_count; ++i) {
        const double names[] = {detector->modules[i].string, detector->modules[i].module};
        ics_digest_add_numbers(digest, names, sizeof names / sizeof *names);
    }
}

/* Of the tables, the numbers before the pointer to those of PMTs. These stand in the memory. */
enum { DETECTION_NUMBERS = offsetof(ice_detection, pmts) };
_Static_assert(DETECTION_NUMBERS == 5 * sizeof(void *) + 8 * sizeof(float),
               "every byte of ice_detection is a member: padding has no certain value");

static void add_detection(ics_digest *digest, const ics_detection *detection)
{
    ice_detection tables = detection->tables;
    tables.sensors = NULL;
    tables.wavelengths = tables.bias = tables.curves = tables.coefficients = NULL;
    add_words(digest, &tables, DETECTION_NUMBERS);
    add_words(digest, detection->memory, detection->bytes);
    ics_digest_add_number(digest, detection->content);
}

/* Next to the tables, the weight of a hit needs the probability that its light was kept, and for
 * steps that are not thinned the mean of this probability over the spectrum. */
static void add_bias(ics_digest *digest, const ice_light *light)
{
    ics_digest_add_numbers(digest, light->bias_wavelength, light->bias_count);
    ics_digest_add_numbers(digest, light->bias, light->bias_count);
    ics_digest_add_numbers(digest, light->kept, light->count);
}

/* Ends the digest of a model, and begins the next one. */
static void finish(ics_digest *digest, char text[ICS_DIGEST_TEXT])
{
    ics_digest_text(digest, text);
    ics_digest_reset(digest);
}

static int add_models(ics_digest *digest, ics_models *models, icestream_error *error)
{
    ICS_TRY(add_tables(digest, models->medium, &fixed_detector, NULL, &fixed_light, error));
    finish(digest, models->ice_digest);
    ICS_TRY(ics_tables_part_create(models->detector, &models->detector_part, error));
    ICS_TRY(add_tables(digest, &fixed_medium, models->detector, models->detector_part, &fixed_light,
                       error));
    add_names(digest, models->detector);
    if (models->detection != NULL) {
        add_detection(digest, models->detection);
    }
    finish(digest, models->detector_digest);
    ICS_TRY(add_tables(digest, &fixed_medium, &fixed_detector, NULL, models->light, error));
    add_bias(digest, models->light);
    finish(digest, models->light_digest);
    return models->ice_digest[0] && models->detector_digest[0] && models->light_digest[0]
               ? ICESTREAM_OK
               : ics_error_no_memory(error, "models");
}

int ics_model_digests_make(ics_models *models, icestream_error *error)
{
    ics_digest *digest;
    ICS_TRY(ics_digest_create(&digest, error));
    const int status = add_models(digest, models, error);
    ics_digest_destroy(digest);
    return status;
}
