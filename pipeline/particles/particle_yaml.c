#include "pipeline/particles/particle_yaml.h"

#include <stdlib.h>
#include <string.h>

static int read_value(const is_yaml_entry *entry, is_particle *particle, is_error *error)
{
    char found[128], message[IS_PARTICLE_MESSAGE];
    const char *key = entry->key->text, *nearest = NULL;
    if (entry->duplicate_of)
        return is_yaml_error(error, entry->key, "the key '%.60s' is given twice", key);
    const is_particle_field field = is_particle_field_find(key, strlen(key), &nearest);
    if (field == IS_PARTICLE_FIELD_COUNT && nearest)
        return is_yaml_error(error, entry->key, "unknown key '%.60s', did you mean '%s'?", key,
                             nearest);
    if (field == IS_PARTICLE_FIELD_COUNT)
        return is_yaml_error(error, entry->key,
                             "unknown key '%.60s', expected type, event, x, y, z, zenith, azimuth, "
                             "energy, length, time, photons, ...",
                             key);
    const is_yaml_node *value = entry->value;
    /* Quotes make a text, which is a name and never a number. */
    if (value->kind != IS_YAML_SCALAR || is_yaml_is_null(value) ||
        (value->quoted && field != IS_PARTICLE_TYPE && field != IS_PARTICLE_BEAM &&
         field != IS_PARTICLE_PULSE))
        return is_yaml_error(error, value, "%s: found %s, expected a value", key,
                             is_yaml_describe(value, found, sizeof found));
    if (!is_particle_set(particle, field, value->text, strlen(value->text), message))
        return is_yaml_error(error, value, "%s", message);
    return IS_OK;
}

static int read_particle(const is_yaml_node *node, is_particle *particle, is_error *error)
{
    char found[128], message[IS_PARTICLE_MESSAGE];
    int status = IS_OK;
    if (node->kind != IS_YAML_MAPPING)
        return is_yaml_error(error, node,
                             "found %s, expected a particle, as in {type: e-, x: 0, y: 0, z: 0, "
                             "zenith: 90, azimuth: 0, energy: 1e5}",
                             is_yaml_describe(node, found, sizeof found));
    for (size_t i = 0; i < node->count; ++i) {
        int result = read_value(&node->entries[i], particle, error);
        status = status ? status : result;
    }
    if (status == IS_OK && !is_particle_check(particle, message))
        status = is_yaml_error(error, node, "%s", message);
    return status;
}

int is_particle_read_list(const is_yaml_node *node, is_particle **out, size_t *count,
                          is_error *error)
{
    char found[128];
    *out = NULL;
    *count = 0;
    if (node->kind != IS_YAML_LIST)
        return is_yaml_error(error, node, "found %s, expected a list of particles",
                             is_yaml_describe(node, found, sizeof found));
    is_particle *list = calloc(node->count + 1, sizeof *list);
    if (!list)
        return is_yaml_no_memory(error, node);
    int status = IS_OK;
    for (size_t i = 0; i < node->count; ++i) {
        int result = read_particle(node->items[i], &list[i], error);
        status = status ? status : result;
    }
    if (status != IS_OK) {
        free(list);
        return status;
    }
    *out = list;
    *count = node->count;
    return IS_OK;
}

void is_particle_print_list(const is_particle *list, size_t count, FILE *out)
{
    fputc('[', out);
    for (size_t i = 0; i < count; ++i) {
        bool first = true;
        fputs(i ? ", {" : "{", out);
        for (int field = 0; field < IS_PARTICLE_FIELD_COUNT; ++field) {
            if (!is_particle_has(&list[i], (is_particle_field)field))
                continue;
            fprintf(out, "%s%s: ", first ? "" : ", ",
                    is_particle_field_name((is_particle_field)field));
            is_particle_print_field(&list[i], (is_particle_field)field, out);
            first = false;
        }
        fputc('}', out);
    }
    fputc(']', out);
}
