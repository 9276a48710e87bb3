#include "pipeline/tools/trace/trace_photon.h"

/* The arrivals of one segment; more than any segment has, unless modules overlap. */
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

/* A photon under way, and who looks on. */
typedef struct walk {
    const ice_variants *variants;
    const ice_tables *tables;
    const ics_trace_sink *sink;
    ice_identity identity;
    ice_optics optics;
    ice_photon photon;
    float depth; /* absorption depth that it was given */
    uint32_t fate;
} walk;

/* Tells of a point so far behind the start of the segment, where `absorption` is left. */
static int tell(const walk *w, ics_trace_kind kind, float distance, float absorption,
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

/* What is left of the absorption depth after part of a segment; exact within one layer. */
static float absorption_after(const walk *w, const ice_bounce *bounce, float distance)
{
    const float share = bounce->length > 0.0f ? distance / bounce->length : 0.0f;
    return fmaf(share, bounce->absorption - w->photon.absorption, w->photon.absorption);
}

/* Whether a module has ended the photon before this distance. */
static bool ends_before(const walk *w, float distance)
{
    for (uint32_t recorded = 0, fate = ICE_ALIVE;;) {
        arrival_list list = {.count = 0};
        if (ice_record_hits(w->variants->collide, w->tables, distance, &w->photon, &list, &fate,
                            &recorded) >= 0) {
            return fate != ICE_ALIVE;
        }
    }
}

/* Where an excluded module, which leaves no arrival, ends the photon on a segment. Halving finds
 * it with what there is for all photons; 40 times are more than the digits of the length. */
static float end_at_module(const walk *w, float length)
{
    float before = 0.0f, after = length;
    for (int i = 0; i < 40; ++i) {
        const float middle = 0.5f * (before + after);
        if (ends_before(w, middle)) {
            after = middle;
        } else {
            before = middle;
        }
    }
    return after;
}

/* Tells of the modules on a segment. */
static int tell_hits(walk *w, const ice_bounce *bounce)
{
    uint32_t recorded = 0;
    int32_t hits;
    do {
        arrival_list list = {.count = 0};
        hits = ice_record_hits(w->variants->collide, w->tables, bounce->length, &w->photon, &list,
                               &w->fate, &recorded);
        for (uint32_t i = 0; i < list.count; ++i) {
            const float distance = list.items[i].path - w->photon.path;
            const int result = tell(w, ICS_TRACE_HIT, distance,
                                    absorption_after(w, bounce, distance), &list.items[i]);
            if (result) {
                return result;
            }
        }
    } while (hits < 0);
    if (w->fate != ICE_ABSORBED) {
        return 0;
    }
    const float distance = end_at_module(w, bounce->length);
    return tell(w, ICS_TRACE_ABSORBED, distance, absorption_after(w, bounce, distance), NULL);
}

/* The end of a segment: the next scatter, or what ends the photon there. */
static int tell_end(walk *w, const ice_bounce *bounce)
{
    const ice_direction n = {w->photon.dx, w->photon.dy, w->photon.dz};
    ice_end_bounce(w->variants->scatter, w->tables, bounce, &w->photon, &w->fate);
    const ics_trace_kind kind = w->fate == ICE_ALIVE      ? ICS_TRACE_SCATTER
                                : w->fate == ICE_ABSORBED ? ICS_TRACE_ABSORBED
                                : w->fate == ICE_LEFT     ? ICS_TRACE_LEFT
                                                          : ICS_TRACE_STOPPED;
    if (kind != ICS_TRACE_SCATTER) {
        /* It did not scatter any more. */
        w->photon.scatters -= 1;
        w->photon.dx = n.x;
        w->photon.dy = n.y;
        w->photon.dz = n.z;
    }
    return tell(w, kind, 0.0f, w->photon.absorption, NULL);
}

static int fly(walk *w)
{
    ice_bounce bounce;
    if (!ice_start_bounce(w->variants->propagate, w->tables, w->identity, w->optics, &w->photon,
                          &bounce)) {
        w->fate = ICE_LEFT;
        return tell(w, ICS_TRACE_LEFT, 0.0f, w->photon.absorption, NULL);
    }
    if (bounce.may_collide) {
        const int result = tell_hits(w, &bounce);
        if (result || w->fate != ICE_ALIVE) {
            return result;
        }
    }
    return tell_end(w, &bounce);
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
              .identity = ice_identity_of(emission, photon_id),
              .photon = ice_create(variants->create, tables, emission, 0, photon_id),
              .fate = ICE_ALIVE};
    w.depth = w.photon.absorption;
    w.optics = ice_optics_at(tables, w.photon.wavelength);
    int result = tell(&w, ICS_TRACE_START, 0.0f, w.photon.absorption, NULL);
    while (!result && w.fate == ICE_ALIVE) {
        result = fly(&w);
    }
    return result;
}
