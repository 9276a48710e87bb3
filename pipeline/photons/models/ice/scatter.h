/* The parameters that scatter variants declare in their headers (stages/scatter_NAME.h): keys of
 * files of ice, and values of a medium.
 *
 * mean_cosine, liu_fraction and rayleigh_fraction are not among them. All formats of ice have these
 * three, which are therefore members of the medium. */
#ifndef ICS_PHOTONS_MODELS_ICE_SCATTER_H
#define ICS_PHOTONS_MODELS_ICE_SCATTER_H

#include "pipeline/photons/models/ice/file.h"
#include "pipeline/photons/models/warnings.h"

/* One declared parameter. */
typedef struct ics_scatter_parameter {
    const char *name; /* the key in files of ice */
    const char *key;  /* the key in files of water: "scattering.NAME" */
    double low, high; /* the range, ends included */
    const char *fallback, *unit, *help;
} ics_scatter_parameter;

/* One scatter variant of the registry. */
typedef struct ics_scatter_variant {
    const char *name;                        /* name in stages.scatter: "hg-sl" */
    const ics_scatter_parameter *parameters; /* the last one has no name */
} ics_scatter_variant;

/* Returns variant `index` of the registry, or NULL after the last one. Variant 0 is the first of an
 * array, in which a variant without a name stands behind the last one. */
const ics_scatter_variant *ics_ice_scatter_variant(size_t index);

/* Appends the keys of all parameters; a name that several variants declare is one key. `offset` is
 * that of an array of ICS_ICE_SCATTER_MAX numbers in the structure that is read. */
void ics_ice_scatter_add_keys(ics_ice_keys *keys, bool is_water, size_t offset);

/* Warns of every key that a file gives and that only other variants than `chosen` declare. `list`
 * is an array of variants; the last one has no name. */
void ics_ice_scatter_warn(const ics_scatter_variant *list, const char *chosen, bool is_water,
                          const ics_ice_keys *keys, ics_warnings *warnings);

/* Sets medium->scatter to the parameters of a variant in the order of their declaration. `values`
 * are the numbers of a file (see above), or NULL for the defaults. A variant that is not in the
 * registry, such as the user's header, has no parameters. */
void ics_ice_scatter_choose(const char *variant, const double *values, ice_medium *medium);

/* Describes the values in lines for `icestream validate`. */
void ics_ice_scatter_describe(const ice_medium *medium, FILE *out);

#endif
