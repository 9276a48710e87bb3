/* Tables of photons: how much light passes, in bins of position, time and angle (tables.md).
 *
 * A table is an array of sums with one dimension for each axis. An axis with n bins has n + 2
 * cells: cell 0 takes what lies below the axis, cells 1 to n are its bins, cell n + 1 takes
 * what lies above. The last axis is the fastest one (C order). A sum is a whole number in units of
 * 2^-32 of a weight, so sums are the same in any order of their terms, and tables of parts add up
 * exactly.
 *
 * A table knows the parts of a production that it holds. ics_table_add() refuses a part that the
 * table holds already.
 *
 * A checkpoint is a table that lacks photons, of a command that has not finished (tabulate.md 4).
 * It has no part, so that it adds up with nothing.
 */
#ifndef ICS_PHOTONS_TABLE_TABLE_H
#define ICS_PHOTONS_TABLE_TABLE_H

#include "base/cleanup.h"
#include "pipeline/icestream.h"
#include "pipeline/photons/files/format/digest.h"

#include <jansson.h>

enum {
    ICS_TABLE_AXES_MAX = 8,
    ICS_TABLE_NAME = 32,         /* bytes of the name of an axis, with the terminating zero */
    ICS_TABLE_UNIT_NAME = 8,     /* bytes of the unit of an axis, with the terminating zero */
    ICS_TABLE_POWER_MAX = 8,     /* highest power of an axis */
    ICS_TABLE_BINS_MAX = 1 << 24 /* bins of one axis */
};
/* Cells of one table: 2^31 bins and their under- and overflow. */
#define ICS_TABLE_CELLS_MAX ((uint64_t)3 << 30)
/* What one unit of a sum is worth, as a weight. */
#define ICS_TABLE_UNIT 0x1p-32

/* Edge i of an axis without `edges` is x^power, where x runs in equal steps from from^(1/power) to
 * to^(1/power). This is clsim's rule. */
typedef struct ics_table_axis {
    char name[ICS_TABLE_NAME];      /* a lower-case letter, then letters a-z, digits and '_' */
    char unit[ICS_TABLE_UNIT_NAME]; /* "m", "ns", "deg", "rad"; "1": a pure number; letters, digits
                                       and / ^ * . % - */
    double from, to;                /* finite, from < to; from >= 0 if power > 1 */
    uint32_t bins;                  /* 1 to ICS_TABLE_BINS_MAX */
    uint32_t power;                 /* 1 to ICS_TABLE_POWER_MAX */
    double *edges; /* [bins + 1], ascending, the first is `from`, the last `to`; or NULL */
} ics_table_axis;

/* What the axes mean. It decides the volume of a bin. */
typedef enum ics_table_geometry {
    ICS_TABLE_CUSTOM = 0,      /* axes of a header of the user: no volume is known */
    ICS_TABLE_SPHERICAL = 1,   /* radius (m), azimuth (deg), cosine of the polar angle, ... */
    ICS_TABLE_CYLINDRICAL = 2, /* radius (m), azimuth (rad), z (m), ... */
    ICS_TABLE_GEOMETRIES
} ics_table_geometry;

/* "custom", "spherical", "cylindrical". */
const char *ics_table_geometry_name(ics_table_geometry geometry);

/* What a table was made with. Two tables add up only if all of this but the seed is equal. */
typedef struct ics_table_facts {
    ics_table_geometry geometry;
    double step_length;      /* m of path between samples, > 0 */
    double area;             /* m^2: cross-section of a module, > 0 */
    double n_group, n_phase; /* the smallest refractive indices; 0: not known */
    /* The source, as clsim's files have it; 0 if it has none of these. */
    double z;               /* m */
    double zenith, azimuth; /* deg: where the source comes from, as in IceCube's files */
    double energy;          /* GeV */
    int32_t type;           /* the number of the particle in IceCube's software */
    int32_t efficiency;     /* clsim's bits: which efficiencies the weights contain */
    uint64_t seed;          /* seed of the random numbers; of several parts the smallest one */
    /* SHA-256, 64 hexadecimal digits; an empty text: does not apply. */
    char configuration[ICS_DIGEST_TEXT], ice[ICS_DIGEST_TEXT], detector[ICS_DIGEST_TEXT];
} ics_table_facts;

/* A sum of weights that no number of photons overflows: whole + fraction * 2^-32. */
typedef struct ics_table_weight {
    uint64_t whole;
    uint32_t fraction;
} ics_table_weight;

/* One part: the digest of what its photons were made from: the seed of the random numbers as 8
 * bytes, the lowest one first, and the steps. */
typedef struct ics_table_part {
    char digest[ICS_DIGEST_TEXT];
} ics_table_part;

typedef struct ics_table {
    ics_table_axis axes[ICS_TABLE_AXES_MAX];
    uint32_t axis_count;
    ics_table_facts facts;
    uint64_t cells;                       /* product of bins + 2 of all axes */
    uint64_t strides[ICS_TABLE_AXES_MAX]; /* cells from one bin of an axis to the next one */
    int64_t *sums;                        /* [cells], units of 2^-32 of a weight, >= 0 */
    int64_t *squares;                     /* [cells], units of 2^-32 of a squared weight; or NULL */
    uint64_t photons;                     /* photons that were followed */
    ics_table_weight weight;              /* the sum of the weights that they started with */
    ics_table_part *parts;                /* [part_count], ascending, all different */
    size_t part_count;
    json_t *checkpoint; /* an object; its "photons": of the complete table, as text. NULL: this is
                           no checkpoint */
} ics_table;

/* Checks axes: names (no two alike), units, numbers, product of cells. `where` begins the text of
 * an error. ICESTREAM_E_INPUT. */
int ics_table_check_axes(const char *where, const ics_table_axis *axes, size_t count,
                         icestream_error *error);

/* A table of zeros without parts. Copies the axes with their edges. ICESTREAM_E_INPUT: the axes are
 * wrong (see ics_table_check_axes); ICESTREAM_E_MEMORY: the machine lacks the memory. */
int ics_table_create(const ics_table_axis *axes, size_t count, const ics_table_facts *facts,
                     bool has_squares, ics_table **out, icestream_error *error);
/* Accepts NULL. */
void ics_table_destroy(ics_table *table);
ICS_CAN_DESTROY(ics_table, ics_table_destroy)

/* Edge i of an axis, 0 to bins. */
double ics_table_edge(const ics_table_axis *axis, uint32_t i);

/* Adds a part. ICESTREAM_E_INPUT: the table holds it already, or it is no SHA-256;
 * ICESTREAM_E_MEMORY. */
int ics_table_add_part(ics_table *table, const char *digest, icestream_error *error);
/* Adds photons and the sum of their weights. ICESTREAM_E_FAILED: a number would pass 2^64. */
int ics_table_add_photons(ics_table *table, uint64_t photons, ics_table_weight weight,
                          icestream_error *error);
/* Adds `count` sums, and `squares` unless it is NULL, beginning with cell `first`; for a device
 * that hands over its table in pieces. ICESTREAM_E_FAILED: a sum would pass 2^63 (2147483648 in
 * weights), or is negative; the table then must not be used. */
int ics_table_add_sums(ics_table *table, uint64_t first, const int64_t *sums,
                       const int64_t *squares, uint64_t count, icestream_error *error);

/* Adds a whole table: sums, photons, weights and parts. The order of several additions does not
 * matter. `name` and `from_name` name the tables in errors. ICESTREAM_E_INPUT: axes or facts
 * differ, only one of them has squares, one is a checkpoint, or both hold a part (`into` is
 * unchanged);
 * ICESTREAM_E_FAILED: a sum overflows (`into` must not be used); ICESTREAM_E_MEMORY. */
int ics_table_add(ics_table *into, const char *name, const ics_table *from, const char *from_name,
                  icestream_error *error);

/* Exchanges sums and squares of two tables with the same axes and facts. ICESTREAM_E_INPUT: axes,
 * squares or facts differ, and nothing is changed. The names are as in ics_table_add(). */
int ics_table_exchange_sums(ics_table *table, const char *name, ics_table *from,
                            const char *from_name, icestream_error *error);

#endif
