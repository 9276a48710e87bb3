/* A detector as a configuration loads it, with what the loader reports. */
#ifndef LOADED_DETECTOR_H
#define LOADED_DETECTOR_H

#include "pipeline/photons/models/detector/detector.h"

typedef struct loaded_detector {
    ice_detector *detector; /* NULL: it was refused */
    ics_warnings warnings;
    icestream_error error;
    int status;
} loaded_detector;

/* Loads the detector of a configuration, and destroys the configuration. */
loaded_detector detector_load(icestream_config *config);
void detector_unload(loaded_detector *result);

/* Fails the test if the detector was refused. */
void expect_detector(const loaded_detector *result);
/* Fails the test if the detector was not refused with this message. */
void expect_no_detector(const loaded_detector *result, const char *message);

#endif
