/* What makes modules differ in what they detect: files that list modules by their labels. */
#ifndef ICS_MODELS_DETECTOR_SENSORS_H
#define ICS_MODELS_DETECTOR_SENSORS_H

#include "physics/model.h"
#include "pipeline/config/config.h"
#include "pipeline/models/text/text.h"
#include "pipeline/models/warnings.h"

typedef enum ics_sensor_file {
    ICS_SENSOR_EFFICIENCIES, /* eff-f2k: string, module, relative efficiency [, acceptance 0 or 1]
                              */
    ICS_SENSOR_AXES,         /* cx.dat: string, module, nx, ny, nz against the PMT's axis, error */
    ICS_SENSOR_CABLES,       /* dx.dat: string, module, azimuth of the cable (degrees), error */
    ICS_SENSOR_VOLTAGES,     /* hvs-f2k: string, module, V; who is not listed, or has 0, is off */
    ICS_SENSOR_FILES
} ics_sensor_file;

/* Reads such a file into the modules of a detector, which are sorted by label. Rows of modules at
 * the surface (string < 1 or module > 60) that the detector does not have are passed over, others
 * that it does not have are counted in a warning. ICESTREAM_E_CONFIG: what is wrong with the file,
 * all errors together, the modules are as they were; ICESTREAM_E_MEMORY. */
int ics_sensors_file_read(ics_sensor_file kind, const ics_text *text, ice_detector *detector,
                          ics_warnings *warnings, icestream_error *error);

/* Angular acceptance, files and cable as configured, into a detector whose modules are there.
 * ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. */
int ics_sensors_create(const icestream_config *config, ice_detector *detector,
                       ics_warnings *warnings, icestream_error *error);

/* The file that a key of the configuration means: a path, or for "auto" the file of this name in
 * ice.directory if that is there. *out: the caller frees it; NULL: none. ICESTREAM_E_MEMORY. */
int ics_sensors_model_file(const icestream_config *config, const char *value, const char *name,
                           char **out, icestream_error *error);

/* Whether stages.detect makes photo-electrons: files of ice.directory that only those need are not
 * looked for without. */
bool ics_sensors_detecting(const icestream_config *config);

/* The string and the module number of a module as one number, by which modules are sorted. */
static inline uint32_t ics_sensors_label(const ice_module *module)
{
    return (uint32_t)module->string << 16 | module->module;
}

/* Returns the module with this string and module number, or NULL. The modules must be sorted. */
ice_module *ics_sensors_find_module(const ice_detector *detector, ics_module_label label);

#endif
