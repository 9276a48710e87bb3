#include "pipeline/photons/config/schema/value.h"
#include "pipeline/photons/models/types/members.h"

int ics_type_file_path(const ics_yaml_node *node, const char *key, const char *expected, char **out,
                       icestream_error *error)
{
    *out = NULL;
    if (node->kind != ICS_YAML_SCALAR || ics_yaml_is_null(node)) {
        return ics_yaml_unexpected(error, node, key, "%s", expected);
    }
    *out = ics_schema_join(node->source->folder, node->text, false);
    return *out != NULL ? ICESTREAM_OK : ics_yaml_no_memory(error, node);
}

int ics_type_file_read(const ics_yaml_node *node, const char *key, ics_text *out,
                       icestream_error *error)
{
    char *path;
    *out = (ics_text){0};
    ICS_TRY(ics_type_file_path(node, key, "the name of a file", &path, error));
    return ics_text_read_own(path, out, error);
}
