#include "pipeline/files/format/schema.h"

#include "pipeline/icestream.h"

#define FIELD(record, kind, member, unit)                                                          \
    {                                                                                              \
#member, {kind, sizeof(((record *)0)->member) }, offsetof(record, member), unit            \
    }

static const is_field step_fields[] = {
    FIELD(is_step, 'f', x, "m"),        FIELD(is_step, 'f', y, "m"),
    FIELD(is_step, 'f', z, "m"),        FIELD(is_step, 'f', t, "ns"),
    FIELD(is_step, 'f', dx, "1"),       FIELD(is_step, 'f', dy, "1"),
    FIELD(is_step, 'f', dz, "1"),       FIELD(is_step, 'f', length, "m"),
    FIELD(is_step, 'f', beta, "1"),     FIELD(is_step, 'f', weight, "1"),
    FIELD(is_step, 'u', photons, "1"),  FIELD(is_step, 'u', source_id, "1"),
    FIELD(is_step, 'u', event_id, "1"), FIELD(is_step, 'u', step_id, "1"),
    FIELD(is_step, 'u', kind, "1"),     FIELD(is_step, 'u', spectrum, "1"),
    FIELD(is_step, 'u', flags, "1"),
};

static const is_field hit_fields[] = {
    FIELD(is_hit, 'u', event_id, "1"),    FIELD(is_hit, 'f', t, "ns"),
    FIELD(is_hit, 'f', x, "m"),           FIELD(is_hit, 'f', y, "m"),
    FIELD(is_hit, 'f', z, "m"),           FIELD(is_hit, 'f', dx, "1"),
    FIELD(is_hit, 'f', dy, "1"),          FIELD(is_hit, 'f', dz, "1"),
    FIELD(is_hit, 'f', wavelength, "nm"), FIELD(is_hit, 'f', weight, "1"),
    FIELD(is_hit, 'u', step_id, "1"),     FIELD(is_hit, 'u', photon_id, "1"),
    FIELD(is_hit, 'u', string, "1"),      FIELD(is_hit, 'u', module, "1"),
    FIELD(is_hit, 'i', pmt, "1"),         FIELD(is_hit, 'u', scatters, "1"),
};

_Static_assert(sizeof(is_step) == IS_ROW_BYTES, "a step is one row");
_Static_assert(sizeof(is_hit) == IS_ROW_BYTES, "a hit is one row");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "rows are used as they are in the file");

static const is_schema steps = {
    .name = "icestream.steps",
    .short_name = "steps",
    .version = 1,
    .coordinates = "x, y, z from the detector's centre, z up; t after the event's t0",
    .fields = step_fields,
    .field_count = sizeof step_fields / sizeof *step_fields,
};

static const is_schema hits = {
    .name = "icestream.hits",
    .short_name = "hits",
    .version = 1,
    .coordinates = "x, y, z from the module's centre, z up; t after the event's t0",
    .fields = hit_fields,
    .field_count = sizeof hit_fields / sizeof *hit_fields,
};

_Static_assert(sizeof step_fields / sizeof *step_fields <= IS_SCHEMA_FIELDS_MAX, "room for fields");
_Static_assert(sizeof hit_fields / sizeof *hit_fields <= IS_SCHEMA_FIELDS_MAX, "room for fields");

const is_schema *is_schema_steps(void)
{
    return &steps;
}

const is_schema *is_schema_hits(void)
{
    return &hits;
}
