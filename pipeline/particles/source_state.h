/* What the formats of particle lists share. Private to this folder. */
#ifndef IS_PARTICLE_SOURCE_STATE_H
#define IS_PARTICLE_SOURCE_STATE_H

#include "pipeline/config/yaml.h"
#include "pipeline/particles/line_stream.h"
#include "pipeline/particles/particle_source.h"

/* A particle as its format gave it. */
typedef struct is_raw_particle {
    is_particle particle;
    bool begins; /* the first of an event that its format has opened */
    uint64_t event;
    size_t column; /* of the event's number in the last line, or 0 */
} is_raw_particle;

typedef enum is_f2k_place {
    IS_F2K_BEGINNING, /* before V */
    IS_F2K_HEADER,
    IS_F2K_BETWEEN, /* after TBEGIN, outside events */
    IS_F2K_EVENT,
    IS_F2K_TAIL, /* after TEND */
    IS_F2K_END
} is_f2k_place;

struct is_particle_source {
    int (*next)(is_particle_source *, is_raw_particle *, bool *found, is_error *);
    is_particle_events events;
    is_line_stream *lines; /* f2k, CSV */
    /* f2k */
    is_f2k_place place;
    bool begun; /* the event has had no particle yet */
    /* CSV: the field of every column */
    is_particle_field columns[IS_PARTICLE_FIELD_COUNT];
    size_t column_count;
    /* YAML, or the configuration's own list */
    is_particle *list;
    size_t count, done;
    is_yaml *document;
    char where[512]; /* of a list */
    /* numbering */
    bool any;
    uint64_t file_event; /* of the last event, where there is any */
    uint64_t event, counted;
    uint64_t number;
};

/* The readers behind is_particle_source.next. */
int is_f2k_next(is_particle_source *source, is_raw_particle *out, bool *found, is_error *error);
int is_csv_next(is_particle_source *source, is_raw_particle *out, bool *found, is_error *error);
/* Takes note of an event's number, which must be larger than the last. */
int is_source_begin_event(is_particle_source *source, uint64_t event, size_t column,
                          is_error *error);
/* Reads the line with the names of columns. */
int is_csv_begin(is_particle_source *source, is_error *error);

#endif
