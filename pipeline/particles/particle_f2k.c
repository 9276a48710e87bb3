/* f2k text (physics.md 11): V, TBEGIN, then events EM TR... EE, TEND, END.
 *
 *     EM event run year day time ...
 *     TR generation parent type x y z zenith azimuth length energy time
 */
#include "pipeline/config/nearest.h"
#include "pipeline/particles/source_state.h"

#include <stdlib.h>
#include <string.h>

enum { TR_FIELDS = 12 };

/* Lines of f2k that say nothing about light. */
static const char *const others[] = {
    "HI", "FI",   "ARRAY",   "TRIG_DEF", "TRIG_PAR", "FIT_DEF", "STAT_DEF", "USER_DEF", "KH",
    "OM", "KADC", "KTDC",    "KTOT",     "KUTC",     "TRIG",    "HT",       "CH",       "WF",
    "US", "FIT",  "FRESULT", "STATUS",   "STAT",     "USES",    "FRH",      "BAGR",     "ES"};
static const char *const tags[] = {"V", "TBEGIN", "EM", "TR", "EE", "TEND", "END"};

static bool is_other(const is_field *tag)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i)
        if (is_field_equals(tag, others[i]))
            return true;
    return false;
}

static int unknown_line(const is_particle_source *source, const is_field *tag, is_error *error)
{
    char shown[48], typed[48];
    is_nearest nearest = {0};
    snprintf(typed, sizeof typed, "%.*s", (int)(tag->length < 40 ? tag->length : 40), tag->start);
    for (size_t i = 0; i < sizeof tags / sizeof *tags; ++i)
        is_nearest_try(&nearest, typed, tags[i]);
    return is_line_stream_fault(
        source->lines, tag->column, error,
        "found a line of %s, expected one of V, TBEGIN, EM, TR, EE, TEND, END%s%s%s",
        is_field_show(tag, shown), nearest.word ? "; did you mean '" : "",
        nearest.word ? nearest.word : "", nearest.word ? "'?" : "");
}

/* Moves from one place of the file to another at a line that belongs between them. */
static int go(is_particle_source *source, const is_field *tag, unsigned from, is_f2k_place to,
              const char *expected, is_error *error)
{
    char shown[48];
    if (!(from >> source->place & 1))
        return is_line_stream_fault(source->lines, tag->column, error, "found %s here, expected %s",
                                    is_field_show(tag, shown), expected);
    source->place = to;
    return IS_OK;
}

static int begin_event(is_particle_source *source, const is_line *line, is_error *error)
{
    char message[IS_PARTICLE_MESSAGE];
    is_particle particle = {0};
    if (line->count < 2)
        return is_line_stream_fault(source->lines, 0, error,
                                    "EM: found no number, expected that of the event");
    const is_field *number = &line->fields[1];
    if (!is_particle_set(&particle, IS_PARTICLE_EVENT, number->start, number->length, message))
        return is_line_stream_fault(source->lines, number->column, error, "%s", message);
    source->begun = true;
    return is_source_begin_event(source, (uint64_t)particle.values[IS_PARTICLE_EVENT],
                                 number->column, error);
}

/* A column of TR; "?" stands for nothing. The energy of what has none is its number of photons. */
static int read_column(const is_particle_source *source, const is_field *text,
                       is_particle_field field, is_particle *particle, is_error *error)
{
    char message[IS_PARTICLE_MESSAGE];
    const uint32_t known = is_particle_knows(particle);
    if (field == IS_PARTICLE_ENERGY && !(known >> field & 1))
        field = IS_PARTICLE_PHOTONS;
    if (!(known >> field & 1) || is_field_equals(text, "?"))
        return IS_OK;
    if (!is_particle_set(particle, field, text->start, text->length, message))
        return is_line_stream_fault(source->lines, text->column, error, "%s", message);
    return IS_OK;
}

static int read_track(is_particle_source *source, const is_line *line, is_raw_particle *out,
                      is_error *error)
{
    static const is_particle_field columns[] = {
        IS_PARTICLE_X,       IS_PARTICLE_Y,      IS_PARTICLE_Z,      IS_PARTICLE_ZENITH,
        IS_PARTICLE_AZIMUTH, IS_PARTICLE_LENGTH, IS_PARTICLE_ENERGY, IS_PARTICLE_TIME};
    char message[IS_PARTICLE_MESSAGE];
    if (line->count != TR_FIELDS)
        return is_line_stream_fault(source->lines, 0, error,
                                    "TR: found %zu fields, expected %d: TR generation parent type "
                                    "x y z zenith azimuth length energy time",
                                    line->count, TR_FIELDS);
    *out = (is_raw_particle){.begins = source->begun, .event = source->file_event};
    source->begun = false;
    const is_field *type = &line->fields[3];
    if (!is_particle_set(&out->particle, IS_PARTICLE_TYPE, type->start, type->length, message))
        return is_line_stream_fault(source->lines, type->column, error, "%s", message);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; ++i) {
        int status = read_column(source, &line->fields[4 + i], columns[i], &out->particle, error);
        if (status != IS_OK)
            return status;
    }
    if (!is_particle_check(&out->particle, message))
        return is_line_stream_fault(source->lines, type->column, error, "%s", message);
    return IS_OK;
}

#define AT(place) (1U << IS_F2K_##place)

/* Everything but TR. */
static int read_frame(is_particle_source *source, const is_line *line, is_error *error)
{
    const is_field *tag = &line->fields[0];
    if (is_field_equals(tag, "V"))
        return go(source, tag, AT(BEGINNING), IS_F2K_HEADER, "it once, at the beginning", error);
    if (is_field_equals(tag, "TBEGIN"))
        return go(source, tag, AT(HEADER), IS_F2K_BETWEEN, "V before it", error);
    if (is_field_equals(tag, "EM")) {
        int status = go(source, tag, AT(BETWEEN), IS_F2K_EVENT,
                        "it after TBEGIN and after the EE of the event before", error);
        return status ? status : begin_event(source, line, error);
    }
    if (is_field_equals(tag, "EE"))
        return go(source, tag, AT(EVENT), IS_F2K_BETWEEN, "EM before it", error);
    if (is_field_equals(tag, "TEND"))
        return go(source, tag, AT(BETWEEN), IS_F2K_TAIL, "it after all events", error);
    if (is_field_equals(tag, "END"))
        return go(source, tag, AT(BETWEEN) | AT(TAIL), IS_F2K_END, "it after all events", error);
    if (source->place == IS_F2K_BEGINNING || source->place == IS_F2K_END || !is_other(tag))
        return unknown_line(source, tag, error);
    return IS_OK;
}

int is_f2k_next(is_particle_source *source, is_raw_particle *out, bool *found, is_error *error)
{
    is_line line;
    for (;;) {
        bool more;
        int status = is_line_stream_next(source->lines, ' ', &line, &more, error);
        *found = false;
        if (status != IS_OK)
            return status;
        if (!more && source->place != IS_F2K_END)
            return is_line_stream_fault(source->lines, 0, error, "the file ends here, expected %s",
                                        source->place == IS_F2K_BEGINNING ? "V, TBEGIN and events"
                                        : source->place == IS_F2K_EVENT   ? "EE"
                                                                          : "END");
        if (!more)
            return IS_OK;
        if (is_field_equals(&line.fields[0], "TR")) {
            status = go(source, &line.fields[0], AT(EVENT), IS_F2K_EVENT, "EM before it", error);
            *found = true;
            return status ? status : read_track(source, &line, out, error);
        }
        status = read_frame(source, &line, error);
        if (status != IS_OK)
            return status;
    }
}
