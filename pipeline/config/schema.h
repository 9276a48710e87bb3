/* Reads, checks, prints and documents a structure by a table of its fields.
 *
 * One row per key says where the value goes, what it may be and what it is when nobody gives it.
 * The same table drives the reader, `--set`, the printer and the documentation, so they cannot
 * disagree. Used for run files (config_keys.c) and for ice files.
 *
 * The target starts as zeros. Texts and lists in it are allocated and belong to it;
 * is_schema_clear() frees them. Reading a field replaces (and frees) what it had before.
 */
#ifndef IS_CONFIG_SCHEMA_H
#define IS_CONFIG_SCHEMA_H

#include "pipeline/config/yaml.h"

typedef enum is_schema_type {
    IS_SCHEMA_BOOL,     /* bool: true or false */
    IS_SCHEMA_UNSIGNED, /* uint8_t, uint16_t, uint32_t or uint64_t, by .size; least .. most */
    IS_SCHEMA_BYTES,    /* uint64_t: a size with or without a unit ("4 GB"); least .. most */
    IS_SCHEMA_NUMBER,   /* double, finite; low .. high */
    IS_SCHEMA_NUMBERS,  /* double[size / sizeof(double)], each low .. high */
    IS_SCHEMA_CHOICE,   /* enum or bool, by .size: the index of one of the choices */
    IS_SCHEMA_NAME,     /* char *: one of the choices */
    IS_SCHEMA_TEXT,     /* char *: any text that is not empty */
    IS_SCHEMA_PATH,     /* char *: a path, resolved; one of the choices (if any) stays as it is */
    IS_SCHEMA_VARIANT, /* char *: one of the choices, or {source: PATH}: the path goes to the char *
                          at .source_offset and the member becomes IS_SCHEMA_FROM_SOURCE */
    IS_SCHEMA_PATTERNS, /* char **, with the count at .count_offset: paths that may be globs */
    IS_SCHEMA_CUSTOM    /* whatever .custom does */
} is_schema_type;

#define IS_SCHEMA_FROM_SOURCE "custom"

/* A field that needs its own code. `target` is the whole structure. */
typedef struct is_schema_custom {
    const char *expected; /* for messages and documentation: "a list of [string, module]" */
    /* Fills the target from a node that is not null. Adds its errors (is_yaml_error), frees what
     * the target had before. 0, IS_E_CONFIG, IS_E_MEMORY. */
    int (*read)(const is_yaml_node *node, void *target, is_error *error);
    /* Writes the value in flow style, without a newline. */
    void (*print)(const void *target, FILE *out);
    /* Whether it is to be printed: not where another field of its group was chosen. May be NULL
     * where there is no group. */
    bool (*is_there)(const void *target);
    /* Frees the value and sets it to zeros; may be NULL where nothing is allocated. */
    void (*clear)(void *target);
} is_schema_custom;

typedef struct is_schema_field {
    const char *path; /* "graph.pool": keys from the outside in, separated by dots */
    is_schema_type type;
    bool required;        /* an error when neither the field nor one of its group is given */
    bool growing;         /* choices are added elsewhere: the documentation does not list them */
    size_t offset, size;  /* of the member; see IS_SCHEMA_AT */
    const char *fallback; /* the default, as a value for is_yaml_read_value; NULL: zeros */
    uint64_t least, most; /* IS_SCHEMA_UNSIGNED and _BYTES, both included */
    uint64_t multiple;    /* IS_SCHEMA_UNSIGNED: what all values are multiples of; 0: of 1 */
    double low, high;     /* IS_SCHEMA_NUMBER(S), both included */
    const char *word;     /* a word that may stand for a number ("auto", "off"), or NULL */
    double word_value;    /* the number it stands for, outside the range */
    size_t count_offset;  /* IS_SCHEMA_PATTERNS: of the size_t that counts the texts */
    size_t source_offset; /* IS_SCHEMA_VARIANT: of the char * for a path */
    /* Names of choices in order, NULL after the last; gets the field's path. */
    const char *(*choice)(const char *path, size_t index);
    const is_schema_custom *custom;
    const char *group; /* fields of the same group exclude each other: two in one file are an
                          error; one that is read clears the others. NULL: none */
    const char *unit;  /* for documentation: "m", or NULL */
    const char *help;  /* what it is, a few words */
} is_schema_field;

/* The offset and size of a member: { .path = "a.b", IS_SCHEMA_AT(struct my, a.b), ... } */
#define IS_SCHEMA_AT(type, member)                                                                 \
    .offset = offsetof(type, member), .size = sizeof(((type *)0)->member)

/* Fills every field that has a fallback. IS_E_MEMORY; IS_E_CONFIG where a fallback is out of its
 * own range, a mistake in the table. */
int is_schema_defaults(const is_schema_field *fields, size_t count, void *target, is_error *error);

/* Reads all keys of a mapping (null: an empty one) and adds every error in it: unknown keys with
 * the nearest valid one, keys given twice, wrong types, values out of range, missing keys.
 * `given` (may be NULL): [count], where the value's node is stored for each field that occurs; the
 * nodes live as long as their document. IS_E_CONFIG, IS_E_MEMORY. */
int is_schema_read(const is_yaml_node *mapping, const is_schema_field *fields, size_t count,
                   void *target, const is_yaml_node **given, is_error *error);

/* Reads one field, chosen by its path. Errors like is_schema_read. */
int is_schema_set(const char *path, const is_yaml_node *value, const is_schema_field *fields,
                  size_t count, void *target, const is_yaml_node **given, is_error *error);

/* The index of a path, or count. */
size_t is_schema_find(const char *path, const is_schema_field *fields, size_t count);

/* Frees all texts and lists of the target and sets them to zeros. */
void is_schema_clear(const is_schema_field *fields, size_t count, void *target);

/* Writes the target as a YAML mapping that reads back to the same values; paths are made absolute,
 * fields that are NULL are left out. Check ferror(out) afterwards. */
void is_schema_print(const is_schema_field *fields, size_t count, const void *target, FILE *out);

/* Writes the fields as the rows of a Markdown table: key, value, default, meaning. */
void is_schema_document(const is_schema_field *fields, size_t count, FILE *out);

/* ---- single values, for custom fields and for lists of mappings ---------------------------- */

/* `what` names the value in messages ("layers[3].be400"). 0, IS_E_CONFIG, IS_E_MEMORY. */
int is_schema_number(const is_yaml_node *node, const char *what, double low, double high,
                     double *out, is_error *error);
int is_schema_unsigned(const is_yaml_node *node, const char *what, uint64_t least, uint64_t most,
                       uint64_t *out, is_error *error);

/* Write a number with the digits that read back exactly, a text in quotes, a path in quotes and
 * absolute. */
void is_schema_print_number(double value, FILE *out);
void is_schema_print_text(const char *text, FILE *out);
void is_schema_print_path(const char *path, FILE *out);

#endif
