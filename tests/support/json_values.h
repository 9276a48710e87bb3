/* Values of JSON reports. Each function fails the test if the value is missing or has another type.
 */
#ifndef TESTS_SUPPORT_JSON_VALUES_H
#define TESTS_SUPPORT_JSON_VALUES_H

#include <jansson.h>

json_int_t whole_of(const json_t *object, const char *key);
double number_of(const json_t *object, const char *key);

/* Borrowed from the object. */
const char *text_of(const json_t *object, const char *key);

/* An item of the list at `key`. Borrowed from the object. */
const json_t *item_of(const json_t *object, const char *key, size_t index);

#endif
