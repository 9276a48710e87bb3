/* What the files of plausibility.h share; for them only. */
#ifndef ICS_PHOTONS_MODELS_PLAUSIBILITY_PARTS_H
#define ICS_PHOTONS_MODELS_PLAUSIBILITY_PARTS_H

#include "pipeline/photons/models/plausibility.h"

/* What is checked. Nothing is owned. */
typedef struct ics_inspection {
    const icestream_config *config;
    const ice_medium *medium;
    const ice_detector *detector;
    const ice_light *light;
    ics_warnings *warnings;
} ics_inspection;

/* Where a value stands. The first member that is not NULL counts. */
typedef struct ics_value_place {
    const char *key;  /* a key of the configuration: "detector.radius" */
    const char *ice;  /* a key of ice.file, also if the ice is a folder of ppc: "hole.radius" */
    size_t setting;   /* with `ice`: the position of the number in cfg.txt, from 1; 0: none */
    const char *file; /* the name of a file */
    const ice_module *module; /* a module, which is a line of the file of the detector */
} ics_value_place;

/* The wavelength (nm) at which coefficients are compared with what is usual. */
#define ICS_PLAUSIBILITY_WAVELENGTH 400.0

/* One row of the tables of usual values: warns "PLACE: TEXT" unless the value is usual. A list of
 * warnings that lacks memory says so in its member `status`. */
void ics_plausibility_expect(const ics_inspection *self, bool is_usual, ics_value_place at,
                             const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Returns whether the user has given a key. */
bool ics_plausibility_is_given(const ics_inspection *self, const char *key);
/* Returns the path of the file that a value of the configuration means (ics_sensors_model_file),
 * which the caller frees, or NULL. Without memory it is NULL, too, and the list of warnings says
 * so. */
char *ics_plausibility_find_file(const ics_inspection *self, const char *value, const char *name);

/* The tables. The first ones are about values of the detector and of the ice. */
void ics_plausibility_check_detector(const ics_inspection *self);
void ics_plausibility_check_ice(const ics_inspection *self);
/* Files of ice.directory that most likely do not mean what the configuration makes of them. */
void ics_plausibility_check_folder(const ics_inspection *self);

#endif
