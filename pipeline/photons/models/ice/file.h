/* An ice file in YAML while it is read: its values, and where they were given. */
#ifndef ICS_PHOTONS_MODELS_ICE_FILE_H
#define ICS_PHOTONS_MODELS_ICE_FILE_H

#include "pipeline/photons/config/schema/schema.h"
#include "pipeline/photons/models/ice/layers.h"

/* Parameters that all scatter variants together may declare. */
enum { ICS_ICE_SCATTER_MAX = 16 };

/* The values of the keys. The keys of a feature refer to members of this structure
 * (ICS_ICE_FILE_NUMBER and others below). */
typedef struct ics_ice_file {
    char *name;
    /* Numbers only: `layers`, `tilt` and the other parts that need memory stay empty. flow_azimuth
     * is in degrees, as in the file. */
    ice_medium medium;
    double scatter[ICS_ICE_SCATTER_MAX]; /* parameters of scatter variants (ice/scatter.h) */
    double anisotropy[2];                /* ln k1, ln k2 */
    double absorption_anisotropy[3];     /* ln K, not scaled yet */
    unsigned subtraction;                /* index of a choice of birefringence.subtraction */
    ics_layer_list layers;
    char *table; /* path of the CSV file with the layers, or NULL */
    struct {
        double scattering, absorption; /* effective scattering and absorption length at 400 nm, m */
        const ics_yaml_node *node;     /* where they stand; NULL: not given */
    } lengths;                         /* of homogeneous ice */
    struct {
        char *file;                     /* path of a CSV file, or NULL */
        double azimuth;                 /* azimuth of the positions in it (degrees) */
        char *stations, *axes, *shifts; /* paths of files in the formats of ppc, or NULL */
    } tilt;
} ics_ice_file;

/* Rows for a number, for numbers, and for a path; paths with the same `alternatives` exclude each
 * other. */
#define ICS_ICE_FILE_NUMBER(key, member, from, to, number)                                         \
    {                                                                                              \
        .path = (key), .type = ICS_SCHEMA_NUMBER, ICS_SCHEMA_AT(ics_ice_file, member),             \
        .fallback = (number), .low = (from), .high = (to)                                          \
    }
#define ICS_ICE_FILE_NUMBERS(key, member, from, to)                                                \
    {                                                                                              \
        .path = (key), .type = ICS_SCHEMA_NUMBERS, ICS_SCHEMA_AT(ics_ice_file, member),            \
        .low = (from), .high = (to)                                                                \
    }
#define ICS_ICE_FILE_PATH(key, member, alternatives)                                               \
    {                                                                                              \
        .path = (key), .type = ICS_SCHEMA_PATH, ICS_SCHEMA_AT(ics_ice_file, member),               \
        .group = (alternatives)                                                                    \
    }

/* All keys of an ice file: those of the medium, of the scattering function and of the features. */
enum { ICS_ICE_KEYS_MAX = 64 };
typedef struct ics_ice_keys {
    ics_schema_field fields[ICS_ICE_KEYS_MAX];
    const ics_yaml_node *given[ICS_ICE_KEYS_MAX]; /* where each key stands in the file, or NULL */
    size_t count;
} ics_ice_keys;

/* Returns the value of a key in the file, or NULL if the file does not give the key. */
static inline const ics_yaml_node *ics_ice_file_given(const ics_ice_keys *keys, const char *path)
{
    const size_t i = ics_schema_find(path, keys->fields, keys->count);
    return i < keys->count ? keys->given[i] : NULL;
}

#endif
