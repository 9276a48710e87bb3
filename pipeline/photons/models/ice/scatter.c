#include "pipeline/photons/models/ice/scatter.h"

#include "base/error.h"
#include "stages/variants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the declarations ------------------------------------------------------------------------ */

#define PARAMETER(variant, parameter, from, to, number, of_unit, text)                             \
    {.name = #parameter,                                                                           \
     .key = "scattering." #parameter,                                                              \
     .low = (from),                                                                                \
     .high = (to),                                                                                 \
     .fallback = #number,                                                                          \
     .unit = (of_unit),                                                                            \
     .help = (text)},
#define PARAMETERS_OF(stage, variant, yaml, text)                                                  \
    static const ics_scatter_parameter parameters_of_##variant[] = {                               \
        ICE_DECLARE_scatter_##variant(PARAMETER){.name = NULL}};                                   \
    _Static_assert(sizeof parameters_of_##variant / sizeof *parameters_of_##variant <=             \
                       ICE_PARAMETERS_MAX + 1,                                                     \
                   "a variant has at most ICE_PARAMETERS_MAX parameters");
ICE_SCATTER_VARIANTS(PARAMETERS_OF)

#define VARIANT(stage, variant, yaml, text) {(yaml), parameters_of_##variant},
static const ics_scatter_variant variants[] = {ICE_SCATTER_VARIANTS(VARIANT){.name = NULL}};

#define PLUS_COUNT_OF(stage, variant, yaml, text)                                                  \
    +sizeof parameters_of_##variant / sizeof *parameters_of_##variant - 1
_Static_assert(0 ICE_SCATTER_VARIANTS(PLUS_COUNT_OF) <= ICS_ICE_SCATTER_MAX,
               "all variants together have at most ICS_ICE_SCATTER_MAX parameters");

enum { VARIANTS = sizeof variants / sizeof *variants - 1 };

const ics_scatter_variant *ics_ice_scatter_variant(size_t index)
{
    return index < VARIANTS ? &variants[index] : NULL;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The number of a name in the arrays of values: its first declaration in the registry counts. */
static size_t number_of(const char *name)
{
    size_t number = 0;
    for (size_t i = 0; i < VARIANTS; ++i) {
        for (const ics_scatter_parameter *p = variants[i].parameters; p->name != NULL; ++p) {
            if (strcmp(p->name, name) == 0) {
                return number;
            }
            ++number;
        }
    }
    return number;
}

void ics_ice_scatter_add_keys(ics_ice_keys *keys, bool is_water, size_t offset)
{
    for (size_t i = 0; i < VARIANTS; ++i) {
        for (const ics_scatter_parameter *p = variants[i].parameters; p->name != NULL; ++p) {
            const char *path = is_water ? p->key : p->name;
            if (ics_schema_find(path, keys->fields, keys->count) < keys->count ||
                keys->count == ICS_ICE_KEYS_MAX) {
                continue;
            }
            keys->fields[keys->count++] =
                (ics_schema_field){.path = path,
                                   .type = ICS_SCHEMA_NUMBER,
                                   .offset = offset + number_of(p->name) * sizeof(double),
                                   .size = sizeof(double),
                                   .fallback = p->fallback,
                                   .low = p->low,
                                   .high = p->high,
                                   .unit = p->unit,
                                   .help = p->help};
        }
    }
}

static bool is_declared(const ics_scatter_variant *variant, bool is_water, const char *path)
{
    for (const ics_scatter_parameter *p = variant->parameters; p->name != NULL; ++p) {
        if (strcmp(is_water ? p->key : p->name, path) == 0) {
            return true;
        }
    }
    return false;
}

/* Warns if variants declare the key `path`, but `chosen` is not one of them. */
static void warn_of_key(const ics_scatter_variant *list, const char *chosen, bool is_water,
                        const char *path, const ics_yaml_node *given, ics_warnings *warnings)
{
    char place[512], users[512] = "";
    size_t used = 0;
    for (; list->name != NULL; ++list) {
        if (!is_declared(list, is_water, path)) {
            continue;
        }
        if (strcmp(list->name, chosen) == 0) {
            return;
        }
        if (used < sizeof users) {
            used += (size_t)snprintf(users + used, sizeof users - used, "%s%s",
                                     used > 0 ? ", " : "", list->name);
        }
    }
    if (used > 0) {
        ics_warnings_add(warnings,
                         "%s: %s has no effect, because stages.scatter is %s; the variants that "
                         "use %s: %s",
                         ics_yaml_place(given, place, sizeof place), path, chosen, path, users);
    }
}

void ics_ice_scatter_warn(const ics_scatter_variant *list, const char *chosen, bool is_water,
                          const ics_ice_keys *keys, ics_warnings *warnings)
{
    for (size_t i = 0; i < keys->count; ++i) {
        if (keys->given[i] != NULL) {
            warn_of_key(list, chosen, is_water, keys->fields[i].path, keys->given[i], warnings);
        }
    }
}

/* ---- media ----------------------------------------------------------------------------------- */

void ics_ice_scatter_choose(const char *variant, const double *values, ice_medium *medium)
{
    medium->scatter_count = 0;
    for (size_t i = 0; i < VARIANTS; ++i) {
        if (strcmp(variants[i].name, variant) != 0) {
            continue;
        }
        for (const ics_scatter_parameter *p = variants[i].parameters; p->name != NULL; ++p) {
            const double value =
                values != NULL ? values[number_of(p->name)] : strtod(p->fallback, NULL);
            medium->scatter[medium->scatter_count++] = (ice_parameter){p->name, p->unit, value};
        }
    }
}

void ics_ice_scatter_describe(const ice_medium *medium, FILE *out)
{
    for (size_t i = 0; i < medium->scatter_count; ++i) {
        const ice_parameter *parameter = &medium->scatter[i];
        fprintf(out, "  scatter  %s %.6g%s%s\n", parameter->name, parameter->value,
                parameter->unit[0] ? " " : "", parameter->unit);
    }
}
