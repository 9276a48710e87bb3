/* What is doubtful about the columns of a list of particles: angles in radians, and events that
 * nothing separates. Both can be said only at the end of the list. */
#ifndef ICS_PARTICLES_LIST_DOUBTS_H
#define ICS_PARTICLES_LIST_DOUBTS_H

#include "pipeline/models/warnings.h"
#include "pipeline/particles/particle_source.h"

/* What was seen so far. It starts with zeros. */
typedef struct ics_list_doubts {
    uint64_t particles;
    uint64_t directions; /* particles with zenith and azimuth */
    double zenith[2];    /* least and largest, degrees */
    double azimuth[2];   /* least and largest size, degrees */
    size_t position;     /* of the last particle in the list */
} ics_list_doubts;

void ics_list_doubts_add(ics_list_doubts *doubts, const ics_listed_particle *particle);
/* Adds a sentence for each doubt. `source` names the places. ICESTREAM_E_MEMORY. */
int ics_list_doubts_warn(const ics_list_doubts *doubts, const ics_particle_source *source,
                         ics_warnings *out);

/* Returns whether a list at this path (NULL: the configuration has the list) can be read only once:
 * standard input, a pipe or a socket. */
bool ics_particle_list_is_stream(const char *path);

#endif
