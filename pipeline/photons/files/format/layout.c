#include "pipeline/photons/files/format/layout.h"

#include "pipeline/icestream.h"

#define FIELD(record, kind, member, unit)                                                          \
    {                                                                                              \
        #member, {kind, sizeof(((record *)0)->member)}, offsetof(record, member), unit, 0          \
    }

static const ics_layout_field step_fields[] = {
    FIELD(icestream_step, 'f', x, "m"),         FIELD(icestream_step, 'f', y, "m"),
    FIELD(icestream_step, 'f', z, "m"),         FIELD(icestream_step, 'u', photons, "1"),
    FIELD(icestream_step, 'f', dx, "1"),        FIELD(icestream_step, 'f', dy, "1"),
    FIELD(icestream_step, 'f', dz, "1"),        FIELD(icestream_step, 'f', length, "m"),
    FIELD(icestream_step, 'f', beta, "1"),      FIELD(icestream_step, 'f', weight, "1"),
    FIELD(icestream_step, 'f', t, "ns"),        FIELD(icestream_step, 'u', event_id, "1"),
    FIELD(icestream_step, 'u', step_id, "1"),   FIELD(icestream_step, 'u', kind, "1"),
    FIELD(icestream_step, 'u', spectrum, "1"),  FIELD(icestream_step, 'u', flags, "1"),
    FIELD(icestream_step, 'u', source_id, "1"),
};

static const ics_layout_field hit_fields[] = {
    FIELD(icestream_hit, 'u', event_id, "1"),    FIELD(icestream_hit, 'f', t, "ns"),
    FIELD(icestream_hit, 'f', x, "m"),           FIELD(icestream_hit, 'f', y, "m"),
    FIELD(icestream_hit, 'f', z, "m"),           FIELD(icestream_hit, 'f', dx, "1"),
    FIELD(icestream_hit, 'f', dy, "1"),          FIELD(icestream_hit, 'f', dz, "1"),
    FIELD(icestream_hit, 'f', wavelength, "nm"), FIELD(icestream_hit, 'f', weight, "1"),
    FIELD(icestream_hit, 'u', step_id, "1"),     FIELD(icestream_hit, 'u', photon_id, "1"),
    FIELD(icestream_hit, 'u', string, "1"),      FIELD(icestream_hit, 'u', module, "1"),
    FIELD(icestream_hit, 'i', pmt, "1"),         FIELD(icestream_hit, 'u', scatters, "1"),
};

static const ics_layout_field path_fields[] = {
    FIELD(icestream_path_point, 'u', event_id, "1"),
    FIELD(icestream_path_point, 'f', t, "ns"),
    FIELD(icestream_path_point, 'f', x, "m"),
    FIELD(icestream_path_point, 'f', y, "m"),
    FIELD(icestream_path_point, 'f', z, "m"),
    FIELD(icestream_path_point, 'f', dx, "1"),
    FIELD(icestream_path_point, 'f', dy, "1"),
    FIELD(icestream_path_point, 'f', dz, "1"),
    FIELD(icestream_path_point, 'f', path, "m"),
    FIELD(icestream_path_point, 'f', absorption, "1"),
    FIELD(icestream_path_point, 'f', wavelength, "nm"),
    FIELD(icestream_path_point, 'u', step_id, "1"),
    FIELD(icestream_path_point, 'u', photon_id, "1"),
    FIELD(icestream_path_point, 'u', point, "1"),
    FIELD(icestream_path_point, 'u', string, "1"),
    FIELD(icestream_path_point, 'u', module, "1"),
    FIELD(icestream_path_point, 'u', kind, "1"),
    FIELD(icestream_path_point, 'u', scatters, "1"),
};

static const ics_layout_field waveform_fields[] = {
    FIELD(icestream_waveform_bin, 'u', event_id, "1"),
    FIELD(icestream_waveform_bin, 'f', t, "ns"),
    FIELD(icestream_waveform_bin, 'f', weight, "1"),
    FIELD(icestream_waveform_bin, 'u', hits, "1"),
    FIELD(icestream_waveform_bin, 'i', bin, "1"),
    FIELD(icestream_waveform_bin, 'u', string, "1"),
    FIELD(icestream_waveform_bin, 'u', module, "1"),
};

_Static_assert(sizeof(icestream_step) == 72, "a step is one row");
_Static_assert(sizeof(icestream_hit) == ICS_HIT_BYTES, "a hit is one row");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "rows are used as they are in the file");

_Static_assert(sizeof(icestream_path_point) == 72 &&
                   sizeof(icestream_path_point) <= ICS_ROW_BYTES_MAX,
               "a point is one row");
_Static_assert(sizeof(icestream_waveform_bin) == 40, "a bin is one row");

#define LAYOUT(word, record, record_fields, refer_to)                                              \
    const ics_layout *ics_layout_##word(void)                                                      \
    {                                                                                              \
        static const ics_layout layout = {.name = "icestream." #word,                              \
                                          .short_name = #word,                                     \
                                          .version = 1,                                            \
                                          .row_bytes = sizeof(record),                             \
                                          .coordinates = refer_to,                                 \
                                          .fields = record_fields,                                 \
                                          .field_count =                                           \
                                              sizeof record_fields / sizeof *record_fields};       \
        _Static_assert(sizeof record_fields / sizeof *record_fields <= ICS_LAYOUT_FIELDS_MAX,      \
                       "room for fields");                                                         \
        return &layout;                                                                            \
    }

LAYOUT(steps, icestream_step, step_fields,
       "x, y, z from the detector's centre, z up; t after the event's t0")
LAYOUT(hits, icestream_hit, hit_fields,
       "x, y, z from the module's centre, z up; t after the event's t0")
LAYOUT(paths, icestream_path_point, path_fields,
       "x, y, z from the detector's centre, z up; t after the event's t0")
LAYOUT(waveforms, icestream_waveform_bin, waveform_fields, "t after the event's t0")
