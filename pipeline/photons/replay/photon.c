#include "pipeline/photons/replay/photon.h"

struct ice_walk;
struct ice_path_point;
static int put_point(struct ice_walk *walk, const struct ice_path_point *point);
#define ICE_PUT_POINT(walk, tables, point) ((void)(tables), put_point(walk, point))
#include "stages/path_walk.h"

/* A photon, and the receiver of its points. */
typedef struct followed {
    ice_walk walk; /* the first member */
    const ics_replay_follower *follower;
} followed;

static int put_point(ice_walk *walk, const ice_path_point *point)
{
    const ics_replay_follower *follower = ((const followed *)(const void *)walk)->follower;
    return point->kind == ICE_POINT_UNREACHED ? 0 : follower->put(follower->self, point);
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
    followed photon = {.follower = follower};
    ice_walk_begin(&photon.walk, variants, tables, emission, 0, photon_id);
    while (ice_walk_goes_on(&photon.walk)) {
        ice_walk_segment(&photon.walk, variants, tables);
    }
    return photon.walk.result;
}
