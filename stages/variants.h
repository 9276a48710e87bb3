/* The choice of stage variants: every variant of registry.def behind one function per stage.
 *
 * A header of a user is added if ICE_CUSTOM_create, _propagate, _collide or _scatter is defined, as
 * the quoted name of the file to include. The header defines ice_STAGE_custom with the parameters
 * and the result of the other variants of the stage.
 *
 * On the CPU the choice is an argument, which the branch predictor learns at once. On a GPU it is a
 * constant of the run's kernels, so that only the chosen variants remain in the code.
 */
#ifndef ICS_STAGES_VARIANTS_H
#define ICS_STAGES_VARIANTS_H

#include "stages/compact_partition.h"
#include "stages/reach.h"
#include "stages/segment.h"
#include "stages/variant_headers.h"

/* After all others, so that it may call them. */
#ifdef ICE_CUSTOM_create
#include ICE_CUSTOM_create
#endif
#ifdef ICE_CUSTOM_propagate
#include ICE_CUSTOM_propagate
#endif
#ifdef ICE_CUSTOM_collide
#include ICE_CUSTOM_collide
#endif
#ifdef ICE_CUSTOM_scatter
#include ICE_CUSTOM_scatter
#endif

/* ICE_create_cherenkov, ICE_propagate_cumulative, ...: one number for every variant, the same in
 * every compilation, whether it has the user's headers or not. */
typedef enum ice_variant {
#define ICE_VARIANT(stage, name, yaml, text) ICE_##stage##_##name,
#include "stages/registry.def"
#undef ICE_VARIANT
    ICE_VARIANT_COUNT,
    ICE_create_custom,
    ICE_propagate_custom,
    ICE_collide_custom,
    ICE_scatter_custom
} ice_variant;

/* One variant for every stage. */
typedef struct ice_variants {
    ice_variant create, propagate, collide, scatter, compact;
} ice_variants;

/* compiled.def for one stage at a time: define the stage's macro, include, undefine. */
#define ICE_VARIANT(stage, name, yaml, text) ICE_VARIANT_##stage(name)

#define ICE_VARIANT_create(name)
#define ICE_VARIANT_compact(name)

#define ICE_VARIANT_collide(name)
#define ICE_VARIANT_scatter(name)
#define ICE_VARIANT_propagate(name)                                                                \
    case ICE_propagate_##name:                                                                     \
        return ice_propagate_##name(tables, start);
/* The segment from a start, if it leaves its first layer. */
ICE_FN ice_segment ice_propagate_on(ice_variant variant, const ice_tables *tables,
                                    ice_segment_start start)
{
    switch (variant) {
    default:
#include "stages/compiled.def"
    }
}
#undef ICE_VARIANT_propagate
#define ICE_VARIANT_propagate(name)

#undef ICE_VARIANT_collide
#define ICE_VARIANT_collide(name)                                                                  \
    case ICE_collide_##name:                                                                       \
        return ice_collide_##name(tables, search);
ICE_FN ice_contact ice_collide(ice_variant variant, const ice_tables *tables,
                               const ice_contact_search *search)
{
    switch (variant) {
    default:
#include "stages/compiled.def"
    }
}
#undef ICE_VARIANT_collide
#define ICE_VARIANT_collide(name)

#undef ICE_VARIANT_scatter
#define ICE_VARIANT_scatter(name)                                                                  \
    case ICE_scatter_##name:                                                                       \
        return ice_scatter_##name(constants, u);
/* 1 - cos of the scattering angle; u in (0, 1]. */
ICE_FN float ice_scatter(ice_variant variant, const ice_scatter_constants *constants, float u)
{
    switch (variant) {
    default:
#include "stages/compiled.def"
    }
}
#undef ICE_VARIANT_scatter
#undef ICE_VARIANT_propagate
#undef ICE_VARIANT_collide

#undef ICE_VARIANT_create
#define ICE_VARIANT_propagate(name)
#define ICE_VARIANT_collide(name)
#define ICE_VARIANT_scatter(name)
#define ICE_VARIANT_create(name)                                                                   \
    case ICE_create_##name:                                                                        \
        return ice_create_##name(tables, emission, emission_index, photon_id);
ICE_FN ice_photon ice_create(ice_variant variant, const ice_tables *tables,
                             const ice_emission *emission, uint32_t emission_index,
                             uint32_t photon_id)
{
    switch (variant) {
    default:
#include "stages/compiled.def"
    }
}
#undef ICE_VARIANT_create
#undef ICE_VARIANT_propagate
#undef ICE_VARIANT_collide
#undef ICE_VARIANT_scatter
#undef ICE_VARIANT_compact
#undef ICE_VARIANT

#endif
