/* Files that members of a type name; their paths are relative to the file of the type. */
#ifndef ICS_MODELS_TYPES_TYPE_FILE_H
#define ICS_MODELS_TYPES_TYPE_FILE_H

#include "pipeline/config/yaml/yaml.h"
#include "pipeline/models/text/text.h"

/* Makes the path of the file that a node names; the caller frees it. `key` is that of the node, and
 * `expected` what it may be, for messages. ICESTREAM_E_CONFIG: the node is no name of a file.
 * ICESTREAM_E_MEMORY. */
int ics_type_file_path(const ics_yaml_node *node, const char *key, const char *expected, char **out,
                       icestream_error *error);
/* The same, and reads the file. The caller frees the text. */
int ics_type_file_read(const ics_yaml_node *node, const char *key, ics_text *out,
                       icestream_error *error);

#endif
