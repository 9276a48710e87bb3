/* The events of the inputs before: two inputs with the same events and steps have the same random
 * numbers. */
#ifndef ICS_PHOTONS_SESSION_SEEN_EVENTS_H
#define ICS_PHOTONS_SESSION_SEEN_EVENTS_H

#include "pipeline/photons/engine/step_watch.h"

typedef struct ics_seen_input ics_seen_input;

/* Zero-initialise. At most 12 MiB. */
typedef struct ics_seen_events {
    ics_seen_input *inputs; /* a ring; NULL: none yet */
    size_t count;           /* of inputs */
    size_t next;            /* index in the ring for the next input */
    size_t spans;           /* of all inputs */
    bool has_warned;        /* two inputs with the same events were found */
} ics_seen_events;

/* Looks for the events of an input among those of the inputs before it, and remembers them. Returns
 * true for the first input that has events of an earlier one; `text` then says which ones. */
bool ics_seen_events_look(ics_seen_events *seen, const char *name, const ics_event_spans *spans,
                          char *text, size_t size);
void ics_seen_events_free(ics_seen_events *seen);

#endif
