/* Particles in YAML. */
#include "base/cleanup.h"
#include "pipeline/photons/particles/source_state.h"

#include <stdlib.h>
#include <string.h>

static int read_value(const ics_yaml_entry *entry, ics_particle *particle, icestream_error *error)
{
    char message[ICS_PARTICLE_MESSAGE];
    const char *key = entry->key->text, *nearest = NULL;
    if (entry->duplicate_of != NULL) {
        return ics_yaml_error(error, entry->key, "the key '%.60s' is given twice", key);
    }
    const ics_particle_field field = ics_particle_field_find(key, strlen(key), &nearest);
    if (field == ICS_PARTICLE_FIELD_COUNT && nearest != NULL) {
        return ics_yaml_error(error, entry->key, "unknown key '%.60s', did you mean '%s'?", key,
                              nearest);
    }
    if (field == ICS_PARTICLE_FIELD_COUNT) {
        return ics_yaml_error(
            error, entry->key,
            "unknown key '%.60s', expected type, event, x, y, z, zenith, azimuth, "
            "energy, length, time, photons, ...",
            key);
    }
    const ics_yaml_node *value = entry->value;
    /* A text in quotes is a name, never a number. */
    if (value->kind != ICS_YAML_SCALAR || ics_yaml_is_null(value) ||
        (value->quoted && field != ICS_PARTICLE_TYPE && field != ICS_PARTICLE_BEAM &&
         field != ICS_PARTICLE_PULSE)) {
        return ics_yaml_unexpected(error, value, key, "a value");
    }
    if (!ics_particle_set(particle, field, value->text, strlen(value->text), message)) {
        return ics_yaml_error(error, value, "%s", message);
    }
    return ICESTREAM_OK;
}

static int read_particle(const ics_yaml_node *node, ics_particle *particle, icestream_error *error)
{
    char message[ICS_PARTICLE_MESSAGE];
    int status = ICESTREAM_OK;
    if (node->kind != ICS_YAML_MAPPING) {
        return ics_yaml_unexpected(
            error, node, NULL,
            "a particle, as in {type: e-, x: 0, y: 0, z: 0, zenith: 90, azimuth: 0, energy: 1e5}");
    }
    for (size_t i = 0; i < node->count; ++i) {
        int result = read_value(&node->entries[i], particle, error);
        status = status ? status : result;
    }
    if (status == ICESTREAM_OK && !ics_particle_check(particle, message)) {
        status = ics_yaml_error(error, node, "%s", message);
    }
    return status;
}

int ics_particle_read_list(const ics_yaml_node *node, ics_particle **out, size_t *count,
                           icestream_error *error)
{
    *out = NULL;
    *count = 0;
    if (node->kind != ICS_YAML_LIST) {
        return ics_yaml_unexpected(error, node, NULL, "a list of particles");
    }
    ICS_FREES ics_particle *list = calloc(node->count + 1, sizeof *list);
    if (list == NULL) {
        return ics_yaml_no_memory(error, node);
    }
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < node->count; ++i) {
        int result = read_particle(node->items[i], &list[i], error);
        status = status ? status : result;
    }
    if (status == ICESTREAM_OK) {
        *out = list;
        *count = node->count;
        list = NULL;
    }
    return status;
}
