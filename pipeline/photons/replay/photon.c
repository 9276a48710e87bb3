#include "pipeline/photons/replay/photon.h"

#include "stages/contact.h"

/* Room for the contacts of one segment. Only overlapping modules can give a segment more. */
enum { CONTACTS = 64 };

typedef struct contact_list {
    uint32_t count;
    struct contact_item {
        ice_arrival arrival;
        bool unreached; /* the photon dies before the impact of this entry */
    } items[CONTACTS];
} contact_list;

static int put_contact(contact_list *list, const ice_arrival *arrival, bool unreached)
{
    if (list->count == CONTACTS) {
        return -1;
    }
    list->items[list->count].arrival = *arrival;
    list->items[list->count++].unreached = unreached;
    return 0;
}

static void put_unreached(contact_list *list, const ice_tables *tables,
                          const ice_contact_search *search, ice_contact contact,
                          const ice_photon *photon);

#define ICE_PUT_ARRIVAL(sink, arrival) put_contact(sink, arrival, false)
#define ICE_DIES_BEFORE_IMPACT(sink, tables, search, contact, photon)                              \
    put_unreached(sink, tables, search, contact, photon)
#include "stages/bounce.h"

/* Keeps an entry before whose impact the photon dies, if it would have ended the photon. If there
 * is no room, there is none for the next hit either, and the segment is searched again behind the
 * last one. */
static void put_unreached(contact_list *list, const ice_tables *tables,
                          const ice_contact_search *search, ice_contact contact,
                          const ice_photon *photon)
{
    if (ice_ends_at_hit(tables, search, contact) || ice_is_absorber(tables, search, contact) ||
        ice_cable_is_before(tables, search, contact)) {
        const ice_arrival arrival = ice_arrive(tables, search, contact, photon);
        put_contact(list, &arrival, true);
    }
}

/* The photon that is followed, and the receiver of its points. */
typedef struct walk {
    const ice_variants *variants;
    const ice_tables *tables;
    const ics_replay_follower *follower;
    ice_random random;
    ice_site site; /* of the position of the photon */
    ice_optics optics;
    ice_photon photon;
    float depth; /* the absorption depth that the photon drew at its creation */
    uint32_t fate;
    /* The segment, as its points report it. */
    ice_photon begin;
    float length;
    ice_direction arriving;
} walk;

/* Reports the point at `distance` (m) from the start of the segment. `absorption` is the absorption
 * depth that is left there. */
static int put_point(const walk *w, ics_replay_kind kind, float distance, float absorption,
                     const ice_arrival *arrival)
{
    const ice_photon *photon = &w->photon;
    const ics_replay_point point = {.kind = kind,
                                    .x = fmaf(distance, photon->dx, photon->x),
                                    .y = fmaf(distance, photon->dy, photon->y),
                                    .z = fmaf(distance, photon->dz, photon->z),
                                    .dx = photon->dx,
                                    .dy = photon->dy,
                                    .dz = photon->dz,
                                    .path =
                                        arrival != NULL ? arrival->path : photon->path + distance,
                                    .absorption = w->depth - absorption,
                                    .wavelength = photon->wavelength,
                                    .scatters = photon->scatters,
                                    .arrival = arrival,
                                    .begin = kind == ICS_REPLAY_START ? NULL : &w->begin,
                                    .length = w->length,
                                    .distance = distance,
                                    .arriving = w->arriving};
    return w->follower->put(w->follower->self, &point);
}

/* Returns the absorption depth that is left after `distance` (m) of a segment. It is exact if the
 * segment lies in one layer. */
static float absorption_after(const walk *w, const ice_bounce *bounce, float distance)
{
    const float share = bounce->length > 0.0f ? distance / bounce->length : 0.0f;
    return fmaf(share, bounce->absorption - w->photon.absorption, w->photon.absorption);
}

/* Returns whether a module ends the photon within this distance (m). `left`: of the segment. */
static bool ends_before(const walk *w, float distance, float left)
{
    for (uint32_t recorded = 0, fate = ICE_ALIVE;;) {
        contact_list list = {.count = 0};
        float length = distance;
        if (ice_record_hits(w->variants->collide, w->tables, &length, left, &w->photon, &list,
                            &fate, &recorded) >= 0) {
            return fate != ICE_ALIVE;
        }
    }
}

/* Returns the distance (m) at which an excluded module ends the photon. Such a module makes no
 * arrival, so the distance is found by halving the segment, with the same collision test as for
 * all photons. 40 halvings are more than a float has digits. */
static float end_at_module(const walk *w, float length, float left)
{
    float before = 0.0f, after = length;
    for (int i = 0; i < 40; ++i) {
        const float middle = 0.5f * (before + after);
        if (ends_before(w, middle, left)) {
            after = middle;
        } else {
            before = middle;
        }
    }
    return after;
}

/* Reports the hits on a segment, and its end if an excluded module absorbs the photon. */
static int put_hits(walk *w, const ice_bounce *bounce)
{
    const float left = ice_left_of(bounce->leaves_world, bounce->absorption);
    uint32_t recorded = 0;
    int32_t hits;
    do {
        contact_list list = {.count = 0};
        float length = bounce->length;
        hits = ice_record_hits(w->variants->collide, w->tables, &length, left, &w->photon, &list,
                               &w->fate, &recorded);
        for (uint32_t i = 0; i < list.count; ++i) {
            const ice_arrival *arrival = &list.items[i].arrival;
            const bool unreached = list.items[i].unreached;
            if (unreached && !w->follower->unreached) {
                continue;
            }
            const float distance = arrival->path - w->photon.path;
            const int result = put_point(w, unreached ? ICS_REPLAY_UNREACHED : ICS_REPLAY_HIT,
                                         distance, absorption_after(w, bounce, distance), arrival);
            if (result) {
                return result;
            }
        }
    } while (hits < 0);
    if (w->fate != ICE_ABSORBED) {
        return 0;
    }
    const float distance = end_at_module(w, bounce->length, left);
    return put_point(w, ICS_REPLAY_ABSORBED, distance, absorption_after(w, bounce, distance), NULL);
}

/* Returns the direction at the end of a segment, before the scatter. */
static ice_direction arriving_of(const walk *w, const ice_bounce *bounce)
{
    ice_photon photon = w->photon;
    if (ICE_HAS(w->tables, ICE_HAS_BIREFRINGENCE)) {
        ice_random random = w->random;
        const ice_normal normal = ice_draw_deflection(w->tables, &random);
        ice_go_to_end(w->tables, bounce->birefringence, bounce->length, normal, &photon);
    }
    return ice_direction_of(&photon);
}

/* Reports the end of a segment: the next scatter, or the end of the photon. */
static int put_end(walk *w, const ice_bounce *bounce)
{
    const ice_direction n = ice_direction_of(&w->photon);
    w->arriving = arriving_of(w, bounce);
    ice_end_bounce(w->variants->scatter, w->tables, bounce, &w->photon, &w->random, &w->fate,
                   &w->site);
    const ics_replay_kind kind = w->fate == ICE_ALIVE      ? ICS_REPLAY_SCATTER
                                 : w->fate == ICE_ABSORBED ? ICS_REPLAY_ABSORBED
                                 : w->fate == ICE_LEFT     ? ICS_REPLAY_LEFT
                                                           : ICS_REPLAY_STOPPED;
    if (kind != ICS_REPLAY_SCATTER) {
        /* ice_end_bounce() counted a scatter and turned the photon, which ended before that. */
        w->photon.scatters -= 1;
        w->photon.dx = n.x;
        w->photon.dy = n.y;
        w->photon.dz = n.z;
    }
    return put_point(w, kind, 0.0f, w->photon.absorption, NULL);
}

static int follow_segment(walk *w)
{
    ice_bounce bounce;
    if (!ice_start_bounce(w->variants->propagate, w->tables, w->random, w->optics, &w->photon,
                          w->site, &bounce)) {
        w->fate = ICE_LEFT;
        return put_point(w, ICS_REPLAY_LEFT, 0.0f, w->photon.absorption, NULL);
    }
    w->begin = w->photon;
    w->length = bounce.length;
    if (bounce.may_collide) {
        const int result = put_hits(w, &bounce);
        if (result || w->fate != ICE_ALIVE) {
            return result;
        }
    }
    return put_end(w, &bounce);
}

bool ics_replay_supports(const ice_variants *variants)
{
    return variants->create < ICE_VARIANT_COUNT && variants->propagate < ICE_VARIANT_COUNT &&
           variants->collide < ICE_VARIANT_COUNT && variants->scatter < ICE_VARIANT_COUNT;
}

int ics_replay_photon_follow(const ice_variants *variants, const ice_tables *tables,
                             const ice_emission *emission, uint32_t photon_id,
                             const ics_replay_follower *follower)
{
    walk w = {.variants = variants,
              .tables = tables,
              .follower = follower,
              .random = ice_random_of(tables, ice_identity_of(emission, photon_id)),
              .photon = ice_create(variants->create, tables, emission, 0, photon_id),
              .fate = ICE_ALIVE};
    w.depth = w.photon.absorption;
    w.optics = ice_optics_at(tables, w.photon.wavelength);
    w.site = ice_site_of(tables, w.photon.x, w.photon.y, w.photon.z);
    int result = put_point(&w, ICS_REPLAY_START, 0.0f, w.photon.absorption, NULL);
    while (!result && w.fate == ICE_ALIVE) {
        result = follow_segment(&w);
    }
    return result;
}
