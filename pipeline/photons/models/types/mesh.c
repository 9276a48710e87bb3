
#include "pipeline/photons/models/mesh/mesh.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "pipeline/photons/models/types/members.h"

#include <stdlib.h>
#include <string.h>

/* Reads what a part is: glass, absorber, or the number of a PMT. */
static int read_part(const ics_yaml_entry *entry, ics_mesh_part *out, icestream_error *error)
{
    const ics_yaml_node *value = entry->value;
    if (entry->duplicate_of != NULL) {
        return ics_yaml_error(error, entry->key, "parts: the part '%.60s' is given twice",
                              entry->key->text);
    }
    out->name = entry->key->text;
    if (value->kind == ICS_YAML_SCALAR && !ics_yaml_is_null(value)) {
        char *end = NULL;
        const unsigned long number = strtoul(value->text, &end, 10);
        if (strcmp(value->text, "glass") == 0 || strcmp(value->text, "absorber") == 0) {
            out->part = value->text[0] == 'g' ? ICE_PART_GLASS : ICE_PART_ABSORBER;
            return ICESTREAM_OK;
        }
        if (value->text[0] >= '0' && value->text[0] <= '9' && *end == '\0' &&
            number < ICE_PMTS_MAX) {
            out->part = (int16_t)number;
            return ICESTREAM_OK;
        }
    }
    return ics_yaml_unexpected(error, value, "parts",
                               "glass, absorber, or the number of a PMT from 0 to %d",
                               ICE_PMTS_MAX - 1);
}

/* Reads all parts; the caller frees *out. */
static int read_parts(const ics_yaml_node *node, ics_mesh_part **out, icestream_error *error)
{
    if (node->kind != ICS_YAML_MAPPING || node->count == 0) {
        return ics_yaml_unexpected(error, node, "parts",
                                   "a mapping as in {window: 0, rope: absorber, '*': glass}");
    }
    *out = calloc(node->count, sizeof **out);
    if (*out == NULL) {
        return ics_yaml_no_memory(error, node);
    }
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < node->count; ++i) {
        status = ics_error_first(status, read_part(&node->entries[i], &(*out)[i], error));
    }
    return status;
}

int ics_type_mesh_read(const ics_type_mesh *values, ice_module_type *type, ics_warnings *warnings,
                       icestream_error *error)
{
    ICS_FREES ics_mesh_part *parts = NULL;
    ICS_FREES char *path = NULL;
    if (values->parts != NULL) {
        ICS_TRY(read_parts(values->parts, &parts, error));
    }
    ICS_TRY(ics_type_file_path(values->file, "mesh", "the name of a file", &path, error));
    const ics_mesh_settings settings = {.parts = parts,
                                        .part_count = parts != NULL ? values->parts->count : 0,
                                        .unit = values->unit,
                                        .reach = type->radius};
    ICS_TRY(ics_mesh_read(path, &settings, &type->mesh, warnings, error));
    type->reach = ics_mesh_reach(&type->mesh);
    return ICESTREAM_OK;
}

int ics_type_mesh_check(const ics_type_mesh *values, const ice_module_type *type,
                        icestream_error *error)
{
    for (size_t i = 0; i < type->mesh.triangle_count; ++i) {
        const int part = type->mesh.parts[i];
        if (part >= 0 && (size_t)part >= type->pmt_count) {
            return ics_yaml_error(error, values->parts,
                                  "parts: found PMT %d, expected a number below %zu, the number of "
                                  "PMTs of the type",
                                  part, type->pmt_count);
        }
    }
    return ICESTREAM_OK;
}
