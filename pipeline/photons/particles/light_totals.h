/* How much light each type of particle and each event makes, and where losses of tracks are
 * doubtful: what `generate` and `validate` print. */
#ifndef ICS_PHOTONS_PARTICLES_LIGHT_TOTALS_H
#define ICS_PHOTONS_PARTICLES_LIGHT_TOTALS_H

#include "pipeline/photons/models/warnings.h"
#include "pipeline/photons/particles/light_parts.h"
#include "pipeline/photons/particles/list_warnings.h"
#include "pipeline/photons/particles/stray_losses.h"

/* What is doubtful about tracks. ics_light_totals_warn() says each once, with its number. */
typedef enum ics_track_warning {
    ICS_TRACK_BARE,    /* high energy, no losses listed, and none are made */
    ICS_TRACK_PIECE,   /* as BARE, for a piece of a muon with the conventions of ppc */
    ICS_TRACK_TAU,     /* as BARE, for a tau, whose losses cannot be made */
    ICS_TRACK_TWICE,   /* losses are listed and made */
    ICS_TRACK_MIXED,   /* losses are made, while other tracks have theirs in the list */
    ICS_TRACK_UNKNOWN, /* the event is too large to look for losses */
    ICS_TRACK_DECAYS, /* a tau that decays at the end of a listed length, without listed products */
    ICS_TRACK_STABLE, /* the same, and decays are not simulated */
    ICS_TRACK_LONG,   /* longer than a muon of its energy flies */
    ICS_TRACK_OLD,    /* longer than a tau of its energy flies */
    ICS_TRACK_FAR,    /* muons and pieces in an event with too many of them to compare all */
    ICS_TRACK_PIECES, /* passed over, because its pieces make the light */
    ICS_TRACK_PPC,    /* any particle that ppc gives no light */
    ICS_TRACK_RAY,    /* ph with conventions of ppc and another spectrum than that of ppc */
    ICS_TRACK_SPREAD, /* a cascade with a length, over which ppc spreads its light */
    ICS_TRACK_WARNINGS
} ics_track_warning;

/* Tracks with one warning. */
typedef struct ics_warned_tracks {
    uint64_t count;
    size_t position;       /* position of the first one in its list */
    size_t type;           /* type of the first one */
    double energy, length; /* energy (GeV) and length (m) of the first one */
} ics_warned_tracks;

typedef struct ics_light_of_type {
    uint64_t particles;
    double photons;
    double energy; /* sum, GeV */
    double length; /* sum of the lengths of tracks, m; losses may end a track earlier */
} ics_light_of_type;

typedef struct ics_light_totals {
    ics_light_of_type types[ICS_PARTICLE_TYPES];
    size_t type; /* type of the last particle */
    /* events that have ended, and the photons of the last event */
    uint64_t events;
    bool has_event;
    uint64_t event;
    double photons;
    double least, most; /* photons of an event */
    uint64_t least_event, most_event;
    uint64_t listed; /* tracks of high energy that bring their losses */
    bool is_dark;    /* nothing but neutrinos and nuclei in the last event so far */
    uint64_t dark;   /* events of nothing else */
    uint64_t dark_event;
    size_t begin,
        dark_position; /* positions of the first particle of the last event, and of a dark one */
    ics_decay_counts decayed;
    ics_warned_tracks warned[ICS_TRACK_WARNINGS];
    ics_stray_losses strays;
    ics_list_warnings list; /* for lists that can be read only once */
} ics_light_totals;

/* Counts a particle whose parts have begun. */
void ics_light_totals_begin(ics_light_totals *totals, const ics_listed_particle *particle,
                            const ics_light_parts *parts);
/* Counts photons of the last particle. */
void ics_light_totals_add(ics_light_totals *totals, uint64_t photons);
/* Counts the decays of the last particle, after its last part. */
void ics_light_totals_add_decays(ics_light_totals *totals, const ics_light_parts *parts);
/* Ends the last event. Called once, before the two functions below. */
void ics_light_totals_end(ics_light_totals *totals);

/* Writes a line about events, a line for each type of particle in the list, and one about decays.
 */
void ics_light_totals_describe(const ics_light_totals *totals, FILE *out);
/* Returns what is wrong with a list whose particles make no light. */
const char *ics_light_totals_explain_dark(const ics_light_totals *totals);
/* Adds a sentence for each warning. `source` names the places. ICESTREAM_E_MEMORY. */
int ics_light_totals_warn(const ics_light_totals *totals, const ics_particle_source *source,
                          ics_warnings *out);

#endif
