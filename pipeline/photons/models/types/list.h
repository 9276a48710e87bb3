/* A list of types of modules. */
#ifndef ICS_PHOTONS_MODELS_TYPES_LIST_H
#define ICS_PHOTONS_MODELS_TYPES_LIST_H

#include "physics/model.h"

typedef struct ics_types {
    ice_module_type items[ICE_TYPES_MAX]; /* [count] */
    ice_orientation turns[ICE_TYPES_MAX]; /* how modules of the type hang
                                             whose list has no orientation */
    double pmt_radius[ICE_TYPES_MAX];     /* m, of PMTs that do not give their own; 0: not known */
    size_t count;                         /* 0: modules are spheres of one radius */
} ics_types;

/* Frees what the types own and empties the list. */
void ics_types_free(ics_types *types);
/* Frees what a type owns. */
void ics_type_free(ice_module_type *type);

/* Gives the number of the type with this name; types->count if there is none. */
size_t ics_types_find(const ics_types *types, const char *name, size_t length);

/* Writes the names of the types, separated by commas, for messages. Returns buffer. */
const char *ics_types_names(const ics_types *types, char *buffer, size_t size);

#endif
