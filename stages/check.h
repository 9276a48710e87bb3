/* What every stage promises to return (docs/stages.md), and the functions that check it.
 *
 * The checks are compiled only if ICE_CHECK is defined (device.check), so that other kernels have
 * no additional instruction. A value that breaks a promise is recorded in a fault. A harmless value
 * replaces it, so that every loop ends and the host can report the first fault.
 */
#ifndef ICS_STAGES_CHECK_H
#define ICS_STAGES_CHECK_H

#include "stages/contact.h"
#include "stages/segment.h"

/* X(NAME, stage, what the value is, what it must be) */
#define ICE_FAULTS(X)                                                                              \
    X(POSITION, create, "a coordinate", "a finite number (m)")                                     \
    X(DIRECTION, create, "the length of the direction", "1 within 0.001")                          \
    X(DEPTH, create, "the absorption depth", "a finite number from 0 up, or ICE_NOT_EMITTED")      \
    X(WAVELENGTH, create, "the wavelength", "a number from 250 to 700 (nm)")                       \
    X(PATH, create, "the path", "a finite number from 0 up (m)")                                   \
    X(EMISSION, create, "the index of the emission", "the one that was given")                     \
    X(PHOTON, create, "photon_id", "the one that was given")                                       \
    X(SCATTERS, create, "the number of scatters", "0")                                             \
    X(LENGTH, propagate, "the length of the segment", "a finite number from 0 up (m)")             \
    X(REST, propagate, "the absorption depth left",                                                \
      "a number from 0 to the absorption depth at the start")                                      \
    X(MODULE, collide, "the index of the module",                                                  \
      "one below the number of modules, or ICE_NO_MODULE")                                         \
    X(DISTANCE, collide, "the distance of the contact",                                            \
      "a number from 0 to the length of the segment (m)")                                          \
    X(ORDER, collide, "the distance of the contact",                                               \
      "a contact after after_distance, or there with a module above after_module")                 \
    X(MISS, collide, "the index of the module", "a module that the line of the segment crosses")   \
    X(COSINE, scatter, "1 - cos of the scattering angle", "a number from 0 to 2")                  \
    X(COORDINATE, tabulate, "a coordinate", "a number")

typedef enum ice_fault_kind {
    ICE_FAULT_NONE,
#define ICE_FAULT_ITEM(name, stage, what, expected) ICE_FAULT_##name,
    ICE_FAULTS(ICE_FAULT_ITEM)
#undef ICE_FAULT_ITEM
        ICE_FAULT_KINDS
} ice_fault_kind;

/* The first fault of a run of kernels, zeroed before. */
typedef struct ice_fault {
    uint32_t kind;   /* ice_fault_kind */
    float value;     /* what the stage returned */
    float given[8];  /* what the stage was given:
                        propagate: z, nz, scattering, absorption
                        collide: x, y, z, direction, length, after_distance
                        scatter: u
                        tabulate: x, y, z, direction, time */
    ice_identity id; /* create: of the photon */
} ice_fault;

#if defined(ICE_CHECK)

#if defined(__CUDACC__)
extern "C" {
__device__ ice_fault ice_fault_found; /* the host reads it by this name */
}
#define ICE_FAULT_IS_FIRST(kind_) (atomicCAS(&ice_fault_found.kind, 0u, kind_) == 0u)
#else
/* Every thread of the CPU has a graph, and so a fault. */
static _Thread_local ice_fault ice_fault_found;
#define ICE_FAULT_IS_FIRST(kind_)                                                                  \
    (ice_fault_found.kind == 0u ? (ice_fault_found.kind = (kind_), 1) : 0)
#endif

/* Slack of 1 - cos, which the loops clamp, and relative slack of depths: both cover rounding. */
#define ICE_CHECK_COSINE_SLACK 1e-5f
#define ICE_CHECK_DEPTH_SLACK  1e-5f

/* Whether a number is from `low` to `high`; NaN is not. */
ICE_FN int32_t ice_is_between(float value, float low, float high)
{
    return value >= low && value <= high ? 1 : 0;
}

ICE_FN int32_t ice_is_finite(float value)
{
    return fabsf(value) < ICE_INFINITY ? 1 : 0;
}

ICE_FN float ice_checked_cosine(float value, float u)
{
    if (ice_is_between(value, -ICE_CHECK_COSINE_SLACK, 2.0f + ICE_CHECK_COSINE_SLACK)) {
        return value;
    }
    if (ICE_FAULT_IS_FIRST(ICE_FAULT_COSINE)) {
        ice_fault_found.value = value;
        ice_fault_found.given[0] = u;
    }
    return 1.0f;
}

ICE_FN ice_segment ice_checked_segment(ice_segment segment, ice_segment_start start)
{
    if (start.absorption < 0.0f) { /* ICE_NOT_EMITTED */
        return segment;
    }
    const int32_t length = ice_is_finite(segment.length) && segment.length >= 0.0f;
    const float most = start.absorption * (1.0f + ICE_CHECK_DEPTH_SLACK);
    const int32_t rest = ice_is_between(segment.absorption, 0.0f, most);
    if (length && rest) {
        return segment;
    }
    if (ICE_FAULT_IS_FIRST(length ? ICE_FAULT_REST : ICE_FAULT_LENGTH)) {
        ice_fault_found.value = length ? segment.absorption : segment.length;
        ice_fault_found.given[0] = start.z;
        ice_fault_found.given[1] = start.nz;
        ice_fault_found.given[2] = start.scattering;
        ice_fault_found.given[3] = start.absorption;
    }
    const ice_segment nowhere = {0.0f, 0.0f};
    return nowhere;
}

ICE_FN ice_fault_kind ice_fault_of_contact(const ice_tables *tables,
                                           const ice_contact_search *search, ice_contact contact)
{
    if (contact.module == ICE_NO_MODULE) {
        return ICE_FAULT_NONE;
    }
    if (contact.module >= tables->module_count) {
        return ICE_FAULT_MODULE;
    }
    if (!ice_is_between(contact.distance, 0.0f, search->length)) {
        return ICE_FAULT_DISTANCE;
    }
    if (!ice_is_after(search, contact)) {
        return ICE_FAULT_ORDER;
    }
    const ice_approach approach =
        ice_approach_to(&tables->modules[contact.module], tables->radius, search->x, search->y,
                        search->z, search->direction);
    if (approach.half < 0.0f ||
        !(ice_body_entry_of(tables, search, contact.module, &approach).distance < ICE_NO_ENTRY)) {
        return ICE_FAULT_MISS;
    }
    return ICE_FAULT_NONE;
}

ICE_FN ice_contact ice_checked_contact(const ice_tables *tables, const ice_contact_search *search,
                                       ice_contact contact)
{
    const ice_fault_kind kind = ice_fault_of_contact(tables, search, contact);
    if (kind == ICE_FAULT_NONE) {
        return contact;
    }
    if (ICE_FAULT_IS_FIRST(kind)) {
        const int32_t of_module = kind == ICE_FAULT_MODULE || kind == ICE_FAULT_MISS;
        ice_fault_found.value = of_module ? (float)contact.module : contact.distance;
        ice_fault_found.given[0] = search->x;
        ice_fault_found.given[1] = search->y;
        ice_fault_found.given[2] = search->z;
        ice_fault_found.given[3] = search->direction.x;
        ice_fault_found.given[4] = search->direction.y;
        ice_fault_found.given[5] = search->direction.z;
        ice_fault_found.given[6] = search->length;
        ice_fault_found.given[7] = search->after_distance;
    }
    return ice_no_contact();
}

/* Returns the length of the direction of a photon. */
ICE_FN float ice_direction_length(const ice_photon *photon)
{
    return ice_sqrt(
        fmaf(photon->dx, photon->dx, fmaf(photon->dy, photon->dy, photon->dz * photon->dz)));
}

/* Sets *value to what is wrong. */
ICE_FN ice_fault_kind ice_fault_of_photon(const ice_photon *photon, uint32_t emission,
                                          uint32_t photon_id, float *value)
{
    const float position[3] = {photon->x, photon->y, photon->z};
    for (int32_t i = 0; i < 3; ++i) {
        *value = position[i];
        if (!ice_is_finite(*value)) {
            return ICE_FAULT_POSITION;
        }
    }
    *value = ice_direction_length(photon);
    if (!ice_is_between(*value, 0.999f, 1.001f)) {
        return ICE_FAULT_DIRECTION;
    }
    *value = photon->absorption;
    if (!ice_is_finite(*value) || (*value < 0.0f && *value != ICE_NOT_EMITTED)) {
        return ICE_FAULT_DEPTH;
    }
    *value = photon->wavelength;
    if (!ice_is_between(*value, (float)ICE_SPECTRAL_FIRST,
                        (float)(ICE_SPECTRAL_FIRST + ICE_SPECTRAL_ROWS - 1))) {
        return ICE_FAULT_WAVELENGTH;
    }
    *value = photon->path;
    if (!ice_is_finite(*value) || *value < 0.0f) {
        return ICE_FAULT_PATH;
    }
    *value = (float)photon->emission;
    if (photon->emission != emission) {
        return ICE_FAULT_EMISSION;
    }
    *value = (float)photon->photon_id;
    if (photon->photon_id != photon_id) {
        return ICE_FAULT_PHOTON;
    }
    *value = (float)photon->scatters;
    return photon->scatters != 0 ? ICE_FAULT_SCATTERS : ICE_FAULT_NONE;
}

/* A photon that breaks a promise is replaced by one that is absorbed at once. */
ICE_FN ice_photon ice_checked_photon(ice_photon photon, const ice_emission *emission,
                                     uint32_t emission_index, uint32_t photon_id)
{
    float value;
    const ice_fault_kind kind = ice_fault_of_photon(&photon, emission_index, photon_id, &value);
    if (kind == ICE_FAULT_NONE) {
        return photon;
    }
    if (ICE_FAULT_IS_FIRST(kind)) {
        ice_fault_found.value = value;
        ice_fault_found.id = ice_identity_of(emission, photon_id);
    }
    const ice_photon absorbed = {0.0f, 0.0f, 0.0f,   0.0f,           0.0f,      0.0f,
                                 1.0f, 0.0f, 400.0f, emission_index, photon_id, 0};
    return absorbed;
}

#define ICE_CHECKED_PHOTON(photon, emission, index, id)                                            \
    ice_checked_photon(photon, emission, index, id)
#define ICE_CHECKED_SEGMENT(segment, start)          ice_checked_segment(segment, start)
#define ICE_CHECKED_CONTACT(tables, search, contact) ice_checked_contact(tables, search, contact)
#define ICE_CHECKED_COSINE(value, u)                 ice_checked_cosine(value, u)

#else

#define ICE_CHECKED_PHOTON(photon, emission, index, id) (photon)
#define ICE_CHECKED_SEGMENT(segment, start)             (segment)
#define ICE_CHECKED_CONTACT(tables, search, contact)    (contact)
#define ICE_CHECKED_COSINE(value, u)                    (value)

#endif

#endif
