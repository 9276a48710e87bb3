/* The files of water in configs/, and parts of small ones, for tests. */
#ifndef WATER_FILES_H
#define WATER_FILES_H

#include "physics/water.h"

#define SEA_FILE  ICS_SOURCE_DIRECTORY "/configs/media/sea-water.yaml"
#define LAKE_FILE ICS_SOURCE_DIRECTORY "/configs/media/lake-water.yaml"
#define MOLECULES "stages.scatter=rayleigh-hg"

/* The water of SEA_FILE. */
static const ice_water sea = {.salinity = 38.5, .temperature = 13.2, .pressure = 220};

/* Parts of a small file. */
#define INDEX      "index: {salinity: 35, temperature: 10, pressure: 500}\n"
#define SCATTERING "scattering: {mean_cosine: 0.9}\n"

#endif
