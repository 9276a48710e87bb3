/* The tables of step, hit and other files: names, places, types and units of their fields, written
 * once (formats.md) for header writer, readers, checks, info and HDF5. */
#ifndef IS_SCHEMA_H
#define IS_SCHEMA_H

#include <stddef.h>
#include <stdint.h>

enum {
    IS_ROW_BYTES = 64,        /* rows of steps and hits */
    IS_ROW_BYTES_MAX = 72,    /* no schema has longer rows */
    IS_SCHEMA_FIELDS_MAX = 20 /* no schema has more fields */
};

/* A little-endian number: kind 'f' float, 'u' unsigned, 'i' signed, 'b' boolean. */
typedef struct is_number_type {
    char kind;
    uint8_t bytes;
} is_number_type;

typedef struct is_field {
    const char *name;
    is_number_type type;
    uint32_t offset;  /* bytes from the start of the row */
    const char *unit; /* "1" for pure numbers */
} is_field;

typedef struct is_schema {
    const char *name;       /* "icestream.steps", in metadata */
    const char *short_name; /* "steps": in messages, and the name of the HDF5 dataset */
    uint32_t version;
    uint32_t row_bytes;      /* the sum of its fields: rows have no gaps */
    const char *coordinates; /* what positions and times refer to */
    const is_field *fields;  /* [field_count], in the order of their offsets */
    size_t field_count;
} is_schema;

const is_schema *is_schema_steps(void);
const is_schema *is_schema_hits(void);
const is_schema *is_schema_paths(void);
const is_schema *is_schema_waveforms(void);
/* The k-th of all schemas, NULL: no more. */
const is_schema *is_schema_at(size_t k);

#endif
