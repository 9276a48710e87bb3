/* Public ice models, recognised by the numbers of icemodel.dat. */
#ifndef ICS_MODELS_ICE_ICE_KNOWN_H
#define ICS_MODELS_ICE_ICE_KNOWN_H

#include "physics/model.h"
#include "pipeline/icestream.h"

typedef struct ics_ice_known {
    const char *digest; /* SHA-256 of its numbers */
    const char *name;
    const char *subtraction; /* the word of ice.birefringence_subtraction that this model needs */
    ice_taken taken;         /* the same in a medium */
} ics_ice_known;

/* Finds the model in the folder of a ppc ice. *out is NULL if it is none of the public models.
 * ICESTREAM_E_CONFIG: icemodel.dat cannot be read. ICESTREAM_E_MEMORY. */
int ics_ice_known_find(const char *folder, const ics_ice_known **out, icestream_error *error);

#endif
