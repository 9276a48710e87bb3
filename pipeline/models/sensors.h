/* What makes modules differ in what they detect: files that list modules by their labels. */
#ifndef IS_SENSORS_H
#define IS_SENSORS_H

#include "pipeline/config/config.h"
#include "pipeline/models/text.h"
#include "pipeline/models/warnings.h"
#include "stages/model.h"

typedef enum is_sensor_file {
    IS_SENSOR_EFFICIENCIES, /* eff-f2k: string, module, relative efficiency [, acceptance 0 or 1] */
    IS_SENSOR_AXES,         /* cx.dat: string, module, nx, ny, nz against the PMT's axis, error */
    IS_SENSOR_CABLES,       /* dx.dat: string, module, azimuth of the cable (degrees), error */
    IS_SENSOR_VOLTAGES,     /* hvs-f2k: string, module, V; who is not listed, or has 0, is off */
    IS_SENSOR_FILES
} is_sensor_file;

/* Reads such a file into the modules of a detector, which are sorted by label. Rows of modules at
 * the surface (string < 1 or module > 60) that the detector does not have are passed over, others
 * that it does not have are counted in a warning. IS_E_CONFIG: what is wrong with the file, all
 * errors together, the modules are as they were; IS_E_MEMORY. */
int is_sensor_file_read(is_sensor_file kind, const is_text *text, ice_detector *detector,
                        is_warnings *warnings, is_error *error);

/* Angular acceptance, files and cable as configured, into a detector whose modules are there.
 * IS_E_CONFIG, IS_E_MEMORY. */
int is_sensors_create(const is_config *config, ice_detector *detector, is_warnings *warnings,
                      is_error *error);

/* The file that a key of the configuration means: a path, or for "auto" the file of this name in
 * ice.directory if that is there. *out: the caller frees it; NULL: none. IS_E_MEMORY. */
int is_model_file(const is_config *config, const char *value, const char *name, char **out,
                  is_error *error);

/* Whether stages.detect makes photo-electrons: files of ice.directory that only those need are not
 * looked for without. */
bool is_detecting(const is_config *config);

/* The module of this label in a detector, or NULL. */
ice_module *is_detector_find(const ice_detector *detector, is_module_label label);

#endif
