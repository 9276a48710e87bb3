/* Light of flashers, lasers and calibration sources (physics.md 2.4, 10.5). */
#ifndef ICS_PHYSICS_LIGHT_LIGHT_FLASHER_H
#define ICS_PHYSICS_LIGHT_LIGHT_FLASHER_H

#include "physics/light/light_draw.h"
#include "stages/profile.h"

#define ICE_DEGREE (ICE_PI / 180.0)

/* ---- beams ----------------------------------------------------------------------------------- */

/* The functions ice_beam_... return 1 - cos of the angle to the axis of a beam, in [0, 2]. The
 * azimuth is uniform. */

/* A Gaussian on the sphere (von Mises-Fisher); sigma in rad, > 0; u in [0, 1). */
ICE_FN double ice_beam_gauss(double sigma, double u)
{
    const double k = sigma * sigma;
    return fmin(fmax(-k * log1p((1.0 - u) * expm1(-2.0 / k)), 0.0), 2.0);
}

ICE_FN double ice_beam_isotropic(double u)
{
    return 2.0 * (1.0 - u);
}

/* Draws an angle with a density proportional to 1 + cos. */
ICE_FN double ice_beam_linear(double u)
{
    return 2.0 * (1.0 - sqrt(u));
}

/* The profile of LEDs that the authors of ppc measured in the laboratory. */
typedef struct ice_led_beam {
    double s1, s2; /* widths of the half Gaussian and of the exponential in x */
    double c1, c2; /* cumulative shares of these two parts; the rest is linear */
} ice_led_beam;

typedef enum ice_led_kind { ICE_LED_AVERAGE, ICE_LED_HORIZONTAL, ICE_LED_TILTED } ice_led_kind;

ICE_FN ice_led_beam ice_led_beam_of(ice_led_kind kind)
{
    const ice_led_beam beams[] = {
        {ICE_LAB_AVERAGE(double)}, {ICE_LAB_HORIZONTAL(double)}, {ICE_LAB_TILTED(double)}};
    return beams[kind];
}

ICE_FN double ice_beam_led(ice_led_kind kind, ice_stream *stream)
{
    const ice_led_beam beam = ice_led_beam_of(kind);
    const double part = ice_stream_uniform(stream);
    double x = 2.0;
    if (part < beam.c1) {
        x = beam.s1 * fabs(ice_stream_normal(stream));
    } else if (part < beam.c2) {
        x = -beam.s2 * log(ice_stream_positive(stream));
    }
    return x < 2.0 ? x : ice_beam_linear(ice_stream_uniform(stream));
}

/* Gives the widths (rad) in polar angle and in azimuth that clsim uses for LEDs. False: there is
 * none for this spectrum (1 .. 5: 340, 370, 405, 450, 505 nm). */
ICE_FN bool ice_led_smear(uint32_t spectrum, bool is_tilted, double *polar, double *azimuth)
{
    const double degrees[][2] = {ICE_CLSIM_SMEAR(double)};
    if (spectrum < 1 || spectrum > 5) {
        return false;
    }
    const uint32_t row = spectrum == 3 && is_tilted ? 5 : spectrum - 1;
    *polar = degrees[row][0] * ICE_DEGREE;
    *azimuth = degrees[row][1] * ICE_DEGREE;
    return true;
}

/* Draws a direction whose two angles are smeared by Gaussians with these widths, rad. */
ICE_FN ice_axis ice_axis_smear(ice_axis axis, double polar, double azimuth, ice_stream *stream)
{
    const double theta = acos(fmin(fmax(axis.z, -1.0), 1.0)) + polar * ice_stream_normal(stream);
    const double phi = atan2(axis.y, axis.x) + azimuth * ice_stream_normal(stream);
    const ice_axis smeared = {sin(theta) * cos(phi), sin(theta) * sin(phi), cos(theta)};
    return smeared;
}

/* ---- LEDs of a module ------------------------------------------------------------------------ */

#define ICE_LEDS                     12
#define ICE_LED_RING                 0.119 /* radius, m */
#define ICE_LED_HEIGHT               0.08  /* above the module's centre, m */
#define ICE_LED_HORIZONTAL_ELEVATION (-0.2 * ICE_DEGREE)
#define ICE_LED_TILTED_ELEVATION     (48.1 * ICE_DEGREE)

/* LEDs 1 .. 6 are tilted and LEDs 7 .. 12 are horizontal. Each group of six has steps of 60
 * degrees. */
ICE_FN bool ice_led_is_tilted(uint32_t led)
{
    return led <= ICE_LEDS / 2;
}

/* Gives the position (m) of LED 1 .. 12 relative to the centre of the module, and the direction of
 * its light. The azimuth is that of LEDs 1 and 7, rad. */
ICE_FN void ice_led_position(uint32_t led, double azimuth, ice_axis *position, ice_axis *direction)
{
    const double turn = azimuth + (double)((led - 1) % 6) * (ICE_PI / 3.0);
    const double elevation =
        ice_led_is_tilted(led) ? ICE_LED_TILTED_ELEVATION : ICE_LED_HORIZONTAL_ELEVATION;
    const ice_axis at = {ICE_LED_RING * cos(turn), ICE_LED_RING * sin(turn), ICE_LED_HEIGHT};
    const ice_axis to = {cos(elevation) * cos(turn), cos(elevation) * sin(turn), sin(elevation)};
    *position = at;
    *direction = to;
}

/* Returns the position of an LED of ppc whose light goes to this direction. */
ICE_FN ice_axis ice_led_ppc_position(ice_axis direction)
{
    const double across = hypot(direction.x, direction.y);
    const double cosine = across > 0.0 ? direction.x / across : 1.0;
    const double sine = across > 0.0 ? direction.y / across : 0.0;
    const ice_axis at = {ICE_LED_PPC_RING * cosine, ICE_LED_PPC_RING * sine, ICE_LED_PPC_HEIGHT};
    return at;
}

/* Returns the distance along a unit direction from a position inside a sphere to its surface. The
 * centre of the sphere is the origin. */
ICE_FN double ice_led_way_out(ice_axis from, ice_axis direction, double radius)
{
    const double along = from.x * direction.x + from.y * direction.y + from.z * direction.z;
    const double square = from.x * from.x + from.y * from.y + from.z * from.z;
    return sqrt(along * along + radius * radius - square) - along;
}

/* Returns the share of the light that passes the surface at this height above the centre. */
ICE_FN double ice_led_ppc_passes(double height)
{
    if (fabs(height) < ICE_LED_PPC_BELT) {
        return 0.0;
    }
    return height < 0.0 ? ICE_LED_PPC_LOWER : 1.0;
}

/* Returns the probability that the angle of a beam of LEDs has 1 - cos below x, in [0, 2]. The
 * half Gaussian and the exponential end so far below 2 that the replacement of ice_beam_led() for
 * angles beyond does not matter. */
ICE_FN double ice_led_beam_below(ice_led_kind kind, double x)
{
    const ice_led_beam beam = ice_led_beam_of(kind);
    const double linear = 1.0 - (1.0 - 0.5 * x) * (1.0 - 0.5 * x);
    return beam.c1 * erf(x / beam.s1 * sqrt(0.5)) - (beam.c2 - beam.c1) * expm1(-x / beam.s2) +
           (1.0 - beam.c2) * linear;
}

/* Returns the share of the light of an LED of ppc that leaves the module: the mean of
 * ice_led_ppc_passes() over the beam, by a sum over rings around the axis of the beam that is
 * accurate to 3e-4. The radius of the module (m) is larger than the distance of the LED. */
ICE_FN double ice_led_ppc_share(ice_led_kind kind, ice_axis axis, double radius)
{
    const int rings = 256, turns = 64;
    const ice_axis from = ice_led_ppc_position(axis);
    double share = 0.0, below = 0.0;
    for (int ring = 0; ring < rings; ++ring) {
        /* The widths of the rings grow with the angle, because most of the light is near the axis.
         */
        const double middle = 2.0 * pow((ring + 0.5) / rings, 2);
        const double next = ice_led_beam_below(kind, 2.0 * pow((ring + 1.0) / rings, 2));
        double passes = 0.0;
        for (int turn = 0; turn < turns; ++turn) {
            const ice_axis to = ice_axis_turn(axis, middle, 2.0 * ICE_PI * (turn + 0.5) / turns);
            passes += ice_led_ppc_passes(from.z + to.z * ice_led_way_out(from, to, radius));
        }
        share += (next - below) * passes / turns;
        below = next;
    }
    return share / below;
}

/* Returns the number of photons of one LED for brightness and width in 0 .. 127 (C. Wendt, as used
 * by clsim). */
ICE_FN double ice_led_output(double brightness, double width)
{
    const double photons = 1.17e10 * (0.0006753 + 0.00005593 * brightness) *
                           (width + 13.9 - 57.5 / (1.0 + brightness / 34.4));
    return fmax(photons, 0.0);
}

/* ---- pulses ---------------------------------------------------------------------------------- */

/* A pulse: linear rise, plateau, exponential fall; all times in ns. */
typedef struct ice_pulse {
    double rise, plateau, fall;
} ice_pulse;

/* Returns the pulse of an LED with width 0 .. 127. Below 13 the rise is the same as at 13. */
ICE_FN ice_pulse ice_led_pulse(double width)
{
    const ice_pulse pulse = {5.0 + 1.91 * log(fmax(width - 12.0, 1.0)),
                             fmax((width - 15.0) * 59.5 / 109.0, 0.0), 4.0};
    return pulse;
}

/* Draws a time (ns) after the start of the pulse. A pulse without extent gives 0. */
ICE_FN double ice_pulse_time(const ice_pulse *pulse, ice_stream *stream)
{
    const double rising = 0.5 * pulse->rise;
    double area = ice_stream_uniform(stream) * (rising + pulse->plateau + pulse->fall);
    if (area < rising) {
        return sqrt(2.0 * area * pulse->rise);
    }
    area -= rising;
    if (area < pulse->plateau || pulse->fall <= 0.0) {
        return pulse->rise + fmin(area, pulse->plateau);
    }
    return pulse->rise + pulse->plateau - pulse->fall * log(ice_stream_positive(stream));
}

/* ---- standard candles (ppc) ------------------------------------------------------------------ */

/* The standard candles: lasers whose light leaves on a cone around the vertical, at a fixed
 * elevation and any azimuth. */
typedef struct ice_candle {
    double x, y, z;   /* m */
    double elevation; /* rad */
} ice_candle;

/* number: 1 or 2. */
ICE_FN ice_candle ice_candle_of(int number)
{
    const ice_candle candles[] = {{544.07, 55.89, 136.86, 48.87 * ICE_DEGREE},
                                  {11.87, 179.19, -205.64, -48.87 * ICE_DEGREE}};
    return candles[number - 1];
}

#endif
