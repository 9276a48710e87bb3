#include "pipeline/particles/list_doubts.h"

#include "base/error.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

/* With fewer particles nothing is said of their angles. */
enum { RADIAN_PARTICLES = 5 };

void ics_list_doubts_add(ics_list_doubts *doubts, const ics_listed_particle *listed)
{
    const ics_particle *particle = &listed->particle;
    const double zenith = particle->values[ICS_PARTICLE_ZENITH];
    const double azimuth = fabs(particle->values[ICS_PARTICLE_AZIMUTH]);
    ++doubts->particles;
    doubts->position = listed->position;
    if (!ics_particle_has(particle, ICS_PARTICLE_ZENITH) ||
        !ics_particle_has(particle, ICS_PARTICLE_AZIMUTH)) {
        return;
    }
    const bool is_first = doubts->directions++ == 0;
    doubts->zenith[0] = is_first ? zenith : fmin(doubts->zenith[0], zenith);
    doubts->zenith[1] = is_first ? zenith : fmax(doubts->zenith[1], zenith);
    doubts->azimuth[0] = is_first ? azimuth : fmin(doubts->azimuth[0], azimuth);
    doubts->azimuth[1] = is_first ? azimuth : fmax(doubts->azimuth[1], azimuth);
}

/* Several different directions that are all below pi and 2 pi are most likely in radians: of
 * directions from everywhere, one in a thousand has a zenith below pi degrees. */
static int judge_directions(const ics_list_doubts *doubts, const ics_particle_source *source,
                            ics_warnings *out)
{
    char place[600];
    if (doubts->directions < RADIAN_PARTICLES || doubts->zenith[1] > ICE_PI ||
        doubts->azimuth[1] > 2 * ICE_PI || doubts->zenith[0] >= doubts->zenith[1] ||
        doubts->azimuth[0] >= doubts->azimuth[1]) {
        return ICESTREAM_OK;
    }
    return ics_warnings_add(
        out,
        "%s: zenith, azimuth: found at most %.6g and %.6g degrees in %" PRIu64
        " particles of different directions; are these angles in radians? Expected degrees",
        ics_particle_source_place_of(source, doubts->position, place, sizeof place),
        doubts->zenith[1], doubts->azimuth[1], doubts->directions);
}

int ics_list_doubts_warn(const ics_list_doubts *doubts, const ics_particle_source *source,
                         ics_warnings *out)
{
    char place[600];
    ICS_TRY(judge_directions(doubts, source, out));
    if (doubts->particles < 2 || !ics_particle_source_lacks_events(source)) {
        return ICESTREAM_OK;
    }
    return ics_warnings_add(out,
                            "%s: event: found no such column, so that all particles of the list "
                            "are one event, with the "
                            "number 0; a column event separates them",
                            ics_particle_source_place_of(source, 1, place, sizeof place));
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
