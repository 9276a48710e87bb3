/* Ice as a configuration loads it, with what the loader reports. */
#ifndef LOADED_ICE_H
#define LOADED_ICE_H

#include "pipeline/photons/models/ice/ice.h"

typedef struct loaded_ice {
    ice_medium *medium; /* NULL: it was refused */
    ics_ice_factors factors;
    ics_warnings warnings;
    icestream_error error;
    int status;
} loaded_ice;

/* Loads with "KEY=path" and up to two more settings; NULL: none. */
loaded_ice ice_load(const char *key, const char *path, const char *first, const char *second);
void ice_unload(loaded_ice *ice);

/* Whether a warning contains the text. */
bool ice_warned(const loaded_ice *ice, const char *text);

/* Fails the test if the ice was refused. */
void expect_ice(const loaded_ice *ice);
/* Fails the test if the ice was not refused with this message. */
void expect_no_ice(const loaded_ice *ice, const char *message);

#endif
