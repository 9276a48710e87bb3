/* Where a segment enters a module (physics.md 8.2, 8.3, 8.9, 8.19): shared by all collide variants.
 */
#ifndef ICS_STAGES_CONTACT_H
#define ICS_STAGES_CONTACT_H

#include "stages/direction.h"
#include "stages/photon.h"
#include "stages/shape_registry.h"
#include "stages/tables.h"

#define ICE_NO_MODULE 0xffffffffu

/* A search for the next contact along a segment. Only contacts after (after_distance,
 * after_module), in the order of distance and then of module, count. A photon that continues after
 * a hit therefore hits every module of a segment once. */
typedef struct ice_contact_search {
    float x, y, z; /* start of the segment, m */
    ice_direction direction;
    float length;         /* m */
    float after_distance; /* m; -1 for the first search */
    uint32_t after_module;
} ice_contact_search;

/* 1: a contact counts the modules that were tested, for histograms
 * (stages/histograms/candidates.h). */
#ifndef ICE_COUNTS_CANDIDATES
#define ICE_COUNTS_CANDIDATES 0
#endif

typedef struct ice_contact {
    float distance;  /* along the segment, m; of an entry that to the enlarged module */
    uint32_t module; /* ICE_NO_MODULE: none */
#if ICE_COUNTS_CANDIDATES
    uint32_t tested; /* modules that the search has tested, each as often as it was tested */
#endif
} ice_contact;

/* What a search begins with. */
ICE_FN ice_contact ice_no_contact(void)
{
    ice_contact none;
    none.distance = 0.0f;
    none.module = ICE_NO_MODULE;
#if ICE_COUNTS_CANDIDATES
    none.tested = 0;
#endif
    return none;
}

/* Whether a contact with a module comes after those that the search has had. */
ICE_FN int32_t ice_is_after(const ice_contact_search *search, ice_contact contact)
{
    return contact.distance > search->after_distance ||
           (contact.distance == search->after_distance && contact.module > search->after_module);
}

/* Returns how many modules a search has tested; 0 in a compilation that does not count them. */
ICE_FN uint32_t ice_tested_by(ice_contact contact)
{
#if ICE_COUNTS_CANDIDATES
    return contact.tested;
#else
    (void)contact;
    return 0;
#endif
}

/* The vector from the start of a segment to the centre of a module, m, and its parts. */
typedef struct ice_approach {
    float x, y, z;
    float along;      /* component along the segment, m */
    float ex, ey, ez; /* component across the segment: the impact vector, m */
    float half;       /* half of the line's chord in the oversized module, which is wide only across
                         the line, m; negative: the line misses the module */
} ice_approach;

/* Computes the components of the impact vector first and squares them then. The form of the
 * textbooks, |d|^2 - (d.n)^2, loses digits: at 200 m it makes 11 % wrong decisions
 * (physics.md 8.2). */
ICE_FN ice_approach ice_approach_to(const ice_sphere *module, float radius, float x, float y,
                                    float z, ice_direction n)
{
    ice_approach d;
    d.x = module->x - x;
    d.y = module->y - y;
    d.z = module->z - z;
    d.along = fmaf(d.x, n.x, fmaf(d.y, n.y, d.z * n.z));
    d.ex = fmaf(-d.along, n.x, d.x);
    d.ey = fmaf(-d.along, n.y, d.y);
    d.ez = fmaf(-d.along, n.z, d.z);
    const float wide = radius * module->oversize;
    const float discriminant = fmaf(wide, wide, -fmaf(d.ex, d.ex, fmaf(d.ey, d.ey, d.ez * d.ez)));
    d.half = discriminant >= 0.0f ? ice_div(ice_sqrt(discriminant), module->oversize) : -1.0f;
    return d;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

/* Whether this compilation may find modules of a shape. */
#define ICE_MAY_HAVE_SHAPE(shape) ((ICE_ONLY_FEATURES & ICE_HAS_SHAPE(shape)) != 0)

/* Returns a vector of the detector's frame in the frame of a module with this rotation. */
ICE_FN ice_direction ice_rotate_back(ice_rotation q, ice_direction v)
{
    /* v - w t + q x t with t = 2 (q x v), where q is the vector of the quaternion. */
    const float tx = 2.0f * fmaf(q.y, v.z, -(q.z * v.y));
    const float ty = 2.0f * fmaf(q.z, v.x, -(q.x * v.z));
    const float tz = 2.0f * fmaf(q.x, v.y, -(q.y * v.x));
    ice_direction turned;
    turned.x = fmaf(-q.w, tx, fmaf(q.y, tz, -(q.z * ty))) + v.x;
    turned.y = fmaf(-q.w, ty, fmaf(q.z, tx, -(q.x * tz))) + v.y;
    turned.z = fmaf(-q.w, tz, fmaf(q.x, ty, -(q.y * tx))) + v.z;
    return turned;
}

/* Returns where a line enters the body of a module. `line` is in the detector's frame. */
ICE_RARE_FN ice_body_entry ice_enter_body(ice_shapes shapes, uint32_t module, ice_line line)
{
    const uint32_t word = ice_module_word(shapes, module);
    const ice_body body = shapes.table->bodies[word & (ICE_BODIES - 1)];
    const uint32_t orientation = word >> ICE_TYPE_BITS;
    if (orientation) {
        const ice_rotation rotation = ((const ice_rotation *)ice_shape_array(
            shapes.table, shapes.table->rotations))[orientation];
        const ice_direction point = {line.x, line.y, line.z};
        const ice_direction turned = ice_rotate_back(rotation, point);
        line.x = turned.x;
        line.y = turned.y;
        line.z = turned.z;
        line.direction = ice_rotate_back(rotation, line.direction);
    }
#define ICE_ENTER_CASE(NAME, name, yaml, sizes, text)                                              \
    if (ICE_MAY_HAVE_SHAPE(ICE_SHAPE_##NAME) && body.shape == ICE_SHAPE_##NAME) {                  \
        return ice_enter_##name(shapes, &body, &line);                                             \
    }
    ICE_SHAPES(ICE_ENTER_CASE)
#undef ICE_ENTER_CASE
    return ice_body_entry_at(ICE_NO_ENTRY);
}

/* Returns where the line of a segment enters a module, as a distance from the line's point of
 * closest approach. d->half >= 0: the line enters the sphere around the body. */
ICE_FN ice_body_entry ice_body_entry_of(const ice_tables *tables, const ice_contact_search *search,
                                        uint32_t module, const ice_approach *d)
{
    if (!ICE_HAS(tables, ICE_HAS_SHAPES)) {
        return ice_body_entry_at(-d->half);
    }
    const float oversize = tables->modules[module].oversize;
    const float shrink = ice_div(-1.0f, oversize);
    ice_line line = {shrink * d->ex, shrink * d->ey,
                     shrink * d->ez, search->direction,
                     -d->along,      search->length - d->along,
                     oversize,       fmaf(d->ex, d->ex, fmaf(d->ey, d->ey, d->ez * d->ez))};
    if (ICE_HAS(tables, ICE_HAS_ENTRIES)) {
        line.from *= -shrink;
        line.to *= -shrink;
    }
    return ice_enter_body(tables->shapes, module, line);
}

/* Returns where a segment meets a module, as a distance (m) along it: where it enters the module
 * that is wide across it only, or, with ICE_HAS_ENTRIES, the one that is enlarged in all
 * directions. `entry`: the distance of the first one from the line's point of closest approach,
 * which is `along`; that of the second one is `oversize` times as large. With oversize 1 both are
 * the same, to the bit. */
ICE_FN float ice_distance_of(const ice_tables *tables, float oversize, float along, float entry)
{
    return ICE_HAS(tables, ICE_HAS_ENTRIES) ? fmaf(oversize, entry, along) : along + entry;
}

/* ---- contacts -------------------------------------------------------------------------------- */

/* Whether the line of a contact meets the module at its true size. Of the contacts with an
 * oversized module this is a share of 1 / F^2. */
ICE_FN int32_t ice_meets_true_module(const ice_tables *tables, const ice_contact_search *search,
                                     ice_contact contact)
{
    ice_sphere module = tables->modules[contact.module];
    module.oversize = 1.0f;
    const ice_approach d = ice_approach_to(&module, tables->radius, search->x, search->y, search->z,
                                           search->direction);
    if (d.half < 0.0f || !ICE_HAS(tables, ICE_HAS_SHAPES)) {
        return d.half >= 0.0f ? 1 : 0;
    }
    const ice_line line = {
        -d.ex,    -d.ey,        -d.ez, search->direction,
        -d.along, ICE_INFINITY, 1.0f,  fmaf(d.ex, d.ex, fmaf(d.ey, d.ey, d.ez * d.ez))};
    return ice_enter_body(tables->shapes, contact.module, line).distance < ICE_NO_ENTRY ? 1 : 0;
}

/* Updates *nearest if the segment enters the module *module, whose sphere this is, and earlier than
 * *nearest. The entry must lie on the segment, so that a photon that starts inside a module leaves
 * it without a hit. At equal distances the lower module index counts as nearer. The index is in
 * memory, because few segments that are tested need it. */
ICE_FN void ice_try_sphere(const ice_tables *tables, const ice_contact_search *search,
                           const ice_sphere *sphere, const uint32_t *module, ice_contact *nearest)
{
    const ice_approach d =
        ice_approach_to(sphere, tables->radius, search->x, search->y, search->z, search->direction);
    float distance = ice_distance_of(tables, sphere->oversize, d.along, -d.half);
#if ICE_COUNTS_CANDIDATES
    ++nearest->tested;
#endif
    if (ICE_HAS(tables, ICE_HAS_SHAPES)) {
        /* Most segments end before the sphere around the body, or start behind it. */
        if (d.half < 0.0f || distance > search->length ||
            ice_distance_of(tables, sphere->oversize, d.along, d.half) < 0.0f) {
            return;
        }
    } else if (d.half < 0.0f || distance < 0.0f || distance > search->length) {
        return;
    }
    if (ICE_HAS(tables, ICE_HAS_SHAPES)) {
        const float entry = ice_body_entry_of(tables, search, *module, &d).distance;
        distance = ice_distance_of(tables, sphere->oversize, d.along, entry);
        if (!(entry < ICE_NO_ENTRY) || distance < 0.0f || distance > search->length) {
            return;
        }
    }
    /* In the first search of a segment after_distance is -1. A compiler then leaves this test out.
     */
    if (search->after_distance >= 0.0f &&
        (distance < search->after_distance ||
         (distance == search->after_distance && *module <= search->after_module))) {
        return;
    }
    if (nearest->module == ICE_NO_MODULE || distance < nearest->distance ||
        (distance == nearest->distance && *module < nearest->module)) {
        nearest->distance = distance;
        nearest->module = *module;
    }
}

ICE_FN void ice_try_module(const ice_tables *tables, const ice_contact_search *search,
                           uint32_t module, ice_contact *nearest)
{
    ice_try_sphere(tables, search, &tables->modules[module], &module, nearest);
}

/* Whether a module, or the part of it that a segment meets, absorbs photons and records none
 * (physics.md 8.6, 8.9). */
ICE_FN int32_t ice_is_absorber(const ice_tables *tables, const ice_contact_search *search,
                               ice_contact contact)
{
    if (tables->absorbs[contact.module]) {
        return 1;
    }
    if (!ICE_HAS(tables, ICE_HAS_ABSORBERS)) {
        return 0;
    }
    const ice_approach d = ice_approach_to(&tables->modules[contact.module], tables->radius,
                                           search->x, search->y, search->z, search->direction);
    return ice_body_entry_of(tables, search, contact.module, &d).part == ICE_PART_ABSORBER ? 1 : 0;
}

/* Returns how far (m) along the segment, or its straight continuation, the impact of a contact is
 * (physics.md 8.3). */
ICE_FN float ice_impact_of(const ice_tables *tables, const ice_contact_search *search,
                           ice_contact contact)
{
    if (!ICE_HAS(tables, ICE_HAS_ENTRIES)) {
        return contact.distance;
    }
    const ice_approach d = ice_approach_to(&tables->modules[contact.module], tables->radius,
                                           search->x, search->y, search->z, search->direction);
    return d.along + ice_body_entry_of(tables, search, contact.module, &d).distance;
}

/* Returns the arrival for a contact. The point of impact is scaled back to the true size of the
 * module (physics.md 8.3). The function reads the path (at the start of the segment), the
 * wavelength, the scatters and the identity of the photon. */
ICE_FN ice_arrival ice_arrive(const ice_tables *tables, const ice_contact_search *search,
                              ice_contact contact, const ice_photon *photon)
{
    const ice_sphere *module = &tables->modules[contact.module];
    const ice_approach d =
        ice_approach_to(module, tables->radius, search->x, search->y, search->z, search->direction);
    const float shrink = ice_div(-1.0f, module->oversize);
    const ice_body_entry entry = ice_body_entry_of(tables, search, contact.module, &d);
    ice_arrival arrival;
    arrival.emission = photon->emission;
    arrival.photon_id = photon->photon_id;
    arrival.module = ice_module_with_part(contact.module, entry.part);
    arrival.scatters = photon->scatters;
    arrival.x = fmaf(shrink, d.ex, entry.distance * search->direction.x);
    arrival.y = fmaf(shrink, d.ey, entry.distance * search->direction.y);
    arrival.z = fmaf(shrink, d.ez, entry.distance * search->direction.z);
    arrival.path = photon->path +
                   (ICE_HAS(tables, ICE_HAS_ENTRIES) ? d.along + entry.distance : contact.distance);
    arrival.dx = search->direction.x;
    arrival.dy = search->direction.y;
    arrival.dz = search->direction.z;
    arrival.wavelength = photon->wavelength;
    return arrival;
}

#endif
