/* Which light the second configuration of a comparison uses: that of the first one, if it suits;
 * or, of the same particles, light that is made with its own settings. */
#include "base/error.h"
#include "pipeline/commands/compare/compare.h"
#include "pipeline/photons/generator/light_settings.h"
#include "pipeline/photons/models/light_record.h"
#include "pipeline/photons/particles/list_warnings.h"

#include <stdlib.h>
#include <string.h>

static int no_memory(icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_MEMORY, "compare: out of memory for the light");
}

static const char *name_of(const icestream_config *config, const char *other)
{
    return config->path != NULL ? config->path : other;
}

/* ---- the same particles ---------------------------------------------------------------------- */

static int refuse(const ics_comparison *comparison, const char *key, const char *found,
                  const char *expected, icestream_error *error)
{
    char where[1024];
    return ics_error_add(error, ICESTREAM_E_CONFIG,
                         "%s: error: %s: found %s, expected %s, as in %s",
                         ics_config_place(comparison->against, key, where, sizeof where), key,
                         found, expected, name_of(comparison->config, "the first configuration"));
}

static int remedy(icestream_error *error)
{
    return ics_error_add(error, ICESTREAM_E_CONFIG,
                         "compare: the same particles, workload or step files go through both "
                         "configurations: give both the same, for example by --set, which applies "
                         "to both");
}

/* Refuses step files that are not those of the first configuration. */
static int check_files(const ics_comparison *comparison, icestream_error *error)
{
    ICS_FREES char *first = NULL;
    ICS_TRY(ics_step_list_compare_files(&comparison->steps, comparison->against, &first, error));
    if (first == NULL) {
        return ICESTREAM_OK;
    }
    char found[1100];
    snprintf(found, sizeof found, "%s in only one of the configurations", first);
    refuse(comparison, "source.files", found, comparison->steps.origin, error);
    return remedy(error);
}

/* The key that stands for the light of a configuration. */
static const char *light_key(const icestream_config *config)
{
    return config->particles.file != NULL     ? "particles.file"
           : ics_config_has_particles(config) ? "particles.list"
                                              : "workload.kind";
}

/* Compares what light is made of. The other settings that differ are stored in the comparison. */
static int compare_settings(ics_comparison *comparison, icestream_error *error)
{
    json_auto_t *ours = NULL, *theirs = NULL, *list = NULL;
    ICS_TRY(ics_light_settings_make(comparison->config, &ours, error));
    ICS_TRY(ics_light_settings_make(comparison->against, &theirs, error));
    ICS_TRY(ics_light_settings_compare(ours, theirs, &list, error));
    size_t i;
    json_t *item;
    icestream_error found = {.status = ICESTREAM_OK};
    json_array_foreach(list, i, item)
    {
        const char *key = json_string_value(json_object_get(item, "key"));
        const char *first = json_string_value(json_object_get(item, "steps"));
        const char *second = json_string_value(json_object_get(item, "run"));
        if (ics_light_settings_is_source(key)) {
            refuse(comparison, key, second, first, &found);
        } else if (json_array_append(comparison->light.differences, item) != 0) {
            return no_memory(error);
        }
    }
    if (found.status != ICESTREAM_OK) {
        remedy(&found);
    }
    return ics_error_copy(error, &found);
}

/* Checks that the second configuration names no other light. *makes: it names the light that the
 * first one has made. */
static int check_source(ics_comparison *comparison, bool *makes, icestream_error *error)
{
    const icestream_config *config = comparison->config, *against = comparison->against;
    const ics_step_list none = {0};
    ICS_FREES char *first = NULL;
    *makes = false;
    if (!comparison->steps.generated && ics_config_has_source(against)) {
        return check_files(comparison, error);
    }
    if (ics_config_has_source(against)) {
        ICS_TRY(ics_step_list_compare_files(&none, against, &first, error));
    }
    if (first != NULL) {
        refuse(comparison, "source.files", first, comparison->steps.origin, error);
        return remedy(error);
    }
    if (!ics_config_has_light(against)) {
        return ICESTREAM_OK;
    }
    const bool particles = ics_config_has_particles(against);
    if (!comparison->steps.generated || particles != ics_config_has_particles(config)) {
        refuse(comparison, light_key(against), particles ? "particles" : "a workload",
               comparison->steps.origin, error);
        return remedy(error);
    }
    *makes = true;
    return compare_settings(comparison, error);
}

/* ---- the light that is used ------------------------------------------------------------------ */

/* Adds the settings of both records that differ, unless they are there already. */
static int add_differences(ics_comparison *comparison, const json_t *more, icestream_error *error)
{
    size_t i, k;
    json_t *item;
    const json_t *known;
    json_array_foreach(more, i, item)
    {
        bool is_new = true;
        json_array_foreach(comparison->light.differences, k, known)
        {
            is_new =
                is_new && !json_equal(json_object_get(known, "key"), json_object_get(item, "key"));
        }
        if (is_new && json_array_append(comparison->light.differences, item) != 0) {
            return no_memory(error);
        }
    }
    return ICESTREAM_OK;
}

/* Makes the steps of the second configuration. They are made with the seed of the first one, so
 * that the same showers fluctuate in the same way in both. */
static int make_own(ics_comparison *comparison, const ics_models *models, icestream_error *error)
{
    const ics_step_list *steps = &comparison->steps;
    ics_step_list *own = &comparison->against_steps;
    icestream_config same_seed = *comparison->against; /* points to what `against` owns */
    same_seed.run.seed = comparison->config->run.seed;
    ICS_TRY(ics_step_list_generate(&same_seed, models, own, error));
    const void *left = own->steps, *right = steps->steps; /* all bytes: rows have no gaps */
    if (own->count == steps->count &&
        memcmp(left, right, steps->count * sizeof *steps->steps) == 0) {
        ics_step_list_free(own);
        return ICESTREAM_OK;
    }
    comparison->light.kind = ICS_COMPARE_LIGHT_OWN;
    return ICESTREAM_OK;
}

/* Compares the records of the steps with the second configuration, as a run would. */
static int judge_records(ics_comparison *comparison, const json_t *run, icestream_error *error)
{
    size_t i;
    const json_t *record;
    if (comparison->steps.accepted) {
        comparison->light.kind = ICS_COMPARE_LIGHT_ACCEPTED;
    }
    json_array_foreach(comparison->steps.records, i, record)
    {
        char name[2048];
        json_auto_t *accepted = NULL;
        const json_t *light = json_object_get(record, "light");
        snprintf(name, sizeof name, "%s with %s",
                 json_string_value(json_object_get(record, "name")),
                 name_of(comparison->against, "the second configuration"));
        if (json_is_null(light)) {
            ++comparison->light.unrecorded;
            continue;
        }
        ICS_TRY(ics_light_record_judge(comparison->against, run, name, light, &accepted, error));
        if (accepted != NULL) {
            comparison->light.kind = ICS_COMPARE_LIGHT_ACCEPTED;
            comparison->light.is_accepted = true;
            ICS_TRY(add_differences(comparison, accepted, error));
        }
    }
    return ICESTREAM_OK;
}

/* Decides whether numbers of hits can be compared. The record of light without an acceptance names
 * no oversize, and a file without a record names nothing, so the models count, too. */
static int choose_tests(ics_comparison *comparison, const ics_models *models,
                        icestream_error *error)
{
    ics_compare_light *light = &comparison->light;
    const ics_compare_spectra *ours = &light->spectra;
    ics_compare_spectra theirs;
    ICS_TRY(ics_compare_band_find(models, &theirs, error));
    ics_compare_band_choose(comparison, &theirs);
    if (ours->oversize != theirs.oversize) {
        char first[32], second[32];
        snprintf(first, sizeof first, "%.10g", ours->oversize);
        snprintf(second, sizeof second, "%.10g", theirs.oversize);
        json_auto_t *list = json_pack("[{s:s, s:s, s:s}]", "key", "detector.oversize", "steps",
                                      first, "run", second);
        ICS_TRY(list != NULL ? add_differences(comparison, list, error) : no_memory(error));
    }
    const bool is_recorded = light->unrecorded == 0 && json_array_size(light->differences) > 0;
    light->by_weight = light->kind != ICS_COMPARE_LIGHT_ACCEPTED &&
                       (light->kind == ICS_COMPARE_LIGHT_OWN || is_recorded ||
                        strcmp(ours->weights, theirs.weights) != 0);
    return ICESTREAM_OK;
}

static int choose(ics_comparison *comparison, const ics_models *models, const json_t *run,
                  icestream_error *error)
{
    json_auto_t *list = NULL;
    bool makes = false;
    ics_compare_light *light = &comparison->light;
    const icestream_config *against = comparison->against;
    light->differences = json_array();
    if (light->differences == NULL) {
        return no_memory(error);
    }
    ICS_TRY(check_source(comparison, &makes, error));
    if (makes && !ics_particle_list_is_stream(against->particles.file) &&
        against->source.light_mismatch == ICS_MISMATCH_REFUSE) {
        ICS_TRY(make_own(comparison, models, error));
    } else {
        ICS_TRY(judge_records(comparison, run, error));
    }
    ICS_TRY(ics_light_record_compare("the first configuration", light->first, run, &list, error));
    ICS_TRY(add_differences(comparison, list, error));
    return choose_tests(comparison, models, error);
}

int ics_compare_light_choose(ics_comparison *comparison, const ics_models *models,
                             icestream_error *error)
{
    json_auto_t *run = NULL;
    ICS_TRY(ics_light_record_create(comparison->against, models, true, &run, error));
    return choose(comparison, models, run, error);
}

/* ---- for people ------------------------------------------------------------------------------ */

void ics_compare_light_list(const ics_compare_light *light, char *text, size_t size)
{
    size_t i, used = 0;
    const json_t *item;
    text[0] = '\0';
    json_array_foreach(light->differences, i, item)
    {
        if (used < size) {
            used += (size_t)snprintf(text + used, size - used, "%s%s (%s, %s)", i > 0 ? ", " : "",
                                     json_string_value(json_object_get(item, "key")),
                                     json_string_value(json_object_get(item, "steps")),
                                     json_string_value(json_object_get(item, "run")));
        }
    }
}

void ics_compare_light_print(const ics_comparison *comparison, FILE *out)
{
    char keys[1024];
    const ics_compare_light *light = &comparison->light;
    const char *first = name_of(comparison->config, "the first configuration");
    const char *second = name_of(comparison->against, "the second configuration");
    ics_compare_light_list(light, keys, sizeof keys);
    switch (light->kind) {
    case ICS_COMPARE_LIGHT_SAME:
        fprintf(out, "Light: %s and %s use these steps%s%s.\n", first, second,
                keys[0] != '\0' ? ", with different settings: " : "", keys);
        break;
    case ICS_COMPARE_LIGHT_OWN:
        fprintf(
            out,
            "Light: %s uses these steps. %s uses its own steps of the same source: %llu photons "
            "in %zu\nsteps, because these settings differ: %s.\n",
            first, second, (unsigned long long)comparison->against_steps.photons,
            comparison->against_steps.count, keys[0] != '\0' ? keys : "ice or detector");
        break;
    case ICS_COMPARE_LIGHT_ACCEPTED:
        fprintf(out,
                "Light: %s and %s use these steps. They were made for other values than those of "
                "%s%s%s,\nwhich source.light_mismatch accepts%s%s.\nSums of weights cannot be "
                "compared.\n",
                first, second, comparison->steps.accepted ? first : "",
                comparison->steps.accepted && light->is_accepted ? " and " : "",
                light->is_accepted ? second : "", keys[0] != '\0' ? ": " : "", keys);
        break;
    }
    if (light->by_weight) {
        fputs("Sums of weights are compared and not numbers of hits: the sums do not depend on "
              "oversize, and of\nthe acceptance only on its band of wavelengths.\n",
              out);
    }
    if (light->by_weight && light->is_cut) {
        fprintf(out,
                "Only hits from %.5g to %.5g nm are compared: at other wavelengths only one "
                "configuration makes light.\n",
                light->band.low, light->band.high);
    }
    if (light->unrecorded > 0) {
        fprintf(out,
                "%zu of the step files %s no record of the light: it is assumed to suit both "
                "configurations.\n",
                light->unrecorded, light->unrecorded == 1 ? "has" : "have");
    }
}
