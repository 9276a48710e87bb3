#include "tests/support/loaded_models.h"

#include <check.h>

ics_models *models_load(icestream_config *config)
{
    ics_models *models = NULL;
    icestream_error error = {0};
    int status = ics_models_create(config, &models, &error);
    ck_assert_msg(status == ICESTREAM_OK, "%s", error.text);
    icestream_config_destroy(config);
    return models;
}
