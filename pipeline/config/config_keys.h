/* What the parts of the configuration share: the table of keys (config_keys.c), where values came
 * from (config.c), how they fit together (config_check.c). Private to these. */
#ifndef IS_CONFIG_KEYS_H
#define IS_CONFIG_KEYS_H

#include "pipeline/config/config.h"
#include "pipeline/config/schema.h"

extern const is_schema_field is_config_keys[]; /* [is_config_key_count], of struct is_config */
extern const size_t is_config_key_count;

/* Where the values came from. */
struct is_config_origin {
    is_yaml **documents; /* the file, if any, then one per --set: the nodes below live in them */
    size_t count;
    const is_yaml_node **given; /* [is_config_key_count], NULL: default */
    bool *refused;              /* [is_config_key_count]: given, but not a valid value */
};

/* The name of a choice of a key that has choices: "device.math", IS_MATH_FAST is "fast". */
const char *is_config_choice(const char *key_path, size_t index);

/* Adds an error for each pair of keys that do not fit together, unless one of the two was refused.
 * 0, IS_E_CONFIG. */
int is_config_check(const is_config *config, is_error *error);

#endif
