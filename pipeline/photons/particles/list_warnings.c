#include "pipeline/photons/particles/list_warnings.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

/* With fewer particles nothing is said of their angles. */
enum { RADIAN_PARTICLES = 5 };

/* Returns whether a value has two digits behind its point, or more. */
static bool has_decimals(double value)
{
    return fabs(10 * value - round(10 * value)) > 1e-6 * fmax(1, fabs(10 * value));
}

static void add_range(ics_column_range *range, double value)
{
    const double size = fabs(value);
    if (size > 0) {
        range->least = range->count == 0 ? size : fmin(range->least, size);
        range->most = fmax(range->most, size);
        range->has_decimals = range->has_decimals || has_decimals(size);
        ++range->count;
    }
}

/* A hash of all fields of a particle (FNV-1a of its words). */
static uint64_t hash_of(const ics_particle *particle)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325), word;
    for (size_t i = 0; i < ICS_PARTICLE_FIELD_COUNT; ++i) {
        memcpy(&word, &particle->values[i], sizeof word);
        hash = (hash ^ word) * UINT64_C(0x100000001b3);
        hash ^= hash >> 29;
    }
    return hash ^ particle->given;
}

/* Compares a line with the last ones of its event. */
static void find_double(ics_list_warnings *seen, const ics_listed_particle *listed)
{
    if (ics_particle_class_of(&listed->particle) == ICS_PARTICLE_DARK) {
        return;
    }
    if (seen->event != listed->event) {
        seen->line_count = 0;
        seen->event = listed->event;
    }
    const uint64_t hash = hash_of(&listed->particle);
    const size_t kept = seen->line_count < ICS_LIST_LINES ? seen->line_count : ICS_LIST_LINES;
    for (size_t i = 0; i < kept; ++i) {
        if (seen->lines[i] == hash) {
            if (seen->doubles++ == 0) {
                seen->double_position[0] = listed->position;
                seen->double_position[1] = seen->line_positions[i];
            }
            return;
        }
    }
    seen->line_positions[seen->line_count % ICS_LIST_LINES] = listed->position;
    seen->lines[seen->line_count++ % ICS_LIST_LINES] = hash;
}

void ics_list_warnings_add(ics_list_warnings *seen, const ics_listed_particle *listed)
{
    const ics_particle *particle = &listed->particle;
    const double zenith = particle->values[ICS_PARTICLE_ZENITH];
    const double azimuth = fabs(particle->values[ICS_PARTICLE_AZIMUTH]);
    ++seen->particles;
    seen->position = listed->position;
    if (!ics_particle_has(particle, ICS_PARTICLE_EVENT) && seen->without_event++ == 0) {
        seen->eventless = listed->position;
    }
    for (size_t i = 0; i < ICS_PARTICLE_FIELD_COUNT; ++i) {
        add_range(&seen->ranges[i], particle->values[i]);
    }
    find_double(seen, listed);
    if (!ics_particle_has(particle, ICS_PARTICLE_ZENITH) ||
        !ics_particle_has(particle, ICS_PARTICLE_AZIMUTH)) {
        return;
    }
    const bool is_first = seen->directions++ == 0;
    seen->zenith[0] = is_first ? zenith : fmin(seen->zenith[0], zenith);
    seen->zenith[1] = is_first ? zenith : fmax(seen->zenith[1], zenith);
    seen->azimuth[0] = is_first ? azimuth : fmin(seen->azimuth[0], azimuth);
    seen->azimuth[1] = is_first ? azimuth : fmax(seen->azimuth[1], azimuth);
}

/* The end of the plural: "3 particles". */
static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* Directions that are all below pi and 2 pi are most likely in radians: of directions from
 * everywhere, one in 75,000 is. Few directions that somebody chose are rounder numbers. */
static void check_directions(const ics_list_warnings *seen, const ics_particle_source *source,
                             ics_warnings *out)
{
    const double *zenith = seen->zenith, *azimuth = seen->azimuth;
    const bool is_many =
        seen->directions >= RADIAN_PARTICLES && zenith[0] < zenith[1] && azimuth[0] < azimuth[1];
    const bool is_exact = seen->ranges[ICS_PARTICLE_ZENITH].has_decimals &&
                          seen->ranges[ICS_PARTICLE_AZIMUTH].count > 0;
    if (seen->directions > 0 && zenith[1] <= ICE_PI && azimuth[1] <= 2 * ICE_PI &&
        (is_many || is_exact)) {
        ics_particle_source_warn(source, seen->position, out,
                                 "zenith, azimuth: found at most %.6g and %.6g degrees in %" PRIu64
                                 " particle%s; are these angles in radians? Expected degrees",
                                 zenith[1], azimuth[1], seen->directions, plural(seen->directions));
    }
}

/* Columns whose values, zeros apart, all lie in a range that is most likely another unit. */
static const struct {
    ics_particle_field field;
    double least, most;
    const char *text;
} units[] = {
    {ICS_PARTICLE_TIME, 0, 1e-3, "seconds? Expected ns"},
    {ICS_PARTICLE_TIME, 5.5e4, 6.3e4,
     "modified Julian dates? Expected ns from the beginning of the event"},
    {ICS_PARTICLE_TIME, 1e9, 2.2e9,
     "seconds since 1970? Expected ns from the beginning of the event"},
};

/* One round number in all particles is a choice and no other unit. */
static void check_units(const ics_list_warnings *seen, const ics_particle_source *source,
                        ics_warnings *out)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; ++i) {
        const ics_column_range *range = &seen->ranges[units[i].field];
        const bool is_round = range->least == range->most && fmod(range->least, 1000) == 0;
        if (range->count > 0 && range->least >= units[i].least && range->most <= units[i].most &&
            !is_round) {
            ics_particle_source_warn(
                source, seen->position, out,
                "%s: found %.10g to %.10g in %" PRIu64 " particle%s; are these %s",
                ics_particle_field_name(units[i].field), range->least, range->most, range->count,
                plural(range->count), units[i].text);
        }
    }
}

/* Vertices within 2 m of the origin, with all digits of a position in km. */
static void check_positions(const ics_list_warnings *seen, const ics_particle_source *source,
                            ics_warnings *out)
{
    const ics_column_range *x = &seen->ranges[ICS_PARTICLE_X];
    double most = 0;
    bool has_digits = true;
    for (size_t i = 0; i < 3; ++i) {
        has_digits = has_digits && x[i].count >= seen->particles && x[i].has_decimals;
        most = fmax(most, x[i].most);
    }
    if (has_digits && most <= 2) {
        ics_particle_source_warn(source, seen->position, out,
                                 "x, y, z: found at most %.6g m in %" PRIu64
                                 " particle%s; are these km? Expected m",
                                 most, seen->particles, plural(seen->particles));
    }
}

/* Particles that are in event 0 because the list does not say in which. In a list in the run file
 * and in f2k this is usual if no particle has a number. */
static void check_events(const ics_list_warnings *seen, const ics_particle_source *source,
                         ics_warnings *out)
{
    if (seen->particles < 2 || seen->without_event == 0) {
        return;
    }
    if (seen->without_event < seen->particles) {
        ics_particle_source_warn(source, seen->eventless, out,
                                 "event: found no number, so that %" PRIu64 " of %" PRIu64
                                 " particles are in event 0; expected the number of their event",
                                 seen->without_event, seen->particles);
    } else if (ics_particle_source_lacks_events(source)) {
        ics_particle_source_warn(source, 1, out,
                                 "event: found no such column, so that all particles of the list "
                                 "are one event, with the number 0; a column event separates them");
    }
}

int ics_list_warnings_report(const ics_list_warnings *seen, const ics_particle_source *source,
                             ics_warnings *out)
{
    char first[600];
    check_directions(seen, source, out);
    check_units(seen, source, out);
    check_positions(seen, source, out);
    check_events(seen, source, out);
    if (seen->doubles > 0) {
        ics_particle_source_warn(
            source, seen->double_position[0], out,
            "found the particle of %s again, with all its values, so that it makes its light twice "
            "(%" PRIu64 " such particle%s)",
            ics_particle_source_place_of(source, seen->double_position[1], first, sizeof first),
            seen->doubles, plural(seen->doubles));
    }
    return out->status;
}

bool ics_particle_list_is_stream(const char *path)
{
    struct stat about;
    if (path == NULL) {
        return false;
    }
    return strcmp(path, "-") == 0 ||
           (stat(path, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode));
}
