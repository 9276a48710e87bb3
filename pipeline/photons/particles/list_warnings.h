/* What is doubtful about the columns of a list of particles: values in another unit, events that
 * nothing separates, and lines that stand twice. Most of it can be said only at the end of the
 * list. */
#ifndef ICS_PHOTONS_PARTICLES_LIST_WARNINGS_H
#define ICS_PHOTONS_PARTICLES_LIST_WARNINGS_H

#include "pipeline/photons/models/warnings.h"
#include "pipeline/photons/particles/source.h"

/* The sizes |value| of a column in all particles that have it, without zeros. */
typedef struct ics_column_range {
    uint64_t count;
    double least, most;
    bool has_decimals; /* a value needs two digits behind the point, or more */
} ics_column_range;

/* The particles of an event that a later line of the event is compared with. */
enum { ICS_LIST_LINES = 64 };

/* What was seen so far. It starts with zeros. */
typedef struct ics_list_warnings {
    uint64_t particles;
    uint64_t without_event; /* particles without a number of their event */
    uint64_t directions;    /* particles with zenith and azimuth */
    double zenith[2];       /* least and largest, degrees */
    double azimuth[2];      /* least and largest size, degrees */
    ics_column_range ranges[ICS_PARTICLE_FIELD_COUNT];
    size_t position;                /* position of the last particle in the list */
    size_t eventless;               /* position of the first particle without an event */
    uint64_t event;                 /* event of `lines` */
    uint64_t lines[ICS_LIST_LINES]; /* hashes of the last lines with light, in a ring */
    size_t line_positions[ICS_LIST_LINES];
    size_t line_count;
    uint64_t doubles;          /* lines that stand twice in their event */
    size_t double_position[2]; /* positions of the first one, and of its first occurrence */
} ics_list_warnings;

void ics_list_warnings_add(ics_list_warnings *seen, const ics_listed_particle *particle);
/* Adds a sentence for each warning. `source` names the places. ICESTREAM_E_MEMORY. */
int ics_list_warnings_report(const ics_list_warnings *seen, const ics_particle_source *source,
                             ics_warnings *out);

/* Returns whether a list at this path (NULL: the configuration has the list) can be read only once:
 * standard input, a pipe or a socket. */
bool ics_particle_list_is_stream(const char *path);

#endif
