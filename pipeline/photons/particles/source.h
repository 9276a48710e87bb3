/* Particles, one at a time, from the run file or from a file of any length. */
#ifndef ICS_PHOTONS_PARTICLES_SOURCE_H
#define ICS_PHOTONS_PARTICLES_SOURCE_H

#include "pipeline/photons/config/config.h"
#include "pipeline/photons/models/warnings.h"
#include "pipeline/photons/particles/particle.h"

typedef struct ics_particle_source ics_particle_source;

/* Whether the event of a track has losses of the track (particles/events.h). */
typedef enum ics_track_losses {
    ICS_LOSSES_NOT_NEEDED, /* no track, or one of low energy */
    ICS_LOSSES_LISTED,
    ICS_LOSSES_MISSING,
    ICS_LOSSES_UNKNOWN /* the event is too large to find out */
} ics_track_losses;

/* Whether the event of a tau or muon has the products of its decay (particles/events.h). */
typedef enum ics_decay_listed {
    ICS_DECAY_NOT_LISTED,
    ICS_DECAY_LISTED,
    ICS_DECAY_UNKNOWN /* the event is too large to find out */
} ics_decay_listed;

/* Whether a particle is passed over: it is counted, and makes no light. */
typedef enum ics_passed_over {
    ICS_PASSED_NOT,
    ICS_PASSED_PIECES, /* a muon whose pieces (amu) are in its event (particles/events.h) */
    ICS_PASSED_PPC     /* ppc gives this line of an f2k list no light (particles.conventions) */
} ics_passed_over;

/* A particle, with the numbers that identify it. */
typedef struct ics_listed_particle {
    ics_particle particle;
    uint64_t event;                /* ascends */
    uint32_t number;               /* number in its event, from 0 */
    ics_track_losses track_losses; /* set by particles/events.h */
    ics_decay_listed decay;        /* set by particles/events.h */
    ics_passed_over passed;
    bool is_incomparable; /* a muon or a piece that may have its light twice (muon_pieces.h) */
    size_t position;      /* line or entry in its list, from 1 */
} ics_listed_particle;

/* Opens the particles of particles.list or particles.file. The configuration must outlive the
 * source. particles.first_event is added to the numbers of events. A descriptor `wake` (-1: none)
 * that becomes readable interrupts all waiting for text of a pipe (line_stream.h): here and later.
 * ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY, ICESTREAM_E_INTERRUPTED. */
int ics_particle_source_open(const icestream_config *config, int wake, ics_particle_source **out,
                             icestream_error *error);
/* Opens a text in memory as a file of this format. `events` is the value of particles.events. The
 * caller keeps the text alive. ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. */
int ics_particle_source_borrow(const char *name, ics_particle_format format,
                               ics_particle_events events, const char *data, size_t size,
                               ics_particle_source **out, icestream_error *error);
/* Accepts NULL. */
void ics_particle_source_destroy(ics_particle_source *source);

/* Gives the next particle, checked by ics_particle_check() unless it is passed over; *found is
 * false at the end. The first fault ends the source, and a list without any particle is one:
 * ICESTREAM_E_CONFIG with "FILE:LINE:COLUMN: error: ...". If a line of a regular file is wrong, the
 * lines after it are read as well: the error has the faults of the first ICS_ERROR_KIND wrong lines
 * and the number of the others. ICESTREAM_E_MEMORY, ICESTREAM_E_INTERRUPTED. */
int ics_particle_source_next(ics_particle_source *source, ics_listed_particle *out, bool *found,
                             icestream_error *error);

/* Returns whether the list is a table without a column for the number of the event. */
bool ics_particle_source_lacks_events(const ics_particle_source *source);
/* Returns the line or entry of the last particle, from 1. */
size_t ics_particle_source_position(const ics_particle_source *source);
/* Writes the place of a particle at this position, "FILE:LINE". Any thread may call it, also while
 * another thread reads. Returns buffer. */
const char *ics_particle_source_place_of(const ics_particle_source *source, size_t position,
                                         char *buffer, size_t size);
/* Adds an error about the particle at this position: "PLACE: error: TEXT". Any thread may call it.
 * Returns ICESTREAM_E_CONFIG. */
int ics_particle_source_refuse(const ics_particle_source *source, size_t position, const char *text,
                               icestream_error *error);
/* Adds a warning about the particle at this position: "PLACE: SENTENCE". If memory is missing, the
 * status of the list of warnings says so. */
void ics_particle_source_warn(const ics_particle_source *source, size_t position, ics_warnings *out,
                              const char *format, ...) __attribute__((format(printf, 4, 5)));
#endif
