/* Promises of origin.h: what the digest of the configuration is made of. test_origin_keys.c tests
 * the digests of all keys. */
#include "pipeline/photons/files/format/digest.h"
#include "pipeline/photons/files/metadata.h"
#include "pipeline/photons/provenance/origin.h"
#include "pipeline/photons/provenance/settings.h"
#include "tests/support/config_text.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <stdio.h>

static int digest_with(const char *set, ics_origin *out, icestream_error *error)
{
    static const ics_models models = {
        .ice_digest = "i", .detector_digest = "d", .light_digest = "l"};
    icestream_config *config = load_with("", &set, set != NULL ? 1 : 0);
    const int status = ics_origin_create(config, &models, out, error);
    icestream_config_destroy(config);
    return status;
}

static ics_origin origin_with(const char *set)
{
    ics_origin origin = {0};
    icestream_error error = {0};
    ck_assert_msg(digest_with(set, &origin, &error) == ICESTREAM_OK, "%s", error.text);
    return origin;
}

START_TEST(settings_are_digested)
{
    static const char text[] =
        "icestream: " ICS_PHYSICS_VERSION "\nrandom numbers: version 2\nrun.seed: 1\n"
        "run.bounce_limit: 10000\n"
        "stages.create: cherenkov\nstages.propagate: cumulative\nstages.collide: string-grid\n"
        "stages.scatter: hg-sl\nstages.detect: none\nlight: l\n";
    char expected[ICS_DIGEST_TEXT];
    ck_assert_int_eq(ics_digest_of(text, strlen(text), expected, NULL), ICESTREAM_OK);
    ics_origin origin = origin_with(NULL);
    ck_assert_str_eq(origin.configuration, expected);
    ck_assert_str_eq(origin.ice, "i");
    ck_assert_str_eq(origin.detector, "d");
    ck_assert_uint_eq(origin.seed, 1);
}
END_TEST

static ics_origin with_header(const scratch *place, const char *stage, const char *name,
                              const char *text)
{
    char path[SCRATCH_PATH], set[SCRATCH_PATH + 64];
    scratch_write(scratch_path(place, name, path), text, strlen(text));
    snprintf(set, sizeof set, "stages.%s={source: %s}", stage, path);
    return origin_with(set);
}

START_TEST(headers_are_digested_by_their_content)
{
    const scratch place = scratch_create();
    const ics_origin first = with_header(&place, "scatter", "a.h", "one\n");
    ck_assert_str_ne(first.configuration, origin_with(NULL).configuration);
    ck_assert_str_eq(with_header(&place, "scatter", "b.h", "one\n").configuration,
                     first.configuration);
    ck_assert_str_ne(with_header(&place, "scatter", "a.h", "two\n").configuration,
                     first.configuration);
    ck_assert_str_ne(with_header(&place, "collide", "a.h", "one\n").configuration,
                     first.configuration);

    ics_origin origin;
    icestream_error error = {0};
    ck_assert_int_eq(digest_with("stages.create={source: /no/such.h}", &origin, &error),
                     ICESTREAM_E_CONFIG);
    ck_assert_str_eq(error.text, "--set stages.create: error: stages.create: /no/such.h: cannot "
                                 "open the file: No such file or directory");
    scratch_remove(&place);
}
END_TEST

/* Hits of a version whose photons are others differ in nothing else, and one line says so. Metadata
 * without a version are those of version 1. */
START_TEST(random_numbers_have_a_version)
{
    icestream_error error = {0};
    json_t *ours = NULL;
    const ics_metadata_origin origin = {
        .seed = 1, .configuration = "c", .ice = "i", .detector = "d"};
    ck_assert_int_eq(ics_metadata_create(&origin, &ours, &error), ICESTREAM_OK);
    json_t *old = json_deep_copy(ours);
    ck_assert_int_eq(json_object_del(old, "random_numbers"), 0);
    ck_assert_int_eq(
        json_object_set_new(json_object_get(old, "digests"), "configuration", json_string("b")), 0);
    ck_assert_int_eq((int)ics_metadata_random_version(ours), 2);
    ck_assert_int_eq((int)ics_metadata_random_version(old), 1);
    ck_assert(!ics_metadata_same_settings(old, ours));
    ics_settings_explain("a.hits.npy", old, ours, &error);
    ck_assert_ptr_nonnull(strstr(error.text,
                                 "a.hits.npy: random numbers: found version 1, expected "
                                 "version 2 (made by another version)"));
    json_decref(old);
    /* Seeds from 2^32 have other random numbers than before. */
    json_t *large = NULL;
    const ics_metadata_origin from_2_32 = {
        .seed = UINT64_C(1) << 32, .configuration = "c", .ice = "i", .detector = "d"};
    ck_assert_int_eq(ics_metadata_create(&from_2_32, &large, &error), ICESTREAM_OK);
    ck_assert_int_eq((int)ics_metadata_random_version(large), 3);
    json_decref(large);
    json_decref(ours);
}
END_TEST

ICS_TEST_MAIN("origin")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, settings_are_digested);
    tcase_add_test(all, random_numbers_have_a_version);
    tcase_add_test(all, headers_are_digested_by_their_content);
    suite_add_tcase(suite, all);
}
