/* Light that crystals bend a little all along its way: deflection towards the flow axis and
 * diffusion between two scatters (physics.md 6.4). */
#ifndef ICE_BIREFRINGENCE_H
#define ICE_BIREFRINGENCE_H

#include "stages/anisotropy.h"
#include "stages/random.h"

#if !defined(__CUDACC__)
/* For building tables, at an angle to the flow axis: the rms deflection sx or sy at strength 1,
 * rad/sqrt(m), and the mean deflection mx, rad/m, from their parameters a, b, c, d; where they come
 * out negative they count as 0. */
ICE_FN double ice_rms_deflection(const double *p, double sine)
{
    return p[0] * exp(-p[1] * pow(atan(p[3] * sine), p[2]));
}

ICE_FN double ice_mean_deflection(const double *p, double sine, double cosine)
{
    return p[0] * atan(p[3] * sine * cosine) * exp(-p[1] * sine + p[2] * cosine);
}
#endif

/* Integrals of the strengths over a segment, m. */
typedef struct ice_bending {
    float diffusion, mean;
} ice_bending;

/* Strengths integrated over height, from the lower face of the layer `from` up to a height in the
 * layer `to`. */
ICE_FN ice_bending ice_bending_to(const ice_tables *tables, int32_t from, int32_t to, float height)
{
    const ice_bending_row *base = &tables->bending[from], *row = &tables->bending[to];
    const float above = height - ice_face(tables, to);
    ice_bending sum;
    sum.diffusion = fmaf(row->diffusion, above,
                         (row->diffusion_sum.high - base->diffusion_sum.high) +
                             (row->diffusion_sum.low - base->diffusion_sum.low));
    sum.mean =
        fmaf(row->mean, above,
             (row->mean_sum.high - base->mean_sum.high) + (row->mean_sum.low - base->mean_sum.low));
    return sum;
}

/* Over a segment that starts at `height` among the layers. */
ICE_FN ice_bending ice_bending_over(const ice_tables *tables, float height, float nz, float length)
{
    const float end = fmaf(length, nz, height);
    const int32_t first = ice_layer_at(tables, height), last = ice_layer_at(tables, end);
    const ice_bending_row *row = &tables->bending[first];
    const ice_bending a = ice_bending_to(tables, first, first, height);
    const ice_bending b = ice_bending_to(tables, first, last, end);
    /* Both ways are computed, for loops over photons; within one layer the second may be 0/0. */
    const float stretch = ice_div(1.0f, fabsf(nz));
    const int32_t stays = first == last ? 1 : 0;
    ice_bending over;
    over.diffusion =
        ice_select(stays, row->diffusion * length, fabsf(b.diffusion - a.diffusion) * stretch);
    over.mean = ice_select(stays, row->mean * length, fabsf(b.mean - a.mean) * stretch);
    return over;
}

/* sx, sy and mx at a direction, by its components along the flow axis and across it, both >= 0:
 * from a table over along / (along + across), in which all three are smooth. */
ICE_FN ice_deflection_row ice_deflection_at(const ice_tables *tables, float along, float across)
{
    /* Never a knot too far, so that there is nothing to clamp. */
    const float position = ice_div(along, along + across) * ICE_DEFLECTION_SCALE;
    const int32_t knot = (int32_t)position;
    const float t = position - (float)knot;
    const ice_deflection_row *low = &tables->deflection[knot];
    const ice_deflection_row *high = low + 1;
    ice_deflection_row row;
    row.along = fmaf(t, high->along - low->along, low->along);
    row.across = fmaf(t, high->across - low->across, low->across);
    row.mean = fmaf(t, high->mean - low->mean, low->mean);
    row.unused = 0.0f;
    return row;
}

/* n turned by the angle 2 atan(|d| / 2) in the plane of d = dx q + dy p. */
ICE_FN ice_direction ice_bend(ice_direction n, ice_direction q, ice_direction p, float dx, float dy)
{
    const float vx = 0.5f * dx, vy = 0.5f * dy;
    const float square = fmaf(vx, vx, vy * vy);
    const float w = ice_div(2.0f, 1.0f + square);
    ice_direction m;
    m.x = fmaf(w, fmaf(vx, q.x, fmaf(vy, p.x, -square * n.x)), n.x);
    m.y = fmaf(w, fmaf(vx, q.y, fmaf(vy, p.y, -square * n.y)), n.y);
    m.z = fmaf(w, fmaf(vx, q.z, fmaf(vy, p.z, -square * n.z)), n.z);
    return ice_unit(m);
}

/* Two independent normal numbers (Box and Muller) from two words. */
ICE_FN void ice_normal_pair(uint32_t a, uint32_t b, float *first, float *second)
{
    const float square = -2.0f * ice_log(ice_uniform_positive(a));
    /* A fast logarithm may be just above 0. */
    const float radius = ice_sqrt(ice_select(square > 0.0f ? 1 : 0, square, 0.0f));
    float sine, cosine;
    ice_sincos2pi(ice_uniform(b), &sine, &cosine);
    *first = radius * cosine;
    *second = radius * sine;
}

/* Four of them. */
typedef struct ice_normal {
    float a, b, c, d;
} ice_normal;

/* From the block of a segment, see stages/random.h. */
ICE_FN ice_normal ice_normals(ice_block draw)
{
    ice_normal g;
    ice_normal_pair(draw.a, draw.b, &g.a, &g.b);
    ice_normal_pair(draw.c, draw.d, &g.c, &g.d);
    return g;
}

/* Where a bent segment ends, relative to the end of the straight one, and its direction there. */
typedef struct ice_bent {
    ice_direction direction;
    float x, y, z; /* m */
} ice_bent;

/* Four standard normal numbers: g.a and g.b for the direction, g.c and g.d for what the place
 * at the end does not share with it. */
ICE_FN ice_bent ice_bend_segment(const ice_tables *tables, ice_direction n, ice_bending over,
                                 float length, ice_normal g)
{
    /* Components along the flow, with sign, and across it. */
    const float signed_along = fmaf(tables->flow_x, n.x, tables->flow_y * n.y);
    const float sideways = fmaf(tables->flow_x, n.y, -tables->flow_y * n.x);
    const float along = fabsf(signed_along);
    const float across = ice_sqrt(fmaf(sideways, sideways, n.z * n.z));
    const ice_deflection_row row = ice_deflection_at(tables, along, across);
    /* q: perpendicular to n, towards the nearer end of the flow axis. */
    const float aslant = ice_select(across > 0.0f ? 1 : 0, 1.0f, 0.0f);
    const float scale = ice_with_sign_of(ice_div(aslant, ice_max(across, 1e-30f)), signed_along);
    ice_direction q;
    q.x = scale * fmaf(-signed_along, n.x, tables->flow_x);
    q.y = scale * fmaf(-signed_along, n.y, tables->flow_y);
    q.z = fmaf(scale, -signed_along * n.z, 1.0f - aslant);
    const ice_direction p = {fmaf(n.y, q.z, -n.z * q.y), fmaf(n.z, q.x, -n.x * q.z),
                             fmaf(n.x, q.y, -n.y * q.x)};

    const float spread = ice_sqrt(over.diffusion);
    const float sx = row.along * spread, sy = row.across * spread;
    const float dx = fmaf(sx, g.a, row.mean * over.mean), dy = sy * g.b;
    const float third = 0.57735027f; /* 1 / sqrt(3) */
    const ice_direction middle =
        ice_bend(n, q, p, fmaf(sx * third, g.c, dx), fmaf(sy * third, g.d, dy));

    ice_bent bent;
    bent.direction = ice_bend(n, q, p, dx, dy);
    bent.x = 0.5f * length * (middle.x - n.x);
    bent.y = 0.5f * length * (middle.y - n.y);
    bent.z = 0.5f * length * (middle.z - n.z);
    return bent;
}

#endif
