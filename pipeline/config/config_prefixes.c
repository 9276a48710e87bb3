/* The list of source.allow. */
#include "base/url.h"
#include "pipeline/config/config_fields.h"

#include <stdlib.h>
#include <string.h>

static int read_prefix(const ics_yaml_node *node, void *item, icestream_error *error)
{
    char found[128];
    if (node->kind != ICS_YAML_SCALAR) {
        return ics_yaml_error(error, node, "source.allow: found %s, expected a prefix of URLs",
                              ics_yaml_describe(node, found, sizeof found));
    }
    const char *fault = ics_url_prefix_fault(node->text);
    if (fault != NULL) {
        char shown[ICS_URL_MOST + 1];
        return ics_yaml_error(error, node, "source.allow: found '%.300s', %s",
                              ics_url_shown(node->text, shown), fault);
    }
    char *copy = strdup(node->text);
    memcpy(item, &copy, sizeof copy);
    return copy != NULL ? ICESTREAM_OK : ics_yaml_no_memory(error, node);
}

static void print_prefix(const void *item, FILE *out)
{
    ics_yaml_print_text(*(char *const *)item, out);
}

static void clear_prefix(void *item)
{
    free(*(char **)item);
}

const ics_schema_list ics_config_prefixes = {.expected = "a list of URL prefixes",
                                             .example = "[\"https://data.example.org/steps/\"]",
                                             .json_shape =
                                                 "{\"type\": \"array\", \"items\": {\"type\": "
                                                 "\"string\", \"pattern\": "
                                                 "\"^[A-Za-z][A-Za-z0-9+.-]*://[^/?#]+/(.*/)?$\"}}",
                                             .item_size = sizeof(char *),
                                             .read = read_prefix,
                                             .print = print_prefix,
                                             .clear = clear_prefix};
