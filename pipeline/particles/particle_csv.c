/* Particles as CSV: the first line names the columns, a field that is empty is not given. */
#include "pipeline/particles/source_state.h"

#include <string.h>

static int read_name(is_particle_source *source, const is_field *name, is_particle_field *out,
                     is_error *error)
{
    char shown[48];
    const char *nearest = NULL;
    *out = is_particle_field_find(name->start, name->length, &nearest);
    if (*out == IS_PARTICLE_FIELD_COUNT)
        return is_line_stream_fault(source->lines, name->column, error,
                                    "found column %s, expected one of type, event, x, y, z, "
                                    "zenith, azimuth, energy, length, time, photons, ...%s%s%s",
                                    is_field_show(name, shown), nearest ? "; did you mean '" : "",
                                    nearest ? nearest : "", nearest ? "'?" : "");
    for (size_t i = 0; i < source->column_count; ++i)
        if (source->columns[i] == *out)
            return is_line_stream_fault(source->lines, name->column, error,
                                        "found column %s twice, expected it once",
                                        is_field_show(name, shown));
    return IS_OK;
}

int is_csv_begin(is_particle_source *source, is_error *error)
{
    is_line line;
    bool found, has_type = false;
    int status = is_line_stream_next(source->lines, ',', &line, &found, error);
    if (status != IS_OK)
        return status;
    if (!found)
        return is_line_stream_fault(source->lines, 0, error,
                                    "found nothing, expected a line with the names of columns");
    if (line.count > IS_FIELDS_MAX)
        return is_line_stream_fault(source->lines, 0, error,
                                    "found %zu columns, expected at most %d", line.count,
                                    IS_FIELDS_MAX);
    for (size_t i = 0; i < line.count; ++i) {
        is_particle_field field;
        status = read_name(source, &line.fields[i], &field, error);
        if (status != IS_OK)
            return status;
        has_type |= field == IS_PARTICLE_TYPE;
        source->columns[source->column_count++] = field;
    }
    if (!has_type)
        return is_line_stream_fault(source->lines, 0, error,
                                    "found no column 'type', expected one");
    return IS_OK;
}

int is_csv_next(is_particle_source *source, is_raw_particle *out, bool *found, is_error *error)
{
    is_line line;
    char message[IS_PARTICLE_MESSAGE];
    int status = is_line_stream_next(source->lines, ',', &line, found, error);
    if (status != IS_OK || !*found)
        return status;
    if (line.count != source->column_count)
        return is_line_stream_fault(source->lines, 0, error,
                                    "found %zu columns, expected %zu as in the first line",
                                    line.count, source->column_count);
    *out = (is_raw_particle){0};
    for (size_t i = 0; i < line.count; ++i) {
        const is_field *field = &line.fields[i];
        if (source->columns[i] == IS_PARTICLE_EVENT)
            out->column = field->column;
        if (field->length > 0 && !is_particle_set(&out->particle, source->columns[i], field->start,
                                                  field->length, message))
            return is_line_stream_fault(source->lines, field->column, error, "%s", message);
    }
    if (!is_particle_check(&out->particle, message))
        return is_line_stream_fault(source->lines, 0, error, "%s", message);
    out->event = (uint64_t)out->particle.values[IS_PARTICLE_EVENT];
    return IS_OK;
}
