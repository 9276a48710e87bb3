/* What the parts of the configuration share: the schema of run files (keys.c) and where
 * values came from (config.c). Private to these parts and to their tests. */
#ifndef ICS_PHOTONS_CONFIG_KEYS_H
#define ICS_PHOTONS_CONFIG_KEYS_H

#include "pipeline/photons/config/config.h"
#include "pipeline/photons/config/schema/schema.h"

#include <stdatomic.h>

/* How hits depend on a key; keys.def explains the words. */
typedef enum ics_config_hits {
    ICS_HITS_NO,
    ICS_HITS_VALUE,
    ICS_HITS_TABLES,
    ICS_HITS_TRAILER
} ics_config_hits;

#define ICS_SECTION(name)
#define ICS_MEMBER(member)
#define ICS_END(name)
#define ICS_KEY(...) +1
/* The number of keys. */
enum {
    ICS_CONFIG_KEYS =
#include "pipeline/photons/config/keys.def"
};
#undef ICS_SECTION
#undef ICS_MEMBER
#undef ICS_END
#undef ICS_KEY

/* The fields of struct icestream_config, and how hits depend on each. */
extern const ics_schema_field ics_config_keys[ICS_CONFIG_KEYS];
extern const ics_config_hits ics_config_key_hits[ICS_CONFIG_KEYS];

/* Where the values of a configuration came from. */
struct ics_config_origin {
    atomic_uint holders;  /* owners of the configuration; the last one frees it */
    ics_yaml **documents; /* the run file, if any, those of --set, overlay; they own the nodes */
    size_t count;
    ics_yaml *document; /* the run file; NULL: there is none */
    ics_yaml *overlay;  /* keys that replace those of the run file and of --set; NULL: none */
    char **sets;        /* [set_count], the texts of --set */
    size_t set_count;
    const char *later; /* the option that gave the last later_count of them, for messages */
    size_t later_count;
    icestream_config *base; /* owns the document of the run file; NULL: `documents` does */
    const ics_yaml_node *given[ICS_CONFIG_KEYS]; /* the node of each value; NULL: default */
    bool changed[ICS_CONFIG_KEYS];               /* true: the value is not the default */
    bool refused[ICS_CONFIG_KEYS];               /* true: a value was given and is not valid */
};

/* The index of a key; ICS_CONFIG_KEYS: there is no such key. */
size_t ics_config_find(const char *key_path);

/* The word for a choice of a key: "fast" for "device.math" and ICS_MATH_FAST. */
const char *ics_config_choice(const char *key_path, size_t index);

/* Adds an error for each pair of keys that contradict each other, unless the value of one of them
 * was refused. 0, ICESTREAM_E_CONFIG. */
int ics_config_check(const icestream_config *config, icestream_error *error);

/* Makes the paths of programs absolute if they have a slash: they begin in the folder of the file
 * that names them. ICESTREAM_E_MEMORY. */
int ics_config_resolve_programs(icestream_config *config, icestream_error *error);

#endif
