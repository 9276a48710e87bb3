/* The choice of stage variants: one function per stage that calls the chosen variant.
 *
 * stages/registry.h is made from the rows of registry.def. It includes the headers of all variants,
 * and it lists the variants: ICE_SCATTER_VARIANTS(X) stands for
 *     X(scatter, hg_sl, "hg-sl", "what it does") X(scatter, hg, "hg", "what it does") ...
 * There is such a list for every stage; ICE_VARIANTS(X) is all of them.
 *
 * A user's header adds a variant to this compilation: if ICE_CUSTOM_create, _propagate, _collide or
 * _scatter is defined, it is the quoted name of the file to include. That file defines
 * ice_STAGE_custom with the parameters and the result of the other variants of the stage
 * (docs/stages.md). stages/tabulate/tabulate_custom.h includes the header of the stage tabulate.
 *
 * On the CPU the choice is an argument, which the branch predictor learns at once. On a GPU it is a
 * constant of the run's kernels, so that only the chosen variants remain in the code.
 */
#ifndef ICS_STAGES_VARIANTS_H
#define ICS_STAGES_VARIANTS_H

#include "stages/check.h"
#include "stages/compact_partition.h"
#include "stages/profile.h"
#include "stages/reach.h"
#include "stages/registry.h"
#include "stages/segment.h"

/* ---- the user's headers --------------------------------------------------------------------- */

/* They come after all other headers, so that they can call what those define. The lists
 * ICE_STAGE_COMPILED(X) include them: all variants of a stage that this compilation can call. */
#ifdef ICE_CUSTOM_create
#include ICE_CUSTOM_create
#define ICE_CREATE_COMPILED(X) ICE_CREATE_VARIANTS(X) X(create, custom, "custom", "a user's header")
#else
#define ICE_CREATE_COMPILED(X) ICE_CREATE_VARIANTS(X)
#endif
#ifdef ICE_CUSTOM_propagate
#include ICE_CUSTOM_propagate
#endif
#ifdef ICE_CUSTOM_collide
#include ICE_CUSTOM_collide
#define ICE_COLLIDE_COMPILED(X)                                                                    \
    ICE_COLLIDE_VARIANTS(X) X(collide, custom, "custom", "a user's header")
#else
#define ICE_COLLIDE_COMPILED(X) ICE_COLLIDE_VARIANTS(X)
#endif
#ifdef ICE_CUSTOM_scatter
#include ICE_CUSTOM_scatter
#define ICE_SCATTER_COMPILED(X)                                                                    \
    ICE_SCATTER_VARIANTS(X) X(scatter, custom, "custom", "a user's header")
#else
#define ICE_SCATTER_COMPILED(X) ICE_SCATTER_VARIANTS(X)
#endif

/* ---- numbers -------------------------------------------------------------------------------- */

/* ICE_create_cherenkov, ICE_propagate_cumulative, ...: one number for every variant. The numbers
 * are the same in every compilation, whether it has the user's headers or not. */
#define ICE_NUMBER(stage, name, yaml, text) ICE_##stage##_##name,
typedef enum ice_variant {
    ICE_VARIANTS(ICE_NUMBER) ICE_VARIANT_COUNT,
    ICE_create_custom,
    ICE_propagate_custom,
    ICE_collide_custom,
    ICE_scatter_custom
} ice_variant;

/* One variant for every stage. */
typedef struct ice_variants {
    ice_variant create, propagate, collide, scatter, compact;
} ice_variants;

/* ---- the choice ----------------------------------------------------------------------------- */

/* The variant of a stage that this compilation calls if it is asked for `variant`. Kernels of one
 * run know it (kernels/cpu/custom.c), so that the compiler leaves out the others. */
#ifndef ICE_ONLY_create
#define ICE_ONLY_create(variant) (variant)
#endif
#ifndef ICE_ONLY_propagate
#define ICE_ONLY_propagate(variant) (variant)
#endif
#ifndef ICE_ONLY_collide
#define ICE_ONLY_collide(variant) (variant)
#endif
#ifndef ICE_ONLY_scatter
#define ICE_ONLY_scatter(variant) (variant)
#endif

/* A number that is no variant of the stage chooses the first one. */

#define ICE_CREATE_CASE(stage, name, yaml, text)                                                   \
    case ICE_create_##name:                                                                        \
        return ICE_CHECKED_PHOTON(ice_create_##name(tables, emission, emission_index, photon_id),  \
                                  emission, emission_index, photon_id);
/* Creates a photon of an emission without a profile. */
ICE_FN ice_photon ice_create_plain(ice_variant variant, const ice_tables *tables,
                                   const ice_emission *emission, uint32_t emission_index,
                                   uint32_t photon_id)
{
    switch (ICE_ONLY_create(variant)) {
    default:
        ICE_CREATE_COMPILED(ICE_CREATE_CASE)
    }
}

/* Whether this compilation makes photons of emissions with a profile. Kernels of a GPU do so only
 * if a batch has needed it, because the others are faster without it (graphs/gpu.h). */
#if defined(GPU_SPECIAL_PROFILES)
#define ICE_MAKES_PROFILES GPU_SPECIAL_PROFILES
#else
#define ICE_MAKES_PROFILES 1
#endif

/* Creates a photon. If the emission has a profile, the stage gets the emission of this photon. */
ICE_FN ice_photon ice_create(ice_variant variant, const ice_tables *tables,
                             const ice_emission *emission, uint32_t emission_index,
                             uint32_t photon_id)
{
    if (!ICE_MAKES_PROFILES) {
        return ice_create_plain(variant, tables, emission, emission_index, photon_id);
    }
    ice_photon_step own;
    own.is_stopped = 0;
    if (emission->flags & ICE_EMISSION_PROFILE) {
        ice_profile_draw_step(ice_profile_setting_of(tables), emission, photon_id, &own);
        emission = &own.emission;
    }
    ice_photon photon = ice_create_plain(variant, tables, emission, emission_index, photon_id);
    photon.absorption = own.is_stopped ? ICE_NOT_EMITTED : photon.absorption;
    return photon;
}

/* Returns the segment from a start, by a built-in variant, if the segment leaves its first layer.
 */
#define ICE_PROPAGATE_BEYOND_CASE(stage, name, yaml, text)                                         \
    case ICE_propagate_##name:                                                                     \
        return ice_propagate_beyond_##name(tables, start);
ICE_FN ice_segment ice_propagate_beyond(ice_variant variant, const ice_tables *tables,
                                        ice_segment_start start)
{
    switch (ICE_ONLY_propagate(variant)) {
    default:
        ICE_PROPAGATE_VARIANTS(ICE_PROPAGATE_BEYOND_CASE)
    }
}

/* Whether every segment needs a call of ice_propagate(). Otherwise a loop may compute all segments
 * by ice_segment_in_layer() first, and the others by ice_propagate_beyond(). */
ICE_FN int32_t ice_propagates_all(ice_variant variant)
{
#if defined(ICE_CHECK)
    (void)variant;
    return 1;
#elif defined(ICE_CUSTOM_propagate)
    return ICE_ONLY_propagate(variant) == ICE_propagate_custom ? 1 : 0;
#else
    (void)variant;
    return 0;
#endif
}

/* Returns the segment from a start by a built-in variant. Only `cumulative` computes the layer
 * after the first one together with it; the results do not depend on that. */
ICE_FN ice_segment ice_propagate_built_in(ice_variant variant, const ice_tables *tables,
                                          ice_segment_start start)
{
    if (ICE_ONLY_propagate(variant) == ICE_propagate_cumulative) {
        return ice_propagate_cumulative(tables, start);
    }
    int32_t leaves;
    const ice_segment segment = ice_segment_in_layer(tables, start, &leaves);
    return leaves ? ice_propagate_beyond(variant, tables, start) : segment;
}

/* Returns the segment from a start, in ice without columns. All built-in variants share the
 * shortcut for a segment that stays in its layer. A user's header decides about every segment. */
ICE_FN ice_segment ice_propagate(ice_variant variant, const ice_tables *tables,
                                 ice_segment_start start)
{
#ifdef ICE_CUSTOM_propagate
    if (ICE_ONLY_propagate(variant) == ICE_propagate_custom && start.absorption < 0.0f) {
        const ice_segment not_emitted = {start.absorption, 0.0f};
        return not_emitted;
    }
    if (ICE_ONLY_propagate(variant) == ICE_propagate_custom) {
        return ICE_CHECKED_SEGMENT(ice_propagate_custom(tables, start), start);
    }
#endif
    return ICE_CHECKED_SEGMENT(ice_propagate_built_in(variant, tables, start), start);
}

#define ICE_COLLIDE_CASE(stage, name, yaml, text)                                                  \
    case ICE_collide_##name:                                                                       \
        return ICE_CHECKED_CONTACT(tables, search, ice_collide_##name(tables, search));
ICE_FN ice_contact ice_collide(ice_variant variant, const ice_tables *tables,
                               const ice_contact_search *search)
{
    switch (ICE_ONLY_collide(variant)) {
    default:
        ICE_COLLIDE_COMPILED(ICE_COLLIDE_CASE)
    }
}

/* 1 - cos of the scattering angle; u in (0, 1]. */
#define ICE_SCATTER_CASE(stage, name, yaml, text)                                                  \
    case ICE_scatter_##name:                                                                       \
        return ICE_CHECKED_COSINE(ice_scatter_##name(constants, u), u);
ICE_FN float ice_scatter(ice_variant variant, const ice_scatter_constants *constants, float u)
{
    switch (ICE_ONLY_scatter(variant)) {
    default:
        ICE_SCATTER_COMPILED(ICE_SCATTER_CASE)
    }
}

#endif
