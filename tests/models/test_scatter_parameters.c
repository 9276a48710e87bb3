/* Promise: the parameters that scatter variants declare in their headers become keys of ice files
 * with a range and a default, and values of a medium. A new variant joins by its line in
 * stages/registry.def: these tests go through all variants. */
#include "pipeline/photons/models/ice/scatter.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

START_TEST(all_variants_are_listed)
{
    const char *const expected[] = {
#define ICE_VARIANT(stage, name, yaml, text) (strcmp(#stage, "scatter") == 0 ? (yaml) : NULL),
#include "stages/registry.def"
#undef ICE_VARIANT
    };
    size_t index = 0;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; ++i) {
        if (expected[i] != NULL) {
            const ics_scatter_variant *variant = ics_ice_scatter_variant(index++);
            ck_assert_ptr_nonnull(variant);
            ck_assert_str_eq(variant->name, expected[i]);
        }
    }
    ck_assert_ptr_null(ics_ice_scatter_variant(index));
}
END_TEST

START_TEST(declarations_are_sound)
{
    const ics_scatter_variant *variant;
    for (size_t i = 0; (variant = ics_ice_scatter_variant(i)) != NULL; ++i) {
        for (const ics_scatter_parameter *p = variant->parameters; p->name != NULL; ++p) {
            const double fallback = strtod(p->fallback, NULL);
            ck_assert_msg(p->low <= fallback && fallback <= p->high, "%s of %s", p->name,
                          variant->name);
            ck_assert_msg(p->help[0] != 0, "%s of %s has no meaning", p->name, variant->name);
            /* The key of a declaration must not be one of the keys that all ice files have. */
            static const char *const taken[] = {"name",         "mean_cosine",  "liu_fraction",
                                                "alpha",        "kappa",        "absorption_a",
                                                "absorption_b", "flow_azimuth", "layers"};
            for (size_t k = 0; k < sizeof taken / sizeof *taken; ++k) {
                ck_assert_str_ne(p->name, taken[k]);
            }
        }
    }
}
END_TEST

START_TEST(every_name_is_one_key)
{
    for (int water = 0; water < 2; ++water) {
        ics_ice_keys keys = {.count = 0};
        ics_ice_scatter_add_keys(&keys, water == 1, 8);
        for (size_t i = 0; i < keys.count; ++i) {
            const ics_schema_field *field = &keys.fields[i];
            ck_assert_uint_eq(ics_schema_find(field->path, keys.fields, keys.count), i);
            ck_assert_uint_eq((field->offset - 8) % sizeof(double), 0);
            ck_assert_uint_lt((field->offset - 8) / sizeof(double), ICS_ICE_SCATTER_MAX);
        }
    }
}
END_TEST

START_TEST(medium_has_the_defaults_of_its_variant)
{
    const ics_scatter_variant *variant;
    for (size_t i = 0; (variant = ics_ice_scatter_variant(i)) != NULL; ++i) {
        ice_medium medium = {0};
        size_t count = 0;
        ics_ice_scatter_choose(variant->name, NULL, &medium);
        for (; variant->parameters[count].name != NULL; ++count) {
            ck_assert_str_eq(medium.scatter[count].name, variant->parameters[count].name);
            ck_assert_double_eq(medium.scatter[count].value,
                                strtod(variant->parameters[count].fallback, NULL));
        }
        ck_assert_uint_eq(medium.scatter_count, count);
        /* A header of the user has no parameters. */
        ics_ice_scatter_choose("custom", NULL, &medium);
        ck_assert_uint_eq(medium.scatter_count, 0);
    }
}
END_TEST

/* Returns the warnings about a file that gives the key `share` at 7:1, which the variants "mixed"
 * and "split" declare. */
static ics_warnings warnings_with(const char *chosen, bool is_water)
{
    static const ics_scatter_parameter none[] = {{.name = NULL}};
    static const ics_scatter_parameter share[] = {{.name = "share", .key = "scattering.share"},
                                                  {.name = NULL}};
    static const ics_scatter_variant list[] = {
        {"plain", none}, {"mixed", share}, {"split", share}, {.name = NULL}};
    const ics_yaml_source source = {.name = "ice.yaml"};
    const ics_yaml_node node = {.source = &source, .line = 7, .column = 1};
    ics_ice_keys keys = {.count = 2};
    keys.fields[0].path = "alpha";
    keys.given[0] = &node;
    keys.fields[1].path = is_water ? "scattering.share" : "share";
    keys.given[1] = &node;
    ics_warnings warnings = {0};
    ics_ice_scatter_warn(list, chosen, is_water, &keys, &warnings);
    return warnings;
}

START_TEST(parameter_of_another_variant_is_a_warning)
{
    static const struct {
        const char *chosen;
        bool is_water;
        const char *warning; /* NULL: none */
    } cases[] = {
        {"mixed", false, NULL},
        {"split", true, NULL},
        {"plain", false,
         "ice.yaml:7:1: share has no effect, because stages.scatter is plain; the variants that "
         "use share: mixed, split"},
        {"plain", true,
         "ice.yaml:7:1: scattering.share has no effect, because stages.scatter is plain; the "
         "variants that use scattering.share: mixed, split"},
        {"custom", false,
         "ice.yaml:7:1: share has no effect, because stages.scatter is custom; the variants that "
         "use share: mixed, split"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        ics_warnings warnings = warnings_with(cases[i].chosen, cases[i].is_water);
        ck_assert_uint_eq(warnings.count, cases[i].warning != NULL ? 1 : 0);
        if (cases[i].warning != NULL) {
            ck_assert_str_eq(warnings.items[0], cases[i].warning);
        }
        ics_warnings_free(&warnings);
    }
}
END_TEST

ICS_TEST_MAIN("scatter_parameters")
{
    TCase *tests = tcase_create("declarations");
    tcase_add_test(tests, all_variants_are_listed);
    tcase_add_test(tests, declarations_are_sound);
    tcase_add_test(tests, every_name_is_one_key);
    tcase_add_test(tests, medium_has_the_defaults_of_its_variant);
    tcase_add_test(tests, parameter_of_another_variant_is_a_warning);
    suite_add_tcase(suite, tests);
}
