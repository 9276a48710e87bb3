#include "tests/support/loaded_detector.h"

#include <check.h>
#include <string.h>

loaded_detector detector_load(icestream_config *config)
{
    loaded_detector result = {0};
    result.status = ics_detector_create(config, &result.detector, &result.warnings, &result.error);
    icestream_config_destroy(config);
    return result;
}

void detector_unload(loaded_detector *result)
{
    ics_detector_destroy(result->detector);
    ics_warnings_free(&result->warnings);
}

void expect_detector(const loaded_detector *result)
{
    ck_assert_msg(result->status == ICESTREAM_OK, "%s", result->error.text);
}

void expect_no_detector(const loaded_detector *result, const char *message)
{
    ck_assert_int_eq(result->status, ICESTREAM_E_CONFIG);
    ck_assert_ptr_null(result->detector);
    ck_assert_msg(strstr(result->error.text, message) != NULL, "expected '%s' in: %s", message,
                  result->error.text);
}
