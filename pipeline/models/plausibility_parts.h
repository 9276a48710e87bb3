/* What the files of plausibility.h share; for them only. */
#ifndef ICS_MODELS_PLAUSIBILITY_PARTS_H
#define ICS_MODELS_PLAUSIBILITY_PARTS_H

#include "pipeline/models/plausibility.h"

/* What is checked. Nothing is owned. */
typedef struct ics_inspection {
    const icestream_config *config;
    const ice_medium *medium;
    const ice_detector *detector;
    const ice_light *light;
    ics_warnings *warnings;
} ics_inspection;

/* Bytes of the place of a value in a message. */
enum { ICS_PLAUSIBILITY_PLACE = 1200 };

/* The wavelength (nm) at which coefficients are judged. */
#define ICS_PLAUSIBILITY_WAVELENGTH 400.0

/* Warn of values of the detector, or of the ice. ICESTREAM_OK or ICESTREAM_E_MEMORY. */
int ics_plausibility_check_detector(const ics_inspection *self);
int ics_plausibility_check_ice(const ics_inspection *self);
/* Warns of variables of the environment that ppc reads, unless the configuration has their key. */
int ics_plausibility_check_environment(const ics_inspection *self);

#endif
