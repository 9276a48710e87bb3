/* From rows of an ice table to a checked medium: what all file formats of ice have in common. */
#ifndef ICS_PHOTONS_MODELS_ICE_LAYERS_H
#define ICS_PHOTONS_MODELS_ICE_LAYERS_H

#include "base/error.h"
#include "physics/model.h"
#include "pipeline/photons/config/config.h"

/* A layer as it stands in a file. */
typedef struct ics_layer_row {
    double depth; /* depth of the centre of the layer (m below the surface) */
    ice_layer layer;
    size_t line, column; /* position of the row in its file; 0: unknown */
} ics_layer_row;

/* Rows in the order of their file, deepest last. */
typedef struct ics_layer_list {
    const char *name; /* name of the file in messages, not owned */
    ics_layer_row *rows;
    size_t count, capacity;
} ics_layer_list;

/* Appends a row. ICESTREAM_OK or ICESTREAM_E_MEMORY. */
int ics_ice_layer_list_add(ics_layer_list *list, const ics_layer_row *row, icestream_error *error);
void ics_ice_layer_list_free(ics_layer_list *list);

/* Checks the value of a property of the ice as a whole ("alpha", "mean_cosine", ...); `place` is
 * "file:line". ICESTREAM_E_CONFIG. */
int ics_ice_property_check(const char *place, const char *property, double value,
                           icestream_error *error);

/* Checks the rows and makes the medium. Depths must increase in equal steps (within 1e-5 of a
 * step), coefficients must be positive and plausible. A single row is homogeneous ice, which
 * reports show as 100 m thick. `common` has everything that does not depend on depth, already
 * checked, without name and tilt. The scattering by birefringence is subtracted from the layers as
 * `subtraction` says (AUTO: not at all). ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. The caller owns
 * *out. */
int ics_ice_from_layers(const char *name, const ics_layer_list *list, const ice_medium *common,
                        ics_subtraction subtraction, ice_medium **out, icestream_error *error);

#endif
