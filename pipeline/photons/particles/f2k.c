/* f2k text (physics.md 11): V, TBEGIN, then events EM TR... EE, TEND, END. With the conventions of
 * ppc events are enough, and lines that are not known are passed over.
 *
 *     EM event run year day time ...
 *     TR generation parent type x y z zenith azimuth length energy time
 */
#include "base/error.h"
#include "pipeline/photons/config/schema/nearest.h"
#include "pipeline/photons/particles/source_state.h"

#include <stdlib.h>
#include <string.h>

enum { TR_FIELDS = 12 };

/* Lines of f2k without information about light. */
static const char *const others[] = {
    "HI", "FI",   "ARRAY",   "TRIG_DEF", "TRIG_PAR", "FIT_DEF", "STAT_DEF", "USER_DEF", "KH",
    "OM", "KADC", "KTDC",    "KTOT",     "KUTC",     "TRIG",    "HT",       "CH",       "WF",
    "US", "FIT",  "FRESULT", "STATUS",   "STAT",     "USES",    "FRH",      "BAGR",     "ES"};
static const char *const tags[] = {"V", "TBEGIN", "EM", "TR", "EE", "TEND", "END"};

static bool is_other(const ics_text_field *tag)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
        if (ics_text_field_equals(tag, others[i])) {
            return true;
        }
    }
    return false;
}

static int unknown_line(const ics_particle_source *source, const ics_text_field *tag,
                        icestream_error *error)
{
    char shown[48], typed[48];
    ics_nearest nearest = {0};
    snprintf(typed, sizeof typed, "%.*s", (int)(tag->length < 40 ? tag->length : 40), tag->start);
    for (size_t i = 0; i < sizeof tags / sizeof *tags; ++i) {
        ics_nearest_try(&nearest, typed, tags[i]);
    }
    return ics_line_stream_fault(
        source->lines, tag->column, error,
        "found a line of %s, expected one of V, TBEGIN, EM, TR, EE, TEND, END%s%s%s",
        ics_text_field_show(tag, shown), nearest.word != NULL ? "; did you mean '" : "",
        nearest.word != NULL ? nearest.word : "", nearest.word != NULL ? "'?" : "");
}

/* Whether a tag is one of f2k in other letters, as "Tr": its line would be lost. */
static bool is_misspelt(const ics_text_field *tag)
{
    for (size_t i = 0; i < sizeof tags / sizeof *tags; ++i) {
        if (strlen(tags[i]) == tag->length && strncasecmp(tags[i], tag->start, tag->length) == 0) {
            return true;
        }
    }
    return false;
}

/* Moves from one part of the file to the next, at a line that belongs between them. */
static int go(ics_particle_source *source, const ics_text_field *tag, unsigned from,
              ics_f2k_place to, const char *expected, icestream_error *error)
{
    char shown[48];
    if (!(from >> source->place & 1)) {
        return ics_line_stream_fault(source->lines, tag->column, error,
                                     "found %s here, expected %s", ics_text_field_show(tag, shown),
                                     expected);
    }
    source->place = to;
    return ICESTREAM_OK;
}

static int begin_event(ics_particle_source *source, const ics_text_line *line,
                       icestream_error *error)
{
    char message[ICS_PARTICLE_MESSAGE];
    ics_particle particle = {0};
    if (line->count < 2) {
        return ics_line_stream_fault(source->lines, 0, error,
                                     "EM: found no number, expected that of the event");
    }
    const ics_text_field *number = &line->fields[1];
    if (!ics_particle_set(&particle, ICS_PARTICLE_EVENT, number->start, number->length, message)) {
        return ics_line_stream_fault(source->lines, number->column, error, "%s", message);
    }
    source->begun = true;
    return ics_particle_source_begin_event(source, particle.event, number->column, error);
}

/* Reads a column of TR; "?" means not given. For a source without energy the column of the energy
 * is its number of photons. */
static int read_column(const ics_particle_source *source, const ics_text_field *text,
                       ics_particle_field field, ics_particle *particle, icestream_error *error)
{
    char message[ICS_PARTICLE_MESSAGE];
    const uint32_t known = ics_particle_knows(particle);
    if (field == ICS_PARTICLE_ENERGY && !(known >> field & 1)) {
        field = ICS_PARTICLE_PHOTONS;
    }
    if (!(known >> field & 1) || ics_text_field_equals(text, "?")) {
        return ICESTREAM_OK;
    }
    if (!ics_particle_set(particle, field, text->start, text->length, message)) {
        return ics_line_stream_fault(source->lines, text->column, error, "%s", message);
    }
    return ICESTREAM_OK;
}

/* Reads all columns of TR that can be read. Returns false after a fault; `error` (may be NULL) has
 * the first one. */
static bool read_columns(const ics_particle_source *source, const ics_text_line *line,
                         ics_raw_particle *out, icestream_error *error)
{
    static const ics_particle_field columns[] = {
        ICS_PARTICLE_X,       ICS_PARTICLE_Y,      ICS_PARTICLE_Z,      ICS_PARTICLE_ZENITH,
        ICS_PARTICLE_AZIMUTH, ICS_PARTICLE_LENGTH, ICS_PARTICLE_ENERGY, ICS_PARTICLE_TIME};
    bool good = true;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; ++i) {
        good &= read_column(source, &line->fields[4 + i], columns[i], &out->particle,
                            good ? error : NULL) == ICESTREAM_OK;
    }
    return good;
}

/* Returns whether ppc gives light to a TR line (f2k() in f2k.cxx of ppc). ppc compares names letter
 * by letter, and passes over a line whose columns are not all numbers. `ph` is not a particle. */
static bool has_light_in_ppc(const ics_text_line *line)
{
    static const char *const names[] = {"amu+", "amu-", "amu", "delta", "brems", "epair",
                                        "e",    "e-",   "e+",  "munu",  "hadr",  "ph"};
    bool is_named = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        is_named |= ics_text_field_equals(&line->fields[3], names[i]);
    }
    for (size_t i = 1; i < line->count; ++i) {
        is_named &= !ics_text_field_equals(&line->fields[i], "?");
    }
    return is_named;
}

/* The sources of light that only icestream knows are no particles of ppc. They have their light. */
static bool is_particle(const ics_particle *particle)
{
    switch (ics_particle_class_of(particle)) {
    case ICS_PARTICLE_CASCADE:
    case ICS_PARTICLE_TRACK:
    case ICS_PARTICLE_MONOPOLE:
    case ICS_PARTICLE_RAY:
        return true;
    default:
        return false;
    }
}

static int read_track(ics_particle_source *source, const ics_text_line *line, ics_raw_particle *out,
                      icestream_error *error)
{
    char message[ICS_PARTICLE_MESSAGE];
    if (line->count < TR_FIELDS || (line->count > TR_FIELDS && !source->has_ppc)) {
        return ics_line_stream_fault(source->lines, 0, error,
                                     "TR: found %zu fields, expected %d: TR generation parent type "
                                     "x y z zenith azimuth length energy time",
                                     line->count, TR_FIELDS);
    }
    *out = (ics_raw_particle){.begins = source->begun, .event = source->file_event};
    source->begun = false;
    const ics_text_field *type = &line->fields[3];
    const bool is_known =
        ics_particle_set(&out->particle, ICS_PARTICLE_TYPE, type->start, type->length, message);
    if (!is_known && source->has_ppc) {
        /* ppc passes over every name that it does not know. */
        out->is_dark_in_ppc =
            ics_particle_set(&out->particle, ICS_PARTICLE_TYPE, "dark", strlen("dark"), message);
        return ICESTREAM_OK;
    }
    if (!is_known) {
        return ics_line_stream_fault(source->lines, type->column, error, "%s", message);
    }
    out->is_dark_in_ppc = is_particle(&out->particle) && !has_light_in_ppc(line);
    /* Faults in the columns of a line without light change nothing. */
    const bool is_passed =
        source->has_ppc &&
        (out->is_dark_in_ppc || ics_particle_class_of(&out->particle) == ICS_PARTICLE_DARK);
    if (!read_columns(source, line, out, is_passed ? NULL : error) && !is_passed) {
        return ICESTREAM_E_CONFIG;
    }
    if (is_passed) {
        return ICESTREAM_OK;
    }
    if (!ics_particle_check(&out->particle, message)) {
        return ics_line_stream_fault(source->lines, type->column, error, "%s", message);
    }
    return ICESTREAM_OK;
}

#define AT(place) (1U << ICS_F2K_##place)

/* Reads a line that is not TR. */
static int read_frame(ics_particle_source *source, const ics_text_line *line,
                      icestream_error *error)
{
    const ics_text_field *tag = &line->fields[0];
    const bool is_beginning = source->place == ICS_F2K_BEGINNING;
    /* ppc needs no header, and passes over every line that it does not know (f2k.cxx). */
    const unsigned before_events = source->has_ppc ? AT(BEGINNING) | AT(HEADER) : 0;
    const struct {
        const char *tag;
        unsigned from; /* places where the line may stand */
        ics_f2k_place to;
        const char *expected;
    } frames[] = {
        {"V", AT(BEGINNING), ICS_F2K_HEADER, "it once, at the beginning"},
        {"TBEGIN", AT(HEADER), ICS_F2K_BETWEEN, "V before it"},
        {"EM", AT(BETWEEN) | before_events, ICS_F2K_EVENT,
         is_beginning
             ? "V and TBEGIN before it (particles.conventions: ppc reads lists without them)"
             : "it after TBEGIN and after the EE of the event before"},
        {"EE", AT(EVENT), ICS_F2K_BETWEEN, "EM before it"},
        {"TEND", AT(BETWEEN), ICS_F2K_TAIL, "it after all events"},
        {"END", AT(BETWEEN) | AT(TAIL), ICS_F2K_END, "it after all events"},
    };
    for (size_t i = 0; i < sizeof frames / sizeof *frames; ++i) {
        if (ics_text_field_equals(tag, frames[i].tag)) {
            ICS_TRY(go(source, tag, frames[i].from, frames[i].to, frames[i].expected, error));
            return source->place == ICS_F2K_EVENT ? begin_event(source, line, error) : ICESTREAM_OK;
        }
    }
    if (source->has_ppc && !is_misspelt(tag)) {
        return ICESTREAM_OK;
    }
    if (is_beginning || source->place == ICS_F2K_END || !is_other(tag)) {
        return unknown_line(source, tag, error);
    }
    return ICESTREAM_OK;
}

int ics_particle_f2k_next(ics_particle_source *source, ics_raw_particle *out, bool *found,
                          icestream_error *error)
{
    ics_text_line line;
    for (;;) {
        bool more;
        source->is_in_row = false;
        *found = false;
        ICS_TRY(ics_line_stream_next(source->lines, ' ', &line, &more, error));
        const bool is_whole =
            source->place == ICS_F2K_END || (source->has_ppc && source->place == ICS_F2K_BETWEEN);
        if (!more && !is_whole) {
            return ics_line_stream_fault(source->lines, 0, error, "the file ends here, expected %s",
                                         source->place == ICS_F2K_BEGINNING ? "V, TBEGIN and events"
                                         : source->place == ICS_F2K_EVENT   ? "EE"
                                                                            : "END");
        }
        if (!more) {
            return ICESTREAM_OK;
        }
        if (ics_text_field_equals(&line.fields[0], "TR")) {
            *found = true;
            ICS_TRY(go(source, &line.fields[0], AT(EVENT), ICS_F2K_EVENT, "EM before it", error));
            source->is_in_row = true;
            return read_track(source, &line, out, error);
        }
        ICS_TRY(read_frame(source, &line, error));
    }
}
