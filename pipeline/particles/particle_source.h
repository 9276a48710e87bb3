/* Particles one after the other, from the run file or from a file of any length. */
#ifndef IS_PARTICLE_SOURCE_H
#define IS_PARTICLE_SOURCE_H

#include "pipeline/config/config.h"
#include "pipeline/particles/particle.h"

typedef struct is_particle_source is_particle_source;

/* What comes next: a particle, with the numbers that name it. */
typedef struct is_listed_particle {
    is_particle particle;
    uint64_t event;  /* ascends */
    uint32_t number; /* in its event, from 0 */
} is_listed_particle;

/* The particles of particles.list or particles.file. The configuration must outlive the source.
 * IS_E_CONFIG, IS_E_MEMORY. */
int is_particle_source_open(const is_config *config, is_particle_source **out, is_error *error);
/* Text in memory as a file of that format, with particles.events: file or count; the text stays the
 * caller's. IS_E_CONFIG, IS_E_MEMORY. */
int is_particle_source_borrow(const char *name, is_particle_format format,
                              is_particle_events events, const char *data, size_t size,
                              is_particle_source **out, is_error *error);
/* Accepts NULL. */
void is_particle_source_destroy(is_particle_source *source);

/* The next particle, checked (is_particle_check); *found is false at the end. The first fault ends
 * the source: IS_E_CONFIG with "FILE:LINE:COLUMN: error: ...", IS_E_MEMORY. */
int is_particle_source_next(is_particle_source *source, is_listed_particle *out, bool *found,
                            is_error *error);

/* Which line or entry the last particle is, from 1. */
size_t is_particle_source_position(const is_particle_source *source);
/* Where a particle of that position stands, "FILE:LINE"; any thread, also while others read on.
 * Returns buffer. */
const char *is_particle_source_place_of(const is_particle_source *source, size_t position,
                                        char *buffer, size_t size);
/* Where the last particle stands. Returns buffer. */
const char *is_particle_source_place(const is_particle_source *source, char *buffer, size_t size);

#endif
