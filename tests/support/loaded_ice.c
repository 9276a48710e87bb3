#include "tests/support/loaded_ice.h"

#include "tests/support/model_files.h"

#include <check.h>
#include <string.h>

loaded_ice ice_load(const char *key, const char *path, const char *first, const char *second)
{
    char set[MODEL_PATH + 32];
    loaded_ice ice = {0};
    snprintf(set, sizeof set, "%s=%s", key, path);
    icestream_config *config = model_config(set, first != NULL ? first : "run.seed=1",
                                            second != NULL ? second : "run.seed=1", NULL);
    ice.status = ics_ice_create(config, &ice.medium, &ice.factors, &ice.warnings, &ice.error);
    ck_assert((ice.status == ICESTREAM_OK) == (ice.medium != NULL));
    icestream_config_destroy(config);
    return ice;
}

void ice_unload(loaded_ice *ice)
{
    ics_ice_destroy(ice->medium);
    ics_warnings_free(&ice->warnings);
}

bool ice_warned(const loaded_ice *ice, const char *text)
{
    for (size_t i = 0; i < ice->warnings.count; ++i) {
        if (strstr(ice->warnings.items[i], text) != NULL) {
            return true;
        }
    }
    return false;
}

void expect_ice(const loaded_ice *ice)
{
    ck_assert_msg(ice->status == ICESTREAM_OK, "%s", ice->error.text);
}

void expect_no_ice(const loaded_ice *ice, const char *message)
{
    ck_assert_int_eq(ice->status, ICESTREAM_E_CONFIG);
    ck_assert_msg(strstr(ice->error.text, message) != NULL, "expected '%s' in: %s", message,
                  ice->error.text);
}
