/* Configurations from text, for tests. */
#ifndef CONFIG_TEXT_H
#define CONFIG_TEXT_H

#include "pipeline/photons/config/config.h"

#include <check.h>
#include <string.h>

/* Reads the text of a run file as if it were work/run.yaml. Fails the test on errors. */
static inline icestream_config *load_with(const char *text, const char *const *sets,
                                          size_t set_count)
{
    icestream_config *config = NULL;
    icestream_error error = {0};
    int status =
        ics_config_load_text("work/run.yaml", text, strlen(text), sets, set_count, &config, &error);
    ck_assert_msg(status == ICESTREAM_OK, "%s: %s", text, error.text);
    ck_assert_ptr_nonnull(config);
    return config;
}

static inline icestream_config *load(const char *text)
{
    return load_with(text, NULL, 0);
}

#endif
