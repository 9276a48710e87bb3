/* Birefringence: crystals deflect light a little all along a segment. The deflection has a mean,
 * towards the flow axis, and a spread, the diffusion (physics.md 6.4). */
#ifndef ICS_STAGES_BIREFRINGENCE_H
#define ICS_STAGES_BIREFRINGENCE_H

#include "stages/anisotropy.h"
#include "stages/random.h"
#include "stages/segment.h"

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
 * layers, from the sums of the layers. nz is the vertical component of its direction. */
ICE_FN ice_birefringence_sum ice_birefringence_over_layers(const ice_tables *tables, float height,
                                                           float nz, float length)
{
    const float end = fmaf(length, nz, height);
    const int32_t first = ice_layer_at(tables, height), last = ice_layer_at(tables, end);
    const float slope = ice_inverse(nz);
    ice_birefringence_sum over;
    over.diffusion =
        ice_birefringence_between(tables->birefringence, first, last, height, end, length, slope);
    over.mean = over.diffusion;
    if (ICE_HAS(tables, ICE_HAS_MEAN_BIREFRINGENCE)) {
        over.mean = ice_birefringence_between(tables->mean_birefringence, first, last, height, end,
                                              length, slope);
    }
    return over;
}

/* Returns the integral over the strength of the diffusion for the same segment, layer after layer.
 * Nearly all segments end in their first layer or in the next one. */
ICE_FN float ice_strength_on(const ice_tables *tables, float height, float nz, float length)
{
    const int32_t first = ice_layer_at(tables, height), step = nz > 0.0f ? 1 : -1;
    const float stretch = fabsf(ice_inverse(nz)), room = tables->thickness * stretch;
    const float to_face = ice_to_face(&tables->layers[first], height, nz) * stretch;
    float left = ice_max(length - to_face, 0.0f); /* 0 for a horizontal segment */
    float sum = tables->birefringence[(uint32_t)first].strength * (length - left);
    int32_t layer = first + (left > 0.0f ? step : 0);
    while (ICE_UNLIKELY(left > room)) {
        if (layer == 0 || layer == tables->layer_count - 1) {
            break; /* it has no end */
        }
        sum = fmaf(tables->birefringence[(uint32_t)layer].strength, room, sum);
        left -= room;
        layer += step;
    }
    return fmaf(tables->birefringence[(uint32_t)layer].strength, left, sum);
}

/* Returns the integrals over the same segment in the way that is the faster one for the processor.
 * A GPU with fast maths goes from layer to layer if both integrals are the same. */
ICE_FN ice_birefringence_sum ice_birefringence_over(const ice_tables *tables, float height,
                                                    float nz, float length)
{
#if defined(__CUDACC__) && defined(ICE_MATH_FAST)
    if (!ICE_HAS(tables, ICE_HAS_MEAN_BIREFRINGENCE)) {
        const float sum = ice_strength_on(tables, height, nz, length);
        const ice_birefringence_sum over = {sum, sum};
        return over;
    }
#endif
    return ice_birefringence_over_layers(tables, height, nz, length);
}

/* sx / 2, sy / 2 and mx / 2 (physics.md 6.4) for one direction. They are halves, because a turn is
 * computed from half of its angle. */
typedef struct ice_deflection {
    float along, across, mean;
} ice_deflection;

/* Reads the deflection from its table. `along`, in [0, 1], is the cosine of the angle to the flow
 * axis, and `across` is its sine. The table contains mx divided by the sine, because this quotient
 * is smooth. With fast maths the texture unit interpolates. */
ICE_FN ice_deflection ice_deflection_at(const ice_tables *tables, float along, float across)
{
    ice_deflection at;
#if defined(ICE_HAS_TEXTURES)
    const ice_texel texel =
        ice_texel_on_line(tables->deflection_texture, fmaf(along, ICE_DEFLECTION_SCALE, 0.5f));
    at.along = texel.a;
    at.across = texel.b;
    at.mean = texel.c * across;
#else
    /* ICE_DEFLECTION_SCALE is so small that rounding cannot move `knot` out of the table. */
    const float position = along * ICE_DEFLECTION_SCALE;
    const int32_t knot = (int32_t)position;
    const float t = position - (float)knot;
    const ice_deflection_row *row = &tables->deflection->rows[knot];
    at.along = fmaf(t, row->along_more, row->along);
    at.across = fmaf(t, row->across_more, row->across);
    at.mean = fmaf(t, row->mean_more, row->mean) * across;
#endif
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

ICE_FN ice_normal ice_normals(const ice_tables *tables, uint32_t first, uint32_t second)
{
    const uint32_t wide = first >> 20, narrow = second >> 20;
#if defined(ICE_HAS_TEXTURES)
    /* Here the functions are as short as the look-up, and the table is a texture. */
    (void)tables;
    const float radius = ice_normal_radius(wide, 1.0f);
    const float other = ice_normal_radius(narrow, ICE_NARROW_VARIANCE);
    ice_normal_angle angle, other_angle;
    ice_sincos4096_of(first, &angle.sine, &angle.cosine);
    ice_sincos4096_of(second, &other_angle.sine, &other_angle.cosine);
#else
    const uint32_t turn = first >> 8 & 4095u, other_turn = second >> 8 & 4095u;
    const ice_normal_table *table = &tables->deflection->normals;
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
    return ice_normals(tables, ice_random_word(first), ice_random_word(*random));
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

ICE_FN ice_flow_frame ice_flow_frame_of(const ice_tables *tables, ice_direction n)
{
    const float fx = tables->flow_x, fy = tables->flow_y;
    ice_flow_frame frame;
    frame.n.flow = fmaf(fx, n.x, fy * n.y);
    /* Exactly along the flow, q would be 0/0. The small number makes it horizontal. */
    frame.n.sideways = fmaf(fx, n.y, fmaf(-fy, n.x, 1e-10f));
    frame.n.up = n.z;
    const float square =
        fmaf(frame.n.sideways, frame.n.sideways, fmaf(frame.n.up, frame.n.up, 1e-30f));
    const float inverse = ice_inverse_root(square);
    frame.q_flow = square * inverse;
    frame.q_rest = frame.n.flow * inverse;
    frame.p_rest = inverse;
    return frame;
}

/* Returns n, q and p of the frame, multiplied by these numbers and added. */
ICE_FN ice_flow_vector ice_flow_sum(const ice_flow_frame *frame, float n, float q, float p)
{
    const float rest = fmaf(-q, frame->q_rest, n), turned = p * frame->p_rest;
    ice_flow_vector sum;
    sum.flow = fmaf(q, frame->q_flow, n * frame->n.flow);
    sum.sideways = fmaf(rest, frame->n.sideways, turned * frame->n.up);
    sum.up = fmaf(rest, frame->n.up, -turned * frame->n.sideways);
    return sum;
}

/* Returns the direction of a vector in the frame of the flow. */
ICE_FN ice_direction ice_of_flow(const ice_tables *tables, ice_flow_vector of)
{
    const float fx = tables->flow_x, fy = tables->flow_y;
    const ice_direction n = {fmaf(of.flow, fx, -(of.sideways * fy)),
                             fmaf(of.flow, fy, of.sideways * fx), of.up};
    return n;
}

/* A bent segment. */
typedef struct ice_bent_segment {
    ice_flow_vector direction; /* direction at its end; a unit vector to rounding, as n is */
    ice_flow_vector end;       /* relative to its start, m */
} ice_bent_segment;

/* Returns the segment of `length` (m) that begins along the unit vector n. The normal numbers g.a
 * and g.b give the direction at its end; the end depends on them and also on g.c and g.d.
 *
 * With w = 2 / (1 + |v|^2) the direction of physics.md 6.4 is (w - 1) n + w (v_x q + v_y p), and
 * the end is length / (1 + |v|^2) (n + v_x q + v_y p), with v of the second line there. */
ICE_FN ice_bent_segment ice_bend(const ice_tables *tables, ice_direction n,
                                 ice_birefringence_sum over, float length, ice_normal g)
{
    const ice_flow_frame frame = ice_flow_frame_of(tables, n);
    /* physics.md 6.4 reverses q if n points against the flow. Here q stays, and the mean deflection
     * gets the sign instead. The normal numbers need no sign, because their distribution has none.
     */
    const ice_deflection half = ice_deflection_at(tables, fabsf(frame.n.flow), frame.q_flow);
    const float spread = ice_root(over.diffusion);
    const float sx = half.along * spread, sy = half.across * spread;
    const float mean = ice_with_sign_of(half.mean * over.mean, frame.n.flow);
    const float turn_x = fmaf(sx, g.a, mean), turn_y = sy * g.b;
    const float move_x = fmaf(sx, g.c, turn_x), move_y = fmaf(sy, g.d, turn_y);

    const float of_turn = fmaf(turn_x, turn_x, fmaf(turn_y, turn_y, 1.0f));
    const float of_move = fmaf(move_x, move_x, fmaf(move_y, move_y, 1.0f));
    /* Both share one division. */
    const float inverse_both = ice_inverse(of_turn * of_move);
    const float w = 2.0f * (inverse_both * of_move);
    const float along = length * (inverse_both * of_turn);
    ice_bent_segment bent;
    bent.direction = ice_flow_sum(&frame, w - 1.0f, w * turn_x, w * turn_y);
    bent.end = ice_flow_sum(&frame, along, along * move_x, along * move_y);
    return bent;
}

#endif
