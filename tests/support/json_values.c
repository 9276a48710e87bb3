#include "tests/support/json_values.h"

#include <check.h>

json_int_t whole_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    ck_assert_msg(json_is_integer(value), "%s", key);
    return json_integer_value(value);
}

double number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    ck_assert_msg(json_is_real(value), "%s", key);
    return json_real_value(value);
}

const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    ck_assert_msg(text != NULL, "%s", key);
    return text;
}

const json_t *item_of(const json_t *object, const char *key, size_t index)
{
    const json_t *item = json_array_get(json_object_get(object, key), index);
    ck_assert_msg(item != NULL, "%s[%zu]", key, index);
    return item;
}
