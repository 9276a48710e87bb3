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

static const is_field path_fields[] = {
    FIELD(is_path_point, 'u', event_id, "1"),    FIELD(is_path_point, 'f', t, "ns"),
    FIELD(is_path_point, 'f', x, "m"),           FIELD(is_path_point, 'f', y, "m"),
    FIELD(is_path_point, 'f', z, "m"),           FIELD(is_path_point, 'f', dx, "1"),
    FIELD(is_path_point, 'f', dy, "1"),          FIELD(is_path_point, 'f', dz, "1"),
    FIELD(is_path_point, 'f', path, "m"),        FIELD(is_path_point, 'f', absorption, "1"),
    FIELD(is_path_point, 'f', wavelength, "nm"), FIELD(is_path_point, 'u', step_id, "1"),
    FIELD(is_path_point, 'u', photon_id, "1"),   FIELD(is_path_point, 'u', point, "1"),
    FIELD(is_path_point, 'u', string, "1"),      FIELD(is_path_point, 'u', module, "1"),
    FIELD(is_path_point, 'u', kind, "1"),        FIELD(is_path_point, 'u', scatters, "1"),
};

static const is_field waveform_fields[] = {
    FIELD(is_waveform_bin, 'u', event_id, "1"), FIELD(is_waveform_bin, 'f', t, "ns"),
    FIELD(is_waveform_bin, 'f', weight, "1"),   FIELD(is_waveform_bin, 'u', hits, "1"),
    FIELD(is_waveform_bin, 'i', bin, "1"),      FIELD(is_waveform_bin, 'u', string, "1"),
    FIELD(is_waveform_bin, 'u', module, "1"),
};

_Static_assert(sizeof(is_step) == IS_ROW_BYTES, "a step is one row");
_Static_assert(sizeof(is_hit) == IS_ROW_BYTES, "a hit is one row");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "rows are used as they are in the file");

static const is_schema steps = {
    .name = "icestream.steps",
    .short_name = "steps",
    .version = 1,
    .row_bytes = sizeof(is_step),
    .coordinates = "x, y, z from the detector's centre, z up; t after the event's t0",
    .fields = step_fields,
    .field_count = sizeof step_fields / sizeof *step_fields,
};

static const is_schema hits = {
    .name = "icestream.hits",
    .short_name = "hits",
    .version = 1,
    .row_bytes = sizeof(is_hit),
    .coordinates = "x, y, z from the module's centre, z up; t after the event's t0",
    .fields = hit_fields,
    .field_count = sizeof hit_fields / sizeof *hit_fields,
};

static const is_schema paths = {
    .name = "icestream.paths",
    .short_name = "paths",
    .version = 1,
    .row_bytes = sizeof(is_path_point),
    .coordinates = "x, y, z from the detector's centre, z up; t after the event's t0",
    .fields = path_fields,
    .field_count = sizeof path_fields / sizeof *path_fields,
};

static const is_schema waveforms = {
    .name = "icestream.waveforms",
    .short_name = "waveforms",
    .version = 1,
    .row_bytes = sizeof(is_waveform_bin),
    .coordinates = "t after the event's t0",
    .fields = waveform_fields,
    .field_count = sizeof waveform_fields / sizeof *waveform_fields,
};

_Static_assert(sizeof(is_path_point) == 72 && sizeof(is_path_point) <= IS_ROW_BYTES_MAX,
               "a point is one row");
_Static_assert(sizeof(is_waveform_bin) == 40, "a bin is one row");
_Static_assert(sizeof path_fields / sizeof *path_fields <= IS_SCHEMA_FIELDS_MAX, "room for fields");
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

const is_schema *is_schema_paths(void)
{
    return &paths;
}

const is_schema *is_schema_waveforms(void)
{
    return &waveforms;
}

const is_schema *is_schema_at(size_t k)
{
    static const is_schema *const all[] = {&hits, &steps, &paths, &waveforms};
    return k < sizeof all / sizeof *all ? all[k] : NULL;
}
