/* Birefringence: crystals deflect light a little all along a segment. The deflection has a mean,
 * towards the flow axis, and a spread, the diffusion (physics.md 6.4). */
#ifndef ICS_STAGES_BIREFRINGENCE_H
#define ICS_STAGES_BIREFRINGENCE_H

#include "stages/anisotropy.h"
#include "stages/random.h"

#if !defined(__CUDACC__)
/* The functions of physics.md 6.4 for building tables, at strength 1. `p` holds the parameters a,
 * b, c, d; `sine` and `cosine` are those of the angle to the flow axis. The first function returns
 * the rms deflection sx or sy (rad/sqrt(m)), the second one the mean deflection mx (rad/m). The
 * caller replaces a negative result by 0. */
ICE_FN double ice_rms_deflection(const double *p, double sine)
{
    return p[0] * exp(-p[1] * pow(atan(p[3] * sine), p[2]));
}

ICE_FN double ice_mean_deflection(const double *p, double sine, double cosine)
{
    return p[0] * atan(p[3] * sine * cosine) * exp(-p[1] * sine + p[2] * cosine);
}
#endif

/* The strengths of birefringence (1), integrated over a segment (m): R_A and R_B of
 * physics.md 6.4. */
typedef struct ice_birefringence_sum {
    float diffusion, mean;
} ice_birefringence_sum;

/* Returns one of the integrals (m) for a segment from the height `height` (m) in layer `first` to
 * the height `end` (m) in layer `last`. `slope` is the length of the segment divided by the height
 * that the segment rises; it is negative for a segment that sinks. */
ICE_FN float ice_birefringence_between(const ice_birefringence_row *rows, int32_t first,
                                       int32_t last, float height, float end, float length,
                                       float slope)
{
    const ice_birefringence_row *from = &rows[first], *to = &rows[last];
    const float low = fmaf(to->strength, end - to->low,
                           fmaf(-from->strength, height - from->low, to->sum.low - from->sum.low));
    const float risen = low + (to->sum.high - from->sum.high);
    /* Both values are computed, so that loops over photons vectorise. Within one layer the second
     * one may be 0/0. */
    return fabsf(ice_select(first == last ? 1 : 0, from->strength * length, risen * slope));
}

/* Returns the integrals over a segment of `length` (m) that starts at `height` (m) among the
 * layers. nz is the vertical component of its direction. */
ICE_FN ice_birefringence_sum ice_birefringence_over(const ice_tables *tables, float height,
                                                    float nz, float length)
{
    const float end = fmaf(length, nz, height);
    const int32_t first = ice_layer_at(tables, height), last = ice_layer_at(tables, end);
    const float slope = ice_inverse(nz);
    ice_birefringence_sum over;
    over.diffusion =
        ice_birefringence_between(tables->birefringence, first, last, height, end, length, slope);
    over.mean = over.diffusion;
    if (tables->features & ICE_HAS_MEAN_BIREFRINGENCE) {
        over.mean = ice_birefringence_between(tables->mean_birefringence, first, last, height, end,
                                              length, slope);
    }
    return over;
}

/* sx / 2, sy / 2 and mx / 2 (physics.md 6.4) for one direction. They are halves, because a turn is
 * computed from half of its angle. */
typedef struct ice_deflection {
    float along, across, mean;
} ice_deflection;

/* Reads the deflection from its table. `along`, in [0, 1], is the cosine of the angle to the flow
 * axis, and `across` is its sine. The table contains mx divided by the sine, because this quotient
 * is smooth. */
ICE_FN ice_deflection ice_deflection_at(const ice_tables *tables, float along, float across)
{
    /* ICE_DEFLECTION_SCALE is so small that rounding cannot move `knot` out of the table. */
    const float position = along * ICE_DEFLECTION_SCALE;
    const int32_t knot = (int32_t)position;
    const float t = position - (float)knot;
    const ice_deflection_row *row = &tables->deflection->rows[knot];
    ice_deflection at;
    at.along = fmaf(t, row->along_more, row->along);
    at.across = fmaf(t, row->across_more, row->across);
    at.mean = fmaf(t, row->mean_more, row->mean) * across;
    return at;
}

/* Two independent normal numbers (Box and Muller) come from 12 bits each for a radius and for an
 * angle, which stand for the middles of 4096 steps. No number exceeds 4.25 standard deviations, and
 * the variance is smaller by 8e-5 of itself. This is accurate enough, because a segment is
 * deflected by a few degrees, and light has tens of segments. */
ICE_FN float ice_normal_radius(uint32_t a, float variance)
{
    /* 2^23 + a, without a conversion. */
    const float number = ice_from_bits((int32_t)(a | 0x4b000000u));
    const float u = fmaf(number, 2.44140625e-4f, 1.220703125e-4f - 2048.0f);
    return ice_root_of_log(u, 2.0f * variance);
}

#define ICE_NARROW_VARIANCE 0.33333333f

#if !defined(__CUDACC__)
/* Fills the table of normal numbers. */
ICE_FN void ice_fill_normals(ice_normal_table *table)
{
    for (uint32_t i = 0; i < ICE_NORMAL_STEPS; ++i) {
        table->wide[i] = ice_normal_radius(i, 1.0f);
        table->narrow[i] = ice_normal_radius(i, ICE_NARROW_VARIANCE);
        ice_sincos4096(i, &table->angle[i].sine, &table->angle[i].cosine);
    }
}
#endif

/* Four normal numbers: a and b have variance 1, c and d have variance 1/3. The first two are made
 * of the upper 24 bits of one random word, the others of those of another one. */
typedef struct ice_normal {
    float a, b, c, d;
} ice_normal;

ICE_FN ice_normal ice_normals(const ice_normal_table *table, uint32_t first, uint32_t second)
{
    const uint32_t wide = first >> 20, narrow = second >> 20;
    const uint32_t turn = first >> 8 & 4095u, other_turn = second >> 8 & 4095u;
#if defined(__CUDACC__) && defined(ICE_MATH_FAST)
    /* Here the functions are as short as the look-up. */
    (void)table;
    const float radius = ice_normal_radius(wide, 1.0f);
    const float other = ice_normal_radius(narrow, ICE_NARROW_VARIANCE);
    ice_normal_angle angle, other_angle;
    ice_sincos4096(turn, &angle.sine, &angle.cosine);
    ice_sincos4096(other_turn, &other_angle.sine, &other_angle.cosine);
#else
    const float radius = table->wide[wide], other = table->narrow[narrow];
    const ice_normal_angle angle = table->angle[turn], other_angle = table->angle[other_turn];
#endif
    const ice_normal g = {radius * angle.cosine, radius * angle.sine, other * other_angle.cosine,
                          other * other_angle.sine};
    return g;
}

/* Draws the deflection along a segment in birefringent ice. */
ICE_FN ice_normal ice_draw_deflection(const ice_tables *tables, ice_random *random)
{
    const ice_random first = ice_random_next(*random);
    *random = ice_random_next(first);
    return ice_normals(&tables->deflection->normals, ice_random_word(first),
                       ice_random_word(*random));
}

/* A vector in the frame of the flow: components along the flow axis, along the other horizontal
 * axis and upwards. */
typedef struct ice_flow_vector {
    float flow, sideways, up;
} ice_flow_vector;

/* A direction n and two unit vectors perpendicular to it, q and p = n x q, for the turns of
 * physics.md 6.4. q lies in the plane of n and the flow axis, and points to the side of the flow.
 */
typedef struct ice_flow_frame {
    ice_flow_vector n;
    float q_flow; /* component of q along the flow */
    float q_rest; /* the other components of q are -q_rest (n.sideways, n.up) */
    float p_rest; /* those of p are p_rest (n.up, -n.sideways); p has none along the flow */
} ice_flow_frame;

/* A turn by the angle 2 atan(|v|) towards v = vx q + vy p, and the square of |v|. */
typedef struct ice_flow_angle {
    float vx, vy, square;
} ice_flow_angle;

ICE_FN ice_flow_angle ice_flow_angle_of(float vx, float vy)
{
    const ice_flow_angle angle = {vx, vy, fmaf(vx, vx, vy * vy)};
    return angle;
}

/* Returns the change of n in a turn, multiplied by (1 + square) w / 2. */
ICE_FN ice_flow_vector ice_flow_turn(const ice_flow_frame *frame, ice_flow_angle by, float w)
{
    const float a = w * fmaf(-by.vx, frame->q_rest, -by.square), b = w * (by.vy * frame->p_rest);
    ice_flow_vector more;
    more.flow = w * fmaf(by.vx, frame->q_flow, -by.square * frame->n.flow);
    more.sideways = fmaf(a, frame->n.sideways, b * frame->n.up);
    more.up = fmaf(a, frame->n.up, -b * frame->n.sideways);
    return more;
}

/* Returns the sum of the vector `to` and of the vector `more`, which is in the frame of the flow.
 */
ICE_FN ice_direction ice_add_flow_vector(const ice_tables *tables, ice_direction to,
                                         ice_flow_vector more)
{
    const float fx = tables->flow_x, fy = tables->flow_y;
    ice_direction sum;
    sum.x = fmaf(more.flow, fx, fmaf(-more.sideways, fy, to.x));
    sum.y = fmaf(more.flow, fy, fmaf(more.sideways, fx, to.y));
    sum.z = to.z + more.up;
    return sum;
}

/* What birefringence adds to the end of a straight segment. */
typedef struct ice_deflected {
    ice_flow_vector direction; /* the sum is a unit vector to rounding, as n is */
    ice_flow_vector position;  /* m */
} ice_deflected;

/* What birefringence changes over a segment of `length` (m) along the unit vector n. The normal
 * numbers g.a and g.b give the direction; the position depends on them and also on g.c and g.d. */
ICE_FN ice_deflected ice_deflection_by(const ice_tables *tables, ice_direction n,
                                       ice_birefringence_sum over, float length, ice_normal g)
{
    const float fx = tables->flow_x, fy = tables->flow_y;
    /* Exactly along the flow, q would be 0/0. The small number makes it horizontal. */
    ice_flow_frame frame = {
        {fmaf(fx, n.x, fy * n.y), fmaf(fx, n.y, fmaf(-fy, n.x, 1e-10f)), n.z}, 0.0f, 0.0f, 0.0f};
    const float square =
        fmaf(frame.n.sideways, frame.n.sideways, fmaf(frame.n.up, frame.n.up, 1e-30f));
    const float inverse = ice_inverse_root(square);
    frame.q_flow = square * inverse;
    frame.q_rest = frame.n.flow * inverse;
    frame.p_rest = inverse;

    /* physics.md 6.4 reverses q if n points against the flow. Here q stays, and the mean deflection
     * gets the sign instead. The normal numbers need no sign, because their distribution has none.
     */
    const ice_deflection half = ice_deflection_at(tables, fabsf(frame.n.flow), frame.q_flow);
    const float spread = ice_root(over.diffusion);
    const float sx = half.along * spread, sy = half.across * spread;
    const float mean = ice_with_sign_of(half.mean * over.mean, frame.n.flow);
    const float vx = fmaf(sx, g.a, mean), vy = sy * g.b;

    const ice_flow_angle turn = ice_flow_angle_of(vx, vy);
    const ice_flow_angle move = ice_flow_angle_of(fmaf(sx, g.c, vx), fmaf(sy, g.d, vy));
    /* Both turns share one division. */
    const float one_turn = 1.0f + turn.square, one_move = 1.0f + move.square;
    const float inverse_both = ice_inverse(one_turn * one_move);
    ice_deflected more;
    more.direction = ice_flow_turn(&frame, turn, 2.0f * (inverse_both * one_move));
    more.position = ice_flow_turn(&frame, move, length * (inverse_both * one_turn));
    return more;
}

#endif
