#include "tests/support/half_spaces.h"

#include <math.h>

const half_space_case half_spaces[HALF_SPACES] = {
    {0.4, 0.1, -5.0f, 0, 1, false},         {0.4, 0.1, 5.0f, 0, -1, false},
    {0.1, 0.4, -12.5f, 0, 1, false},        {0.1, 0.4, 3.0f, 0.8f, -0.6f, false},
    {0.4, 0.1, -0.5f, 0.96f, 0.28f, false}, {0.02, 0.01, -50.0f, 0, 1, true},
    {0.02, 0.01, 50.0f, 0.6f, -0.8f, true},
};

half_space_law half_space_law_of(int k)
{
    const half_space_case *at = &half_spaces[k];
    const bool up = at->nz > 0;
    return (half_space_law){.to_face = fabs((double)at->height / at->nz),
                            .before = up ? at->below : at->above,
                            .behind = up ? at->above : at->below};
}

stage_world half_space_world(int k)
{
    const double nothing[2] = {1e-9, 1e-9};
    const double coefficients[2] = {half_spaces[k].below, half_spaces[k].above};
    const bool absorption = half_spaces[k].absorption;
    ice_medium *medium =
        world_medium_layered(-1000.0, 1000.0, 2, absorption ? nothing : coefficients,
                             absorption ? coefficients : nothing);
    return stage_world_create(medium, world_detector_far(), world_light_line(400));
}
