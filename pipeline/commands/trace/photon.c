#include "pipeline/commands/trace/photon.h"

/* Room for the arrivals of one segment. Only overlapping modules can give a segment more. */
enum { ARRIVALS = 64 };

typedef struct arrival_list {
    uint32_t count;
    ice_arrival items[ARRIVALS];
} arrival_list;

static int put_arrival(arrival_list *list, const ice_arrival *arrival)
{
    if (list->count == ARRIVALS) {
        return -1;
    }
    list->items[list->count++] = *arrival;
    return 0;
}
#define ICE_PUT_ARRIVAL(sink, arrival) put_arrival(sink, arrival)
#include "stages/bounce.h"

/* The photon that is followed, and the receiver of its points. */
typedef struct walk {
    const ice_variants *variants;
    const ice_tables *tables;
    const ics_trace_sink *sink;
    ice_random random;
    ice_site site; /* of the position of the photon */
    ice_optics optics;
    ice_photon photon;
    float depth; /* the absorption depth that the photon drew at its creation */
    uint32_t fate;
} walk;

/* Reports the point at `distance` (m) from the start of the segment. `absorption` is the absorption
 * depth that is left there. */
static int put_point(const walk *w, ics_trace_kind kind, float distance, float absorption,
                     const ice_arrival *arrival)
{
    const ice_photon *photon = &w->photon;
    const ics_trace_point point = {.kind = kind,
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
                                   .arrival = arrival};
    return w->sink->put(w->sink->self, &point);
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
        arrival_list list = {.count = 0};
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
        arrival_list list = {.count = 0};
        float length = bounce->length;
        hits = ice_record_hits(w->variants->collide, w->tables, &length, left, &w->photon, &list,
                               &w->fate, &recorded);
        for (uint32_t i = 0; i < list.count; ++i) {
            const float distance = list.items[i].path - w->photon.path;
            const int result = put_point(w, ICS_TRACE_HIT, distance,
                                         absorption_after(w, bounce, distance), &list.items[i]);
            if (result) {
                return result;
            }
        }
    } while (hits < 0);
    if (w->fate != ICE_ABSORBED) {
        return 0;
    }
    const float distance = end_at_module(w, bounce->length, left);
    return put_point(w, ICS_TRACE_ABSORBED, distance, absorption_after(w, bounce, distance), NULL);
}

/* Reports the end of a segment: the next scatter, or the end of the photon. */
static int put_end(walk *w, const ice_bounce *bounce)
{
    const ice_direction n = {w->photon.dx, w->photon.dy, w->photon.dz};
    ice_end_bounce(w->variants->scatter, w->tables, bounce, &w->photon, &w->random, &w->fate,
                   &w->site);
    const ics_trace_kind kind = w->fate == ICE_ALIVE      ? ICS_TRACE_SCATTER
                                : w->fate == ICE_ABSORBED ? ICS_TRACE_ABSORBED
                                : w->fate == ICE_LEFT     ? ICS_TRACE_LEFT
                                                          : ICS_TRACE_STOPPED;
    if (kind != ICS_TRACE_SCATTER) {
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
        return put_point(w, ICS_TRACE_LEFT, 0.0f, w->photon.absorption, NULL);
    }
    if (bounce.may_collide) {
        const int result = put_hits(w, &bounce);
        if (result || w->fate != ICE_ALIVE) {
            return result;
        }
    }
    return put_end(w, &bounce);
}

bool ics_trace_supports(const ice_variants *variants)
{
    return variants->create < ICE_VARIANT_COUNT && variants->propagate < ICE_VARIANT_COUNT &&
           variants->collide < ICE_VARIANT_COUNT && variants->scatter < ICE_VARIANT_COUNT;
}

int ics_trace_photon(const ice_variants *variants, const ice_tables *tables,
                     const ice_emission *emission, uint32_t photon_id, const ics_trace_sink *sink)
{
    walk w = {.variants = variants,
              .tables = tables,
              .sink = sink,
              .random = ice_random_of(tables, ice_identity_of(emission, photon_id)),
              .photon = ice_create(variants->create, tables, emission, 0, photon_id),
              .fate = ICE_ALIVE};
    w.depth = w.photon.absorption;
    w.optics = ice_optics_at(tables, w.photon.wavelength);
    w.site = ice_site_of(tables, w.photon.x, w.photon.y, w.photon.z);
    int result = put_point(&w, ICS_TRACE_START, 0.0f, w.photon.absorption, NULL);
    while (!result && w.fate == ICE_ALIVE) {
        result = follow_segment(&w);
    }
    return result;
}
