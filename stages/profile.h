/* Profiles: steps whose photons differ in start, direction and time (physics.md 2.5).
 *
 * One step of this kind is the light of a whole cascade, or one pulse of an LED. Every photon draws
 * from its random numbers what its own step would have: ice_profile_draw_step() makes this step,
 * and the create stage then makes the photon of it. The time of a pulse is not needed
 * before there is a hit, so that the host draws it (ics_tables_arrival_delay in tables/tables.h).
 */
#ifndef ICS_STAGES_PROFILE_H
#define ICS_STAGES_PROFILE_H

#include "stages/direction.h"
#include "stages/photon.h"
#include "stages/random.h"

/* The profiles; files.md 3.4 has the same numbers. */
typedef enum ice_profile {
    ICE_PROFILE_NONE,    /* all photons share the start and the direction of the step */
    ICE_PROFILE_CASCADE, /* depths of a Gamma distribution along the axis, emitters around it */
    ICE_PROFILE_CLOUD,   /* uniform depths along the axis, emitters around it */
    ICE_PROFILE_GAUSS,   /* the other profiles are beams */
    ICE_PROFILE_LAB_AVERAGE,
    ICE_PROFILE_LAB_HORIZONTAL,
    ICE_PROFILE_LAB_TILTED,
    ICE_PROFILE_CLSIM,
    ICE_PROFILE_CLSIM_TILTED,
    ICE_PROFILE_LINEAR,
    ICE_PROFILE_ISOTROPIC,
    ICE_PROFILE_EXACT,
    ICE_PROFILE_CONE, /* any azimuth, the polar angle of the step */
    ICE_PROFILE_COUNT
} ice_profile;

/* The pulses of beams. */
typedef enum ice_pulse_shape {
    ICE_PULSE_INSTANT,
    ICE_PULSE_LED,
    ICE_PULSE_RECTANGLE,
    ICE_PULSE_COUNT
} ice_pulse_shape;

ICE_FN ice_profile ice_profile_of_flags(uint32_t flags)
{
    return (ice_profile)((flags & ICE_EMISSION_PROFILE) >> ICE_PROFILE_SHIFT);
}

ICE_FN ice_pulse_shape ice_pulse_of_flags(uint32_t flags)
{
    return (ice_pulse_shape)((flags & ICE_EMISSION_PULSE) >> ICE_PULSE_SHIFT);
}

/* The step of one photon. */
typedef struct ice_photon_step {
    ice_emission emission; /* emission without a profile */
    float ahead;           /* m: light needs this way in vacuum from the time of the step to the
                              start of this emission */
    int32_t is_stopped;    /* 1: the module of an LED stops the light */
} ice_photon_step;

/* ---- the numbers of beams and cascades, which physics/light shares --------------------------- */

/* Beams of LEDs as the authors of ppc measured them (physics.md 2.4): s1 and s2, the widths of a
 * half Gaussian and of an exponential in 1 - cos, and c1 and c2, the cumulative shares of both. The
 * rest is linear. `real` is float or double. */
#define ICE_LAB_AVERAGE(real)    (real)0.0191329, (real)0.0686944, (real)0.583583, (real)0.967762
#define ICE_LAB_HORIZONTAL(real) (real)0.0196242, (real)0.0750278, (real)0.606833, (real)0.960863
#define ICE_LAB_TILTED(real)     (real)0.0185603, (real)0.0624481, (real)0.553192, (real)0.974129

/* Widths of clsim's LEDs in polar angle and azimuth (degrees), for spectra 1 to 5; the last pair is
 * that of tilted LEDs of spectrum 3. */
#define ICE_CLSIM_SMEAR(real)                                                                      \
    {(real)36.1, (real)39.6}, {(real)39.1, (real)42.9}, {(real)9.2, (real)10.1},                   \
        {(real)4.8, (real)5.3}, {(real)4.5, (real)4.9},                                            \
    {                                                                                              \
        (real)9.7, (real)9.8                                                                       \
    }

/* How ppc lets the light of an LED leave its module (physics.md 2.4): its LEDs have other
 * positions, light flies through the module with the speed of light in vacuum, the belt around the
 * module stops it, and so does most of the lower half. All lengths in m, relative to the centre of
 * an upright module. */
#define ICE_LED_PPC_RING   0.111
#define ICE_LED_PPC_HEIGHT 0.07735
#define ICE_LED_PPC_BELT   0.03396 /* half the height of the belt */
#define ICE_LED_PPC_LOWER  0.1     /* share of the light that passes the lower half */

/* The angle between emitters and the axis of a cascade: x = 1 - cos has a density proportional to
 * exp(-2.61 x^0.39) x^-0.61 (physics.md 10.3). */
#define ICE_EMITTER_SLOPE    2.61
#define ICE_EMITTER_EXPONENT 0.39
#define ICE_EMITTER_INSIDE   0.96729171221373011 /* 1 - exp(-2.61 * 2^0.39) */
#define ICE_EMITTER_LENGTH   0.001               /* of the step of an emitter, m */

/* ---- angles ---------------------------------------------------------------------------------- */

/* Returns a standard normal number of two words, and sets *second to another one. */
ICE_FN float ice_profile_normals(uint32_t first_word, uint32_t second_word, float *second)
{
    float sine, cosine;
    const float radius = ice_sqrt(2.0f * ice_exponential(first_word));
    ice_sincos2pi(ice_uniform(second_word), &sine, &cosine);
    *second = radius * sine;
    return radius * cosine;
}

/* The functions ice_profile_..._angle return 1 - cos of the angle to the axis, in [0, 2]. */

ICE_FN float ice_profile_emitter_angle(uint32_t word)
{
    const float inside = (float)ICE_EMITTER_INSIDE;
    const float below = fmaf(inside, ice_uniform_positive(word), 1.0f - inside);
    /* The maximum keeps 0 out of the power; angles of 1e-9 rad do not matter. */
    const float depth = ice_max(-ice_log(below), 1e-7f);
    return ice_min(
        ice_pow(depth * (float)(1.0 / ICE_EMITTER_SLOPE), (float)(1.0 / ICE_EMITTER_EXPONENT)),
        2.0f);
}

/* width: sigma, rad. */
ICE_FN float ice_profile_gauss_angle(float width, uint32_t word)
{
    const float k = width * width;
    const float u = ice_uniform_positive(word);
    const float farthest = ice_exp(ice_max(ice_div(-2.0f, k), -87.0f));
    return -k * ice_log(fmaf(1.0f - u, farthest, u));
}

ICE_FN float ice_profile_linear_angle(uint32_t word)
{
    return 2.0f * (1.0f - ice_sqrt(ice_uniform(word)));
}

ICE_FN float ice_profile_lab_angle(ice_profile profile, ice_block draw)
{
    const float average[] = {ICE_LAB_AVERAGE(float)};
    const float horizontal[] = {ICE_LAB_HORIZONTAL(float)};
    const float tilted[] = {ICE_LAB_TILTED(float)};
    const int32_t is_tilted = profile == ICE_PROFILE_LAB_TILTED;
    const int32_t is_average = profile == ICE_PROFILE_LAB_AVERAGE;
    const float s1 = is_tilted ? tilted[0] : (is_average ? average[0] : horizontal[0]);
    const float s2 = is_tilted ? tilted[1] : (is_average ? average[1] : horizontal[1]);
    const float c1 = is_tilted ? tilted[2] : (is_average ? average[2] : horizontal[2]);
    const float c2 = is_tilted ? tilted[3] : (is_average ? average[3] : horizontal[3]);
    const float part = ice_uniform(draw.a);
    if (part >= c2) {
        return ice_profile_linear_angle(draw.b);
    }
    const float exponential = ice_exponential(draw.b);
    if (part >= c1) {
        return s2 * exponential;
    }
    float sine, cosine;
    ice_sincos2pi(ice_uniform(draw.c), &sine, &cosine);
    return s1 * ice_sqrt(2.0f * exponential) * fabsf(cosine);
}

/* ---- directions ------------------------------------------------------------------------------ */

/* Returns a direction whose polar angle and azimuth differ from those of the axis by normal numbers
 * of clsim's widths. */
ICE_FN ice_direction ice_profile_smear(ice_direction axis, uint32_t spectrum, int32_t is_tilted,
                                       ice_block draw)
{
    const float degrees[][2] = {ICE_CLSIM_SMEAR(float)};
    const uint32_t row = spectrum == 3 && is_tilted ? 5u : (spectrum - 1u) % 5u;
    float second;
    const float first = ice_profile_normals(draw.a, draw.b, &second);
    /* Turns: normal numbers are below 5.8, so these angles are below one turn. */
    const float polar = degrees[row][0] * (1.0f / 360.0f) * first;
    const float around = degrees[row][1] * (1.0f / 360.0f) * second;
    float sin_polar, cos_polar, sin_around, cos_around;
    ice_sincos2pi(polar < 0.0f ? polar + 1.0f : polar, &sin_polar, &cos_polar);
    ice_sincos2pi(around < 0.0f ? around + 1.0f : around, &sin_around, &cos_around);
    const float across = ice_sqrt(fmaf(axis.x, axis.x, axis.y * axis.y));
    const float inverse = across > 0.0f ? ice_div(1.0f, across) : 0.0f;
    const float cosine = across > 0.0f ? axis.x * inverse : 1.0f;
    const float sine = axis.y * inverse;
    const float flat = fmaf(across, cos_polar, axis.z * sin_polar);
    const ice_direction smeared = {flat * fmaf(cosine, cos_around, -sine * sin_around),
                                   flat * fmaf(sine, cos_around, cosine * sin_around),
                                   fmaf(axis.z, cos_polar, -across * sin_polar)};
    return smeared;
}

/* Returns the direction of a photon of a beam. */
ICE_FN ice_direction ice_profile_beam(ice_profile profile, const ice_emission *step, ice_block draw)
{
    const ice_direction axis = {step->dx, step->dy, step->dz};
    const float azimuth = ice_uniform(draw.d);
    float angle = 0.0f;
    switch (profile) {
    case ICE_PROFILE_CLSIM:
    case ICE_PROFILE_CLSIM_TILTED:
        return ice_profile_smear(axis, step->spectrum, profile == ICE_PROFILE_CLSIM_TILTED, draw);
    case ICE_PROFILE_CONE: {
        float sine, cosine;
        const float across = ice_sqrt(fmaf(axis.x, axis.x, axis.y * axis.y));
        ice_sincos2pi(azimuth, &sine, &cosine);
        const ice_direction turned = {across * cosine, across * sine, axis.z};
        return turned;
    }
    case ICE_PROFILE_EXACT:
        return axis;
    case ICE_PROFILE_GAUSS:
        angle = ice_profile_gauss_angle(step->beta, draw.a);
        break;
    case ICE_PROFILE_LINEAR:
        angle = ice_profile_linear_angle(draw.a);
        break;
    case ICE_PROFILE_ISOTROPIC:
        angle = 2.0f * ice_uniform(draw.a);
        break;
    default:
        angle = ice_profile_lab_angle(profile, draw);
    }
    return ice_deflect(axis, angle, azimuth * ICE_TURN);
}

/* ---- positions ------------------------------------------------------------------------------- */

/* What the random numbers and starts of photons of profiles need of the tables. A call passes it by
 * value, because a GPU has the tables in no memory with an address. */
typedef struct ice_profile_setting {
    uint32_t seed_low, seed_high;
    float radius; /* radius of a module (m) */
} ice_profile_setting;

ICE_FN ice_profile_setting ice_profile_setting_of(const ice_tables *tables)
{
    const ice_profile_setting setting = {tables->seed_low, tables->seed_high, tables->radius};
    return setting;
}

ICE_FN ice_block ice_profile_draw(ice_profile_setting setting, ice_identity identity,
                                  uint32_t block)
{
    return ice_draw(setting.seed_low, setting.seed_high ^ identity.event_high, identity.event_low,
                    identity.step_id, identity.photon_id, ICE_BLOCK_PROFILE + block);
}

/* Returns a number of the Gamma distribution with scale 1 and this shape, above 0 (Marsaglia &
 * Tsang, ACM TOMS 26 (2000) 363). An attempt fails with a probability below 0.06, so that the limit
 * of attempts is never reached. */
ICE_FN float ice_profile_gamma(ice_profile_setting setting, ice_identity identity, float shape)
{
    /* For a shape below 1 the number follows from the distribution with shape + 1 (section 6 of the
     * paper). */
    const float d = (shape < 1.0f ? shape + 1.0f : shape) - 1.0f / 3.0f;
    const float c = ice_div(1.0f, ice_sqrt(9.0f * d));
    float result = d;
    for (uint32_t attempt = 1; attempt <= 64u; ++attempt) {
        const ice_block draw = ice_profile_draw(setting, identity, attempt);
        float unused;
        const float x = ice_profile_normals(draw.a, draw.b, &unused);
        const float root = fmaf(c, x, 1.0f);
        if (root <= 0.0f) {
            continue;
        }
        const float v = root * root * root;
        const float log_u = ice_log(ice_uniform_positive(draw.c));
        if (log_u < fmaf(d, 1.0f - v + ice_log(v), 0.5f * x * x)) {
            const float boost =
                shape < 1.0f ? ice_pow(ice_uniform_positive(draw.d), ice_div(1.0f, shape)) : 1.0f;
            result = d * v * boost;
            break;
        }
    }
    return result;
}

/* Moves the start of an emission along a direction. */
ICE_FN void ice_profile_move(ice_emission *emission, ice_direction n, float distance)
{
    emission->x = fmaf(distance, n.x, emission->x);
    emission->y = fmaf(distance, n.y, emission->y);
    emission->z = fmaf(distance, n.z, emission->z);
}

/* Starts the light of an LED where it leaves the module, in the way of ppc. `word` decides whether
 * the module stops it. */
ICE_FN void ice_profile_leave_glass(const ice_emission *step, float radius, uint32_t word,
                                    ice_direction n, ice_photon_step *own)
{
    const float across = ice_sqrt(fmaf(step->dx, step->dx, step->dy * step->dy));
    const float ring = across > 0.0f ? ice_div((float)ICE_LED_PPC_RING, across) : 0.0f;
    const float x = across > 0.0f ? step->dx * ring : (float)ICE_LED_PPC_RING;
    const float y = step->dy * ring;
    const float z = (float)ICE_LED_PPC_HEIGHT;
    const float along = fmaf(x, n.x, fmaf(y, n.y, z * n.z));
    const float square =
        (float)(ICE_LED_PPC_RING * ICE_LED_PPC_RING + ICE_LED_PPC_HEIGHT * ICE_LED_PPC_HEIGHT);
    own->ahead = ice_sqrt(fmaf(along, along, fmaf(radius, radius, -square))) - along;
    const float height = fmaf(own->ahead, n.z, z);
    const float passes = fabsf(height) < (float)ICE_LED_PPC_BELT
                             ? 0.0f
                             : (height < 0.0f ? (float)ICE_LED_PPC_LOWER : 1.0f);
    own->is_stopped = ice_uniform(word) >= passes;
    own->emission.x += x;
    own->emission.y += y;
    own->emission.z += z;
    ice_profile_move(&own->emission, n, own->ahead);
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* Makes the step of a photon of a step with a profile. */
ICE_RARE_FN void ice_profile_draw_step(ice_profile_setting setting, const ice_emission *step,
                                       uint32_t photon_id, ice_photon_step *own)
{
    const ice_profile profile = ice_profile_of_flags(step->flags);
    const ice_identity identity = ice_identity_of(step, photon_id);
    const ice_block draw = ice_profile_draw(setting, identity, 0);
    ice_direction n;
    own->emission = *step;
    own->emission.flags = 0;
    own->emission.beta = 1.0f;
    own->is_stopped = 0;
    own->ahead = 0.0f;
    if (profile <= ICE_PROFILE_CLOUD) {
        const ice_direction axis = {step->dx, step->dy, step->dz};
        const float depth = profile == ICE_PROFILE_CLOUD || step->length <= 0.0f
                                ? ice_uniform(draw.a)
                                : ice_profile_gamma(setting, identity, step->beta);
        n = ice_deflect(axis, ice_profile_emitter_angle(draw.b), ice_uniform(draw.c) * ICE_TURN);
        own->ahead = depth * step->length;
        own->emission.length = (float)ICE_EMITTER_LENGTH;
        ice_profile_move(&own->emission, axis, own->ahead);
    } else {
        n = ice_profile_beam(profile, step, draw);
        own->emission.length = 0.0f;
        if (step->flags & ICE_EMISSION_GLASS) {
            const ice_block glass = ice_profile_draw(setting, identity, 1u);
            ice_profile_leave_glass(step, setting.radius, glass.a, n, own);
        } else if (step->flags & ICE_EMISSION_SURFACE) {
            own->ahead = setting.radius;
            ice_profile_move(&own->emission, n, own->ahead);
        }
    }
    own->emission.dx = n.x;
    own->emission.dy = n.y;
    own->emission.dz = n.z;
}

#endif
