/* A run file, with overrides, that is refused with exactly this text. */
#ifndef EXPECT_ERROR_H
#define EXPECT_ERROR_H

#include "tests/support/config_text.h"

#include <check.h>
#include <string.h>

static inline void expect_error(const char *text, const char *const *sets, size_t set_count,
                                const char *expected)
{
    icestream_config *config = NULL;
    icestream_error error = {0};
    int status =
        ics_config_load_text("r.yaml", text, strlen(text), sets, set_count, &config, &error);
    ck_assert_msg(status == ICESTREAM_E_CONFIG, "accepted: %s", text);
    ck_assert_ptr_null(config);
    ck_assert_int_eq(error.status, ICESTREAM_E_CONFIG);
    ck_assert_str_eq(error.text, expected);
}

#endif
