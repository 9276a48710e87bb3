/* The layouts of rows in step, hit and other files: names, offsets, types and units of their fields
 * (files.md 3, 4, 8, 9). Writers, readers, checks and info all use these tables. */
#ifndef ICS_PHOTONS_FILES_FORMAT_LAYOUT_H
#define ICS_PHOTONS_FILES_FORMAT_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

enum {
    ICS_HIT_BYTES = 64,        /* rows of hits */
    ICS_ROW_BYTES_MAX = 80,    /* no schema has longer rows */
    ICS_LAYOUT_FIELDS_MAX = 20 /* no schema has more fields */
};

/* A little-endian number. kind: 'f' floating point, 'u' unsigned, 'i' signed, 'b' boolean. */
typedef struct ics_layout_number_type {
    char kind;
    uint8_t bytes;
} ics_layout_number_type;

typedef struct ics_layout_field {
    const char *name;
    ics_layout_number_type type;
    uint32_t offset;  /* bytes from the start of the row */
    const char *unit; /* "1" for pure numbers */
    uint32_t count;   /* numbers in an array; 0: one number. Only files that are written have any */
} ics_layout_field;

typedef struct ics_layout {
    const char *name;       /* "icestream.steps", in metadata */
    const char *short_name; /* "steps": in error texts */
    uint32_t version;
    uint32_t row_bytes;             /* the sum of its fields: rows have no gaps */
    const char *coordinates;        /* what positions and times refer to */
    const ics_layout_field *fields; /* [field_count], in the order of their offsets */
    size_t field_count;
} ics_layout;

const ics_layout *ics_layout_steps(void);
const ics_layout *ics_layout_hits(void);
const ics_layout *ics_layout_paths(void);
const ics_layout *ics_layout_waveforms(void);

#endif
