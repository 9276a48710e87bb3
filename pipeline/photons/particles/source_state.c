/* Positions, errors and event numbers of a particle list, for the readers of all formats. */
#include "pipeline/photons/particles/source_state.h"

#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>

size_t ics_particle_source_position(const ics_particle_source *source)
{
    return source->lines != NULL ? ics_line_stream_line(source->lines) : source->done;
}

const char *ics_particle_source_place_of(const ics_particle_source *source, size_t position,
                                         char *buffer, size_t size)
{
    if (source->lines != NULL) {
        snprintf(buffer, size, "%s:%zu", ics_line_stream_name(source->lines), position);
    } else if (position == 0) {
        snprintf(buffer, size, "%s", source->where); /* all of the list */
    } else {
        snprintf(buffer, size, "%s: particle %zu", source->where, position);
    }
    return buffer;
}

void ics_particle_source_warn(const ics_particle_source *source, size_t position, ics_warnings *out,
                              const char *format, ...)
{
    char place[600];
    va_list arguments;
    va_start(arguments, format);
    ics_particle_source_place_of(source, position, place, sizeof place);
    ics_warnings_add_at(out, place, format, arguments);
    va_end(arguments);
}

int ics_particle_source_refuse(const ics_particle_source *source, size_t position, const char *text,
                               icestream_error *error)
{
    char place[600];
    return ics_error_add(error, ICESTREAM_E_CONFIG, "%s: error: %s",
                         ics_particle_source_place_of(source, position, place, sizeof place), text);
}

int ics_particle_source_fault(const ics_particle_source *source, size_t column,
                              icestream_error *error, const char *text)
{
    return source->lines != NULL ? ics_line_stream_fault(source->lines, column, error, "%s", text)
                                 : ics_particle_source_refuse(
                                       source, ics_particle_source_position(source), text, error);
}

/* Steps of an event are numbered while they are made, so an event must not begin twice. */
int ics_particle_source_begin_event(ics_particle_source *source, uint64_t event, size_t column,
                                    icestream_error *error)
{
    const bool is_of_file = source->events == ICS_EVENTS_FILE;
    const uint64_t own = is_of_file ? event : source->counted;
    char text[256];
    if (is_of_file && source->any && event <= source->file_event) {
        snprintf(text, sizeof text,
                 "event: found %" PRIu64 " after %" PRIu64 ", expected ascending numbers "
                 "(particles.events: count gives new ones)",
                 event, source->file_event);
        return ics_particle_source_fault(source, column, error, text);
    }
    if (own > UINT64_MAX - source->first_event) {
        snprintf(text, sizeof text,
                 "event: found %" PRIu64 ", expected at most %" PRIu64
                 ", because particles.first_event is added to it",
                 own, UINT64_MAX - source->first_event);
        return ics_particle_source_fault(source, column, error, text);
    }
    source->any = true;
    source->file_event = event;
    return ICESTREAM_OK;
}
