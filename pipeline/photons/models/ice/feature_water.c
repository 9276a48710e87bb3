/* A medium whose optics are given by wavelength (ice/spectral.c reads it). The feature has no keys
 * in files of ice, and reports of a medium describe water in place of ice. */
#include "pipeline/photons/models/ice/features.h"

const ics_ice_feature ics_ice_feature_water = {.name = NULL};
