/* A document that is being built from the events of libyaml. Private to yaml.c. */
#ifndef ICS_PHOTONS_CONFIG_YAML_BUILDER_H
#define ICS_PHOTONS_CONFIG_YAML_BUILDER_H

#include "pipeline/photons/config/yaml/document.h"

#include <yaml.h>

typedef struct ics_yaml_frame {
    ics_yaml_node *node;            /* the list or mapping that is being filled */
    const ics_yaml_node **children; /* mappings: key, value, key, value, ... */
    size_t count, capacity;
} ics_yaml_frame;

typedef struct ics_yaml_anchor {
    const char *name;
    const ics_yaml_node *node;
    uint32_t line;
    bool complete;
} ics_yaml_anchor;

typedef struct ics_yaml_builder {
    ics_yaml *document;
    icestream_error *error;
    bool has_lines;
    const char
        *text; /* the whole input, in which the places of bytes are found that are not text */
    size_t length;
    ics_yaml_frame frames[ICS_YAML_DEPTH_MAX];
    size_t depth;
    ics_yaml_anchor anchors[ICS_YAML_ANCHORS_MAX];
    size_t anchor_count;
    uint32_t nodes; /* nodes so far, the nodes of every alias counted again */
} ics_yaml_builder;

/* Adds the node of an event to the tree, or completes a collection. `*has_document`: whether a
 * document has begun. ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. */
int ics_yaml_builder_event(ics_yaml_builder *build, const yaml_event_t *event, bool *has_document);

/* Makes a node and registers its anchor; `name` (the anchor) and `tag` may be NULL. Errors like
 * ics_yaml_builder_event. */
int ics_yaml_builder_node(ics_yaml_builder *build, yaml_mark_t mark, ics_yaml_kind kind,
                          const yaml_char_t *name, const yaml_char_t *tag, ics_yaml_node **out);

/* A node that has only a place, for messages. */
ics_yaml_node ics_yaml_builder_place(const ics_yaml_builder *build, yaml_mark_t mark);

/* Adds "NAME: error: out of memory". Returns ICESTREAM_E_MEMORY. */
int ics_yaml_builder_no_memory(ics_yaml_builder *build);

#endif
