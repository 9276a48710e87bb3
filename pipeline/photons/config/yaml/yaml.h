/* A YAML document as a tree of nodes with their places in the file.
 *
 * libyaml parses the text. Features of YAML that a run file does not need are errors: several
 * documents; tags; anchors that are unknown, defined twice or contain themselves; nesting beyond
 * ICS_YAML_DEPTH_MAX; more than ICS_YAML_NODES_MAX nodes, where every alias counts with all nodes
 * of its anchor. Keys that occur twice in a mapping and merge keys ("<<") stay in the tree: the
 * reader of schema.h reports them together with all other errors in the file.
 */
#ifndef ICS_PHOTONS_CONFIG_YAML_YAML_H
#define ICS_PHOTONS_CONFIG_YAML_YAML_H

#include "base/cleanup.h"
#include "base/error.h"

#define ICS_YAML_DEPTH_MAX   32      /* collections inside each other */
#define ICS_YAML_NODES_MAX   1000000 /* nodes; an alias counts with all nodes of its anchor */
#define ICS_YAML_ANCHORS_MAX 1000    /* anchors in one file */
#define ICS_YAML_BYTES_MAX   ((size_t)16 << 20) /* file size */

typedef enum ics_yaml_kind { ICS_YAML_SCALAR, ICS_YAML_LIST, ICS_YAML_MAPPING } ics_yaml_kind;

/* Where a document came from. */
typedef struct ics_yaml_source {
    const char *name;   /* for messages: "configs/run.yaml" or "--set run.seed=2" */
    const char *folder; /* relative paths in the document refer to it; without "/" at the end except
                           for "/" itself; "": the current folder */
    size_t *faults;     /* number of errors about this document so far (ics_yaml_error) */
} ics_yaml_source;

typedef struct ics_yaml_node ics_yaml_node;

typedef struct ics_yaml_entry {
    const ics_yaml_node *key; /* a scalar */
    const ics_yaml_node *value;
    const ics_yaml_node *duplicate_of; /* the first key of the same text, or NULL */
} ics_yaml_entry;

struct ics_yaml_node {
    ics_yaml_kind kind;
    bool quoted;           /* scalar in quotes or block style: a text, never a number */
    uint32_t line, column; /* place of its first character, from 1; an alias has its own place. 0:
                              the document has no lines (--set, defaults) */
    const ics_yaml_source *source;
    const char *text;                  /* scalar: UTF-8 without NUL; else NULL */
    const ics_yaml_node *const *items; /* list: [count] */
    const ics_yaml_entry *entries;     /* mapping: [count], in the order of the file */
    size_t count;                      /* number of items or entries; scalar: 0 */
    uint32_t nodes;                    /* this node and all below it, aliases counted in full */
    uint32_t height;                   /* collections inside each other, scalar: 0 */
};

typedef struct ics_yaml ics_yaml;

/* Reads a regular file. An empty file is an empty mapping. Messages name the file by `path`.
 * ICESTREAM_E_CONFIG with "path:line:column: error: ...", ICESTREAM_E_MEMORY. Errors are added
 * (ics_error_add). */
int ics_yaml_read_file(const char *path, ics_yaml **out, icestream_error *error);

/* Reads `length` bytes of text as if they were the content of the file `name`, without touching
 * the file system. */
int ics_yaml_read_text(const char *name, const char *text, size_t length, ics_yaml **out,
                       icestream_error *error);

/* Reads a single value that was given outside a file; the places in messages are `name`, and paths
 * refer to `folder` (ics_yaml_source). A text that starts with one of [ { " ' is YAML. Any other
 * text is one plain scalar as it stands, so patterns, "-" and colons need no quotes. */
int ics_yaml_read_value(const char *name, const char *folder, const char *text, ics_yaml **out,
                        icestream_error *error);

/* Accepts NULL. All nodes become invalid. */
void ics_yaml_destroy(ics_yaml *document);
ICS_CAN_DESTROY(ics_yaml, ics_yaml_destroy)

/* The outermost node, never NULL. It belongs to the document. */
const ics_yaml_node *ics_yaml_root(const ics_yaml *document);

/* The value of `key` in a mapping, or NULL; the first one where the key occurs twice. */
const ics_yaml_node *ics_yaml_find(const ics_yaml_node *mapping, const char *key);

/* Whether a node is YAML's null: an empty plain scalar, ~ or null. */
bool ics_yaml_is_null(const ics_yaml_node *node);

/* Writes "run.yaml:7:14", or only the name of the source if it has no lines. Returns buffer. */
const char *ics_yaml_place(const ics_yaml_node *node, char *buffer, size_t size);

/* Describes a node for a message: 'word', the quoted text "1", nothing, a list of 3, a mapping.
 * Cuts long texts and replaces control characters. Returns buffer. */
const char *ics_yaml_describe(const ics_yaml_node *node, char *buffer, size_t size);

/* Writes a text in quotes, or a node and all below it in flow style. What is written reads back to
 * equal nodes. */
void ics_yaml_print_text(const char *text, FILE *out);
void ics_yaml_print(const ics_yaml_node *node, FILE *out);

/* Adds "PLACE: error: ..." to the error. Of more than ICS_ERROR_KIND errors about a document the
 * rest is only counted: "NAME: error: and 71 more". Returns ICESTREAM_E_CONFIG. */
int ics_yaml_error(icestream_error *error, const ics_yaml_node *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds "PLACE: error: WHAT: found ..., expected ..." to the error. `what` names the value; NULL:
 * the text begins with "found". `format` is about what was expected. Returns ICESTREAM_E_CONFIG. */
int ics_yaml_unexpected(icestream_error *error, const ics_yaml_node *node, const char *what,
                        const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Adds "SOURCE: error: out of memory" to the error. Returns ICESTREAM_E_MEMORY. */
int ics_yaml_no_memory(icestream_error *error, const ics_yaml_node *node);

#endif
