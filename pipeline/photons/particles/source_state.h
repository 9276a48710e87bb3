/* Shared by the readers of the formats of particle lists. Private to this folder. */
#ifndef ICS_PHOTONS_PARTICLES_SOURCE_STATE_H
#define ICS_PHOTONS_PARTICLES_SOURCE_STATE_H

#include "pipeline/photons/config/yaml/yaml.h"
#include "pipeline/photons/models/text/line_stream.h"
#include "pipeline/photons/particles/source.h"

/* A particle as its list gives it. */
typedef struct ics_raw_particle {
    ics_particle particle;
    bool begins; /* f2k: the particle is the first one of its event */
    uint64_t event;
    size_t column;       /* column of the number of the event in the last line, or 0 */
    bool is_dark_in_ppc; /* f2k: ppc gives it no light */
} ics_raw_particle;

typedef enum ics_f2k_place {
    ICS_F2K_BEGINNING, /* before V */
    ICS_F2K_HEADER,
    ICS_F2K_BETWEEN, /* after TBEGIN, outside events */
    ICS_F2K_EVENT,
    ICS_F2K_TAIL, /* after TEND */
    ICS_F2K_END
} ics_f2k_place;

struct ics_particle_source {
    int (*next)(ics_particle_source *, ics_raw_particle *, bool *found, icestream_error *);
    ics_particle_events events;
    ics_line_stream *lines; /* f2k, CSV */
    /* f2k */
    ics_f2k_place place;
    bool begun;   /* an event has begun and has no particle yet */
    bool has_ppc; /* particles without light in ppc are passed over */
    /* CSV: the field of every column */
    char separator; /* separator of the columns of a CSV list */
    /* The fields that they have; ICS_PARTICLE_FIELD_COUNT: passed over. */
    ics_particle_field columns[ICS_TEXT_FIELDS_MAX];
    size_t column_count;
    bool is_regular; /* a file whose end can be read without waiting */
    bool is_in_row;  /* the last line is one particle; a fault of it says nothing about others */
    /* YAML, or the list of the configuration */
    ics_particle *list;
    size_t count, done;
    ics_yaml *document;
    char where[512]; /* place in a list */
    /* numbering */
    bool any;
    bool listed;         /* there was a particle */
    uint64_t file_event; /* number of the last event, if `any` */
    uint64_t event, counted;
    uint64_t first_event; /* is added to the numbers of events */
    uint64_t number;
};

/* The readers behind ics_particle_source.next. */
int ics_particle_f2k_next(ics_particle_source *source, ics_raw_particle *out, bool *found,
                          icestream_error *error);
int ics_particle_csv_next(ics_particle_source *source, ics_raw_particle *out, bool *found,
                          icestream_error *error);
/* Reads a list in YAML: mappings whose keys are the fields of particle.h. All its errors are added.
 * The caller frees *out. ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. */
int ics_particle_read_list(const ics_yaml_node *node, ics_particle **out, size_t *count,
                           icestream_error *error);

/* Adds an error with the current position in the list. `column` of the current line; 0: unknown.
 * Returns ICESTREAM_E_CONFIG. */
int ics_particle_source_fault(const ics_particle_source *source, size_t column,
                              icestream_error *error, const char *text);
/* Begins the event with this number. If the numbers of the file are used, each must be larger than
 * the last. ICESTREAM_E_CONFIG. */
int ics_particle_source_begin_event(ics_particle_source *source, uint64_t event, size_t column,
                                    icestream_error *error);
/* Reads the line with the names of columns. */
int ics_particle_csv_begin(ics_particle_source *source, icestream_error *error);

#endif
