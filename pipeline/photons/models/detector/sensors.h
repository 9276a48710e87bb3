/* What modules detect: files with efficiencies, axes, cables and voltages of single modules. */
#ifndef ICS_PHOTONS_MODELS_DETECTOR_SENSORS_H
#define ICS_PHOTONS_MODELS_DETECTOR_SENSORS_H

#include "physics/model.h"
#include "pipeline/photons/config/config.h"
#include "pipeline/photons/models/text/text.h"
#include "pipeline/photons/models/warnings.h"

typedef enum ics_sensor_file {
    ICS_SENSOR_EFFICIENCIES, /* eff-f2k: string, module, relative efficiency [, acceptance 0 or 1]
                              */
    ICS_SENSOR_AXES,         /* cx.dat: string, module, nx, ny, nz against the PMT's axis, error */
    ICS_SENSOR_CABLES,       /* dx.dat: string, module, azimuth of the cable (degrees), error */
    ICS_SENSOR_VOLTAGES, /* hvs-f2k: string, module, V; a module that is not listed, or has 0 V, is
                            off */
    ICS_SENSOR_FILES
} ics_sensor_file;

/* Reads a file into the modules of a detector, which are sorted by string and module. Rows of
 * modules at the surface (string < 1 or module > 60) are ignored if the detector does not have the
 * module; other rows of unknown modules are counted in a warning. ICESTREAM_E_CONFIG: all faults of
 * the file are reported together, and the modules are unchanged. ICESTREAM_E_MEMORY. */
int ics_sensors_file_read(ics_sensor_file kind, const ics_text *text, ice_detector *detector,
                          ics_warnings *warnings, icestream_error *error);

/* Sets efficiencies, axes, cables and voltages of a detector from the configuration and its files.
 * ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. */
int ics_sensors_create(const icestream_config *config, ice_detector *detector,
                       ics_warnings *warnings, icestream_error *error);
/* Sets the angular acceptance of a detector whose types are complete. The same errors. */
int ics_sensors_angular_create(const icestream_config *config, ice_detector *detector,
                               ics_warnings *warnings, icestream_error *error);

/* Returns whether stages.detect makes photo-electrons. If it does not, files of ice.directory that
 * only photo-electrons need are not searched. */
bool ics_sensors_detecting(const icestream_config *config);

/* The string and the module number of a module as one number, by which modules are sorted. */
static inline uint32_t ics_sensors_identity(const ice_module *module)
{
    return (uint32_t)module->string << 16 | module->module;
}

/* Returns the module with this string and module number, or NULL. The modules must be sorted. */
ice_module *ics_sensors_find_module(const ice_detector *detector, ics_module_identity identity);

#endif
