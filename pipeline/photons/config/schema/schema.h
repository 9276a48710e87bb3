/* Reads, checks, prints and documents a structure by a table of its fields, the schema.
 *
 * A field has a member of the structure, a range of values and a default. The reader, `--set`, the
 * printer and the documentation use the same schema. Run files (pipeline/photons/config/keys.c) and
 * ice files have one.
 *
 * The target starts as zeros. Texts and lists in it are allocated and belong to it;
 * ics_schema_clear() frees them. Reading a field frees its old value.
 */
#ifndef ICS_PHOTONS_CONFIG_SCHEMA_SCHEMA_H
#define ICS_PHOTONS_CONFIG_SCHEMA_SCHEMA_H

#include "pipeline/photons/config/yaml/yaml.h"

typedef enum ics_schema_type {
    ICS_SCHEMA_BOOL,     /* bool: true or false */
    ICS_SCHEMA_UNSIGNED, /* uint8_t, uint16_t, uint32_t or uint64_t, by .size; least .. most */
    ICS_SCHEMA_BYTES,    /* uint64_t: a size with or without a unit ("4 GB"); least .. most */
    ICS_SCHEMA_NUMBER,   /* double, finite; low .. high */
    ICS_SCHEMA_NUMBERS,  /* double[size / sizeof(double)], each low .. high */
    ICS_SCHEMA_CHOICE,   /* enum or bool, by .size: the index of one of the choices */
    ICS_SCHEMA_NAME,     /* char *: one of the choices */
    ICS_SCHEMA_TEXT,     /* char *: any text that is not empty */
    ICS_SCHEMA_PATH,     /* char *: a path, resolved; one of the choices (if any) stays as it is */
    ICS_SCHEMA_VARIANT,  /* char *: one of the choices, or {source: PATH}: the path goes to the char
                          *  at .source_offset and the member becomes ICS_SCHEMA_FROM_SOURCE */
    ICS_SCHEMA_PATTERNS, /* char **, with the count at .count_offset: paths that may be globs */
    ICS_SCHEMA_LIST,     /* pointer to items of .list, with the count at .count_offset */
    ICS_SCHEMA_NODE,     /* const ics_yaml_node *: a value that other code reads later; see .node */
    ICS_SCHEMA_CUSTOM    /* read and printed by .custom */
} ics_schema_type;

#define ICS_SCHEMA_FROM_SOURCE "custom"

struct ics_schema_field;

/* A check that the fields of an item cannot make. Adds its errors (ics_yaml_error). 0,
 * ICESTREAM_E_CONFIG. NULL: every item is valid. */
typedef int (*ics_schema_check)(const ics_yaml_node *node, const void *item,
                                icestream_error *error);

/* A list of structures of one type, or of words. The fields of a structure say how it is read,
 * printed, checked and freed, and which JSON Schema it has. One more item, of zeros, follows the
 * counted items. */
typedef struct ics_schema_list {
    const char *expected; /* for messages and documentation: "a list of [string, module]" */
    const char *item;     /* the same for one item, if it is a row or a word: "[string, module]" */
    const char *example;  /* a valid list that is not the default, for tests */
    size_t item_size;     /* bytes */
    size_t most;          /* items; 0: any number */
    /* [field_count], of a structure. NULL: an item is a word, a char * with the text of any scalar.
     */
    const struct ics_schema_field *fields;
    size_t field_count;
    bool is_row;         /* a structure is written as [1, 2], else as {string: 1, module: 2} */
    const char *pattern; /* for editors: the regular expression of a word; NULL: any scalar */
    /* Whether a list is what is expected; NULL: every list is. */
    bool (*fits)(const ics_yaml_node *list);
    ics_schema_check check; /* check of a structure, or of a word */
    /* An item may also be a list of structures. Then it begins with an array of them. */
    struct {
        uint32_t most;          /* structures in an item; 0: an item is one structure */
        size_t size;            /* size of a structure (bytes) */
        size_t count_offset;    /* offset of the uint32_t of an item that counts its structures */
        const char *name;       /* name of the structures in messages: "axes" */
        ics_schema_check check; /* check of an item with all its structures */
    } several;
} ics_schema_list;

/* A value that stays a node of YAML until other code reads it. The node lives as long as its
 * document. A field without a member (size 0) takes every node, and the reader finds it in `given`.
 * Else the member is the node, or NULL for one without items. */
typedef struct ics_schema_node {
    const char *expected; /* for messages and documentation: "a list of particles" */
    const char *example;  /* a valid value that is not the default, for messages and tests */
    /* A JSON Schema of the value, written as YAML; NULL: every value fits. */
    const char *json_shape;
    ics_yaml_kind kind; /* kind of the node, if the field has a member: a list or a mapping */
    /* Writes a node that is not NULL in flow style; NULL: as it stands in the document. */
    void (*print)(const ics_yaml_node *node, FILE *out);
    /* False: the field is not printed, because another field of its group was chosen. NULL: it is
     * always printed. `target` is the whole structure. */
    bool (*is_there)(const void *target);
} ics_schema_node;

struct json_t; /* jansson.h */

/* A field that needs its own code. `target` is the whole structure. */
typedef struct ics_schema_custom {
    const char *expected;   /* for messages and documentation: "isotropic, or [dx, dy, dz]" */
    const char *example;    /* a valid value that is not the default, for tests; may be NULL */
    const char *json_shape; /* a JSON Schema of the value, written as YAML; NULL: that of `shape` */
    struct json_t *(*shape)(void); /* makes it; NULL: every value fits, or no memory */
    /* Fills the target from a node that is not null. Adds its errors (ics_yaml_error), frees the
     * old value. 0, ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. */
    int (*read)(const ics_yaml_node *node, void *target, icestream_error *error);
    /* Writes the value in flow style, without a newline. */
    void (*print)(const void *target, FILE *out);
    /* Frees the value and sets it to zeros; NULL: nothing is allocated. */
    void (*clear)(void *target);
} ics_schema_custom;

typedef struct ics_schema_field {
    const char *path; /* sections from the outside in and the key: "graph.compact.sort" */
    ics_schema_type type;
    bool required;        /* it is an error if neither the field nor one of its group is given */
    bool growing;         /* registries add choices, so the documentation does not list them */
    bool plain;           /* an ICS_SCHEMA_TEXT is printed without quotes */
    size_t offset, size;  /* offset and size of the member; see ICS_SCHEMA_AT */
    const char *fallback; /* the default, as in ics_yaml_read_value; NULL: zeros */
    uint64_t least, most; /* ICS_SCHEMA_UNSIGNED and _BYTES, both included */
    uint64_t multiple;    /* ICS_SCHEMA_UNSIGNED: all values are multiples of this; 0: any */
    double low, high;     /* ICS_SCHEMA_NUMBER(S), both included */
    const char *word;     /* a word that may stand for a number ("auto", "off"), or NULL */
    double word_value;    /* the number it stands for, outside the range */
    size_t count_offset;  /* ICS_SCHEMA_PATTERNS, _LIST: of the size_t that counts the items */
    size_t source_offset; /* ICS_SCHEMA_VARIANT: of the char * for a path */
    /* Choices in order, NULL after the last: as an array, or by a function of the field's path. */
    const char *const *words;
    const char *(*choice)(const char *path, size_t index);
    const char *pattern; /* for editors: the regular expression of an ICS_SCHEMA_TEXT, or NULL */
    const ics_schema_list *list;
    const ics_schema_node *node;
    const ics_schema_custom *custom;
    /* Fields of the same group exclude each other: two in one file are an error, and reading one
     * clears the others. NULL: no group. */
    const char *group;
    const char *unit; /* for documentation: "m", or NULL */
    const char *help; /* for documentation: what the field is */
} ics_schema_field;

/* The offset and size of a member: { .path = "a.b", ICS_SCHEMA_AT(struct my, a.b), ... } */
#define ICS_SCHEMA_AT(type, member)                                                                \
    .offset = offsetof(type, member), .size = sizeof(((type *)0)->member)

/* Fills every field that has a default, whose paths refer to `folder` (ics_yaml_source).
 * ICESTREAM_E_MEMORY; ICESTREAM_E_CONFIG: a default is not a valid value, which is a mistake in the
 * schema. */
int ics_schema_defaults(const ics_schema_field *fields, size_t count, const char *folder,
                        void *target, icestream_error *error);

/* Reads all keys of a mapping; YAML's null counts as an empty mapping. Adds every error: unknown
 * keys with the nearest valid one, keys given twice, wrong types, values out of range, missing
 * keys. `given` may be NULL; else it has [count] entries, and those of fields that occur receive
 * the nodes of their values, which live as long as their document. ICESTREAM_E_CONFIG,
 * ICESTREAM_E_MEMORY. */
int ics_schema_read(const ics_yaml_node *mapping, const ics_schema_field *fields, size_t count,
                    void *target, const ics_yaml_node **given, icestream_error *error);

/* Reads one field, chosen by its path. Errors like ics_schema_read. */
int ics_schema_set(const char *path, const ics_yaml_node *value, const ics_schema_field *fields,
                   size_t count, void *target, const ics_yaml_node **given, icestream_error *error);

/* Returns the index of the field with this path, or `count` if there is none. */
size_t ics_schema_find(const char *path, const ics_schema_field *fields, size_t count);

/* Frees all texts and lists of the target and sets all fields to zeros. */
void ics_schema_clear(const ics_schema_field *fields, size_t count, void *target);

/* Writes the target as a YAML mapping that reads back to the same values; paths are made absolute,
 * fields that are NULL are left out. Check ferror(out) afterwards. */
void ics_schema_print(const ics_schema_field *fields, size_t count, const void *target, FILE *out);

/* Writes the value of one field in flow style, without a newline; the field's texts are not NULL.
 */
void ics_schema_print_field(const ics_schema_field *field, const void *target, FILE *out);

/* Returns the same as a new text, which is empty if the field is not printed. The caller frees it;
 * NULL: no memory. */
char *ics_schema_field_text(const ics_schema_field *field, const void *target);

/* The name of a choice; NULL: the field has no choices, or fewer. */
const char *ics_schema_choice(const ics_schema_field *field, size_t index);

/* Writes the fields as a table of plain text, one line per field: key, default, unit, value and
 * meaning. Check ferror(out) afterwards. */
void ics_schema_print_table(const ics_schema_field *fields, size_t count, FILE *out);

/* Writes the fields as a JSON Schema (draft 7) with this title. ICESTREAM_E_MEMORY. Check
 * ferror(out) afterwards. */
int ics_schema_print_json(const ics_schema_field *fields, size_t count, const char *title,
                          FILE *out, icestream_error *error);

/* ---- single values, for custom fields ------------------------------------------------------- */

/* Writes the fields of a structure in a list as {name: r, bins: 9}, without those that were not
 * given. */
void ics_schema_print_members(const ics_schema_field *fields, size_t count, const void *target,
                              FILE *out);
/* Returns the JSON Schema of such a structure. NULL: no memory. */
struct json_t *ics_schema_members_shape(const ics_schema_field *fields, size_t count);

/* Read a number within a range. `what` names the value in messages ("layers[3].be400"). 0,
 * ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. */
int ics_schema_number(const ics_yaml_node *node, const char *what, double low, double high,
                      double *out, icestream_error *error);
int ics_schema_unsigned(const ics_yaml_node *node, const char *what, uint64_t least, uint64_t most,
                        uint64_t *out, icestream_error *error);
/* Reads the items of a list into out[list->count]. Adds the errors of all items. */
int ics_schema_numbers(const ics_yaml_node *list, const char *what, double low, double high,
                       double *out, icestream_error *error);

/* Write numbers as a list, with the digits that read back exactly, and a path in quotes and
 * absolute. */
void ics_schema_print_numbers(const double *values, size_t count, FILE *out);
void ics_schema_print_path(const char *path, FILE *out);

#endif
