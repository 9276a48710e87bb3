/* Where a segment enters a module (physics.md 8.2, 8.3): shared by all collide variants. */
#ifndef ICS_STAGES_CONTACT_H
#define ICS_STAGES_CONTACT_H

#include "stages/direction.h"
#include "stages/photon.h"
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

typedef struct ice_contact {
    float distance;  /* along the segment, m */
    uint32_t module; /* ICE_NO_MODULE: none */
} ice_contact;

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

/* Updates *nearest if the segment enters this module, and earlier than *nearest. The entry must lie
 * on the segment, so that a photon that starts inside a module leaves it without a hit. At equal
 * distances the lower module index counts as nearer. */
ICE_FN void ice_try_module(const ice_tables *tables, const ice_contact_search *search,
                           uint32_t module, ice_contact *nearest)
{
    const ice_approach d = ice_approach_to(&tables->modules[module], tables->radius, search->x,
                                           search->y, search->z, search->direction);
    const float distance = d.along - d.half;
    if (d.half < 0.0f || distance < 0.0f || distance > search->length) {
        return;
    }
    if (distance < search->after_distance ||
        (distance == search->after_distance && module <= search->after_module)) {
        return;
    }
    if (nearest->module == ICE_NO_MODULE || distance < nearest->distance ||
        (distance == nearest->distance && module < nearest->module)) {
        nearest->distance = distance;
        nearest->module = module;
    }
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
    ice_arrival arrival;
    arrival.emission = photon->emission;
    arrival.photon_id = photon->photon_id;
    arrival.module = contact.module;
    arrival.scatters = photon->scatters;
    arrival.x = fmaf(shrink, d.ex, -d.half * search->direction.x);
    arrival.y = fmaf(shrink, d.ey, -d.half * search->direction.y);
    arrival.z = fmaf(shrink, d.ez, -d.half * search->direction.z);
    arrival.path = photon->path + contact.distance;
    arrival.dx = search->direction.x;
    arrival.dy = search->direction.y;
    arrival.dz = search->direction.z;
    arrival.wavelength = photon->wavelength;
    return arrival;
}

#endif
