/* Particles as CSV: the first line names the columns. An empty field is not given. */
#include "base/error.h"
#include "pipeline/photons/particles/source_state.h"

#include <string.h>

/* Finds the field that a column has; ICS_PARTICLE_FIELD_COUNT: the column is passed over. */
static int read_name(ics_particle_source *source, const ics_text_field *name,
                     ics_particle_field *out, icestream_error *error)
{
    char shown[48];
    const char *nearest = NULL;
    if (ics_text_is_unnamed(name)) {
        *out = ICS_PARTICLE_FIELD_COUNT;
        return ICESTREAM_OK;
    }
    *out = ics_particle_field_find(name->start, name->length, &nearest);
    if (*out == ICS_PARTICLE_FIELD_COUNT) {
        return ics_line_stream_fault(source->lines, name->column, error,
                                     "found column %s, expected one of type, event, x, y, z, "
                                     "zenith, azimuth, energy, length, time, photons, ...%s%s%s",
                                     ics_text_field_show(name, shown),
                                     nearest != NULL ? "; did you mean '" : "",
                                     nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
    }
    for (size_t i = 0; i < source->column_count; ++i) {
        if (source->columns[i] == *out) {
            return ics_line_stream_fault(source->lines, name->column, error,
                                         "found column %s twice, expected it once",
                                         ics_text_field_show(name, shown));
        }
    }
    return ICESTREAM_OK;
}

int ics_particle_csv_begin(ics_particle_source *source, icestream_error *error)
{
    ics_text_line line;
    bool found, has_type = false;
    ICS_TRY(ics_line_stream_next(source->lines, ICS_TEXT_CSV, &line, &found, error));
    if (!found) {
        return ics_line_stream_fault(source->lines, 0, error,
                                     "found nothing, expected a line with the names of columns");
    }
    if (line.count > ICS_TEXT_FIELDS_MAX) {
        return ics_line_stream_fault(source->lines, 0, error,
                                     "found %zu columns, expected at most %d", line.count,
                                     ICS_TEXT_FIELDS_MAX);
    }
    source->separator = line.separator;
    for (size_t i = 0; i < line.count; ++i) {
        ics_particle_field field;
        ICS_TRY(read_name(source, &line.fields[i], &field, error));
        has_type |= field == ICS_PARTICLE_TYPE;
        source->columns[source->column_count++] = field;
    }
    if (!has_type) {
        return ics_line_stream_fault(source->lines, 0, error,
                                     "found no column 'type', expected one");
    }
    return ICESTREAM_OK;
}

int ics_particle_csv_next(ics_particle_source *source, ics_raw_particle *out, bool *found,
                          icestream_error *error)
{
    ics_text_line line;
    char message[ICS_PARTICLE_MESSAGE];
    source->is_in_row = false;
    ICS_TRY(ics_line_stream_next(source->lines, source->separator, &line, found, error));
    if (!*found) {
        return ICESTREAM_OK;
    }
    source->is_in_row = true;
    if (line.count != source->column_count) {
        return ics_line_stream_fault(
            source->lines, 0, error, "found %zu columns, expected %zu as in the first line%s",
            line.count, source->column_count, ics_text_count_hint(&line, source->column_count));
    }
    *out = (ics_raw_particle){0};
    for (size_t i = 0; i < line.count; ++i) {
        const ics_text_field field = line.fields[i];
        if (source->columns[i] == ICS_PARTICLE_FIELD_COUNT) {
            continue;
        }
        if (source->columns[i] == ICS_PARTICLE_EVENT) {
            out->column = field.column;
        }
        if (field.length > 0 && !ics_particle_set(&out->particle, source->columns[i], field.start,
                                                  field.length, message)) {
            return ics_line_stream_fault(source->lines, field.column, error, "%s", message);
        }
    }
    if (!ics_particle_check(&out->particle, message)) {
        return ics_line_stream_fault(source->lines, 0, error, "%s", message);
    }
    out->event = out->particle.event;
    return ICESTREAM_OK;
}
