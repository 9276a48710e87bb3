/* Particles one after the other, from the run file or from a file of any length. */
#ifndef ICS_PARTICLES_PARTICLE_SOURCE_H
#define ICS_PARTICLES_PARTICLE_SOURCE_H

#include "pipeline/config/config.h"
#include "pipeline/particles/particle.h"

typedef struct ics_particle_source ics_particle_source;

/* What comes next: a particle, with the numbers that name it. */
typedef struct ics_listed_particle {
    ics_particle particle;
    uint64_t event;  /* ascends */
    uint32_t number; /* in its event, from 0 */
} ics_listed_particle;

/* The particles of particles.list or particles.file. The configuration must outlive the source.
 * ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. */
int ics_particle_source_open(const icestream_config *config, ics_particle_source **out,
                             icestream_error *error);
/* Text in memory as a file of that format, with particles.events: file or count; the text stays the
 * caller's. ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. */
int ics_particle_source_borrow(const char *name, ics_particle_format format,
                               ics_particle_events events, const char *data, size_t size,
                               ics_particle_source **out, icestream_error *error);
/* Accepts NULL. */
void ics_particle_source_destroy(ics_particle_source *source);

/* The next particle, checked (ics_particle_check); *found is false at the end. The first fault ends
 * the source: ICESTREAM_E_CONFIG with "FILE:LINE:COLUMN: error: ...", ICESTREAM_E_MEMORY. */
int ics_particle_source_next(ics_particle_source *source, ics_listed_particle *out, bool *found,
                             icestream_error *error);

/* Which line or entry the last particle is, from 1. */
size_t ics_particle_source_position(const ics_particle_source *source);
/* Where a particle of that position stands, "FILE:LINE"; any thread, also while others read on.
 * Returns buffer. */
const char *ics_particle_source_place_of(const ics_particle_source *source, size_t position,
                                         char *buffer, size_t size);
/* Where the last particle stands. Returns buffer. */
const char *ics_particle_source_place(const ics_particle_source *source, char *buffer, size_t size);

#endif
