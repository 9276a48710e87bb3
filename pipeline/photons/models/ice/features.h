/* What ice may have in addition to flat layers that look the same in all directions (physics.md 6,
 * 8.7): one row for each feature of ICE_FEATURES (stages/tables.h). */
#ifndef ICS_PHOTONS_MODELS_ICE_FEATURES_H
#define ICS_PHOTONS_MODELS_ICE_FEATURES_H

#include "pipeline/photons/config/config.h"
#include "pipeline/photons/models/ice/file.h"
#include "pipeline/photons/models/ice/layers.h"
#include "pipeline/photons/models/warnings.h"
#include "stages/tables.h"

/* One feature. Functions and lists may be NULL where a feature has none. */
typedef struct ics_ice_feature {
    const char *name; /* "hole ice", for people; NULL: reports do not list the feature */
    /* Whether a key of the configuration leaves the feature on; NULL: no key switches it off. */
    bool (*is_on)(const icestream_config *config);
    bool has_flow; /* the feature depends on the azimuth of the flow */
    size_t field_count;
    const ics_schema_field *fields; /* its keys in ice files, in ics_ice_file */
    /* Checks the values of a file that was read. ICESTREAM_E_CONFIG. */
    int (*check)(const ics_ice_file *file, const ics_ice_keys *keys, icestream_error *error);
    /* Converts the values of a file to those of the medium, file->medium. */
    void (*convert)(ics_ice_file *file);
    /* Removes the feature from a medium that is not complete, and from its layers. */
    void (*remove)(ice_medium *medium, ics_layer_list *layers);
    /* Adds what other files contain to the complete medium; not called where the feature is
     * switched off. ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. */
    int (*load)(const ics_ice_file *file, ice_medium *medium, icestream_error *error);
    /* Adds warnings about values that are probably mistakes. */
    void (*warn)(const ice_medium *medium, ics_warnings *warnings);
    /* Describes the feature of a medium that has it, in lines for `icestream validate`. */
    void (*describe)(const ice_medium *medium, FILE *out);
} ics_ice_feature;

/* ics_ice_feature_NAME is defined in feature_NAME.c. */
#define ICS_ICE_FEATURE(name, bits) extern const ics_ice_feature ics_ice_feature_##name;
ICE_FEATURES(ICS_ICE_FEATURE)
#undef ICS_ICE_FEATURE

/* Appends the keys of all features. */
void ics_ice_features_add_keys(ics_ice_keys *keys);
/* Calls the functions of all features (see above). `load` leaves out what is switched off. */
int ics_ice_features_check(const ics_ice_file *file, const ics_ice_keys *keys,
                           icestream_error *error);
void ics_ice_features_convert(ics_ice_file *file);
int ics_ice_features_load(const icestream_config *config, const ics_ice_file *file,
                          ice_medium *medium, icestream_error *error);
void ics_ice_features_warn(const ice_medium *medium, ics_warnings *warnings);
void ics_ice_features_describe(const ice_medium *medium, FILE *out);
/* Removes the features that the configuration switches off. */
void ics_ice_features_switch_off(const icestream_config *config, ice_medium *medium,
                                 ics_layer_list *layers);

/* Writes the names of the features that a medium has: " with tilt, hole ice", or nothing. Returns
 * buffer; 128 characters are enough. */
const char *ics_ice_features_text(const ice_medium *medium, char *buffer, size_t size);

/* ---- physics of single features -------------------------------------------------------------- */

/* Scales ln K of the absorption anisotropy as the model uses it: where K1 >= K2 = K3, the mean over
 * all directions of 1/|K n| becomes 1; else `scaled` is as given (physics.md 6.3). */
void ics_ice_absorption_anisotropy_scale(const double given[3], double scaled[3]);

/* Rms and mean deflection by birefringence at an angle to the flow axis (physics.md 6.4). */
typedef struct ics_deflection {
    double along, across; /* sx, sy: rad/sqrt(m), >= 0 */
    double mean;          /* mx: rad/m, >= 0 */
} ics_deflection;

/* `cosine` of the angle to the flow axis, 0 .. 1. */
ics_deflection ics_ice_birefringence_at(const ice_birefringence *birefringence, double cosine);
/* Returns s_eff, the effective scattering (1/m) by birefringence of strength 1. */
double ics_ice_birefringence_scattering(const ice_birefringence *birefringence);
/* Checks that the deflections are numbers, and not larger than a scatterer could cause. `place` is
 * "file:line:column". ICESTREAM_E_CONFIG. */
int ics_ice_birefringence_check(const char *place, const ice_birefringence *birefringence,
                                icestream_error *error);
/* Subtracts the scattering by birefringence from the layers as `subtraction` says (physics.md 4.2,
 * 6.4). The scattering of a layer can be negative afterwards. */
void ics_ice_birefringence_subtract(ics_subtraction subtraction, ice_medium *medium);

#endif
