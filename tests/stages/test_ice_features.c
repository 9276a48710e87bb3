/* Tilt, anisotropy, birefringence and hole ice, formula by formula: the worked numbers of
 * physics.md 6 and 8.7, the real tables against an interpolation written out in double precision
 * here, and moments of what is random. */
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ICE_PUT_ARRIVAL(sink, arrival)                                                             \
    ((void)(sink), (void)(arrival), 0) /* nothing is met here                                      \
                                        */
#include "stages/bounce.h"

static const double flow = 130.0 * M_PI / 180.0;

/* Layers of 10 m around the detector with the strengths 0, 0.5 .. 2 in turn. */
static stage_world layered_world(uint32_t features)
{
    enum { LAYERS = 120 };
    double b[LAYERS], a[LAYERS];
    for (int i = 0; i < LAYERS; ++i) {
        b[i] = 0.2 + 0.1 * (i % 4);
        a[i] = 0.01 + 0.002 * (i % 3);
    }
    ice_medium *medium = world_medium_layered(-600.0, 10.0, LAYERS, b, a);
    world_medium_add(medium, features);
    return stage_world_create(medium, world_detector_far(), world_light_line(400.0));
}

/* ---- tilt ------------------------------------------------------------------------------------ */

/* The test table of physics.md 6.1: zshift = nr (0.02 - 0.05 (depth - 1200) / 1200). */
static void fill_test_tilt(ice_tilt *tilt)
{
    tilt->azimuth = 225.0 * M_PI / 180.0;
    tilt->origin = 0.0;
    for (size_t row = 0; row < tilt->depth_count; ++row) {
        for (size_t k = 0; k < tilt->station_count; ++k) {
            const double depth = tilt->first_depth + tilt->depth_step * (double)row;
            tilt->shifts[row * tilt->station_count + k] =
                tilt->stations[k] * (0.02 - 0.05 * (depth - 1200.0) / 1200.0);
        }
    }
}

/* The same line with other stations, so many in 1060 m. */
static void set_stations(ice_tilt *tilt, size_t count)
{
    free(tilt->stations);
    free(tilt->shifts);
    tilt->station_count = count;
    tilt->stations = calloc(count, sizeof *tilt->stations);
    tilt->shifts = calloc(tilt->depth_count * count, sizeof *tilt->shifts);
    ck_assert(tilt->stations && tilt->shifts);
    for (size_t k = 0; k < count; ++k) {
        tilt->stations[k] = -530.0 + 1060.0 * (double)k / (double)(count - 1);
    }
}

/* With two stations, with some, with as many stretches as are constants of a kernel, and more. */
static const size_t station_counts[] = {2, 5, ICE_TILT_STRETCHES + 1, ICE_TILT_STRETCHES + 2, 300};

START_TEST(tilt_of_a_line)
{
    stage_world world = layered_world(ICE_HAS_TILT_LINE);
    set_stations(&world.medium->tilt, station_counts[_i]);
    fill_test_tilt(&world.medium->tilt);
    const ice_tables *tables = stage_world_tables(&world);
    ck_assert_double_eq_tol(ice_shift(tables, 0, 0, 0), 0.0, 1e-6);
    ck_assert_double_eq_tol(ice_shift(tables, 300, 200, -350), 9.105031, 2e-5);
    ck_assert_double_eq_tol(ice_shift(tables, -300, -200, 400), 1.943512, 2e-5);
    /* Far outside of both the stations and the depths the lines go on. */
    uint64_t state = 4;
    for (int i = 0; i < 10000; ++i) {
        const double x = test_between(&state, -3000, 3000), y = test_between(&state, -3000, 3000);
        const double z = test_between(&state, -2000, 2000);
        const double exact = (cos(3.926990817) * x + sin(3.926990817) * y) *
                             (0.02 - 0.05 * (ICE_DETECTOR_DEPTH - z - 1200.0) / 1200.0);
        ck_assert_double_eq_tol(ice_shift(tables, (float)x, (float)y, (float)z), exact, 1e-3);
        ck_assert_double_eq_tol(ice_height(tables, (float)x, (float)y, (float)z), z - exact, 2e-3);
    }
    stage_world_destroy(&world);
}
END_TEST

START_TEST(tilt_that_stays_at_its_edge)
{
    stage_world world = layered_world(ICE_HAS_TILT_LINE);
    ice_tilt *tilt = &world.medium->tilt;
    fill_test_tilt(tilt);
    tilt->azimuth = 0.0;
    tilt->clamp = true;
    const ice_tables *tables = stage_world_tables(&world);
    const double top = ICE_DETECTOR_DEPTH - tilt->first_depth;
    const double last = tilt->stations[tilt->station_count - 1];
    const float corner = ice_shift(tables, (float)last, 0, (float)top);
    ck_assert_double_eq_tol(corner, last * (0.02 + 0.05 * 100.0 / 1200.0), 1e-4);
    ck_assert_double_eq_tol(ice_shift(tables, 5000, 77, 5000), corner, 1e-4);
    stage_world_destroy(&world);
}
END_TEST

/* A map's value in double precision, by the README of the public ice models. */
static double node(const ice_tilt *tilt, size_t row, int i, int j)
{
    const bool there = i < j + (int)tilt->axes[0].cut && j < i + (int)tilt->axes[1].cut;
    const size_t line = tilt->axes[0].count;
    return there ? tilt->shifts[(row * tilt->axes[1].count + (size_t)j) * line + (size_t)i] : 0.0;
}

static double at_row(const ice_tilt *tilt, size_t row, double u, double v)
{
    int i = (int)floor(u), j = (int)floor(v);
    i = i > (int)tilt->axes[0].count - 2 ? (int)tilt->axes[0].count - 2 : i;
    j = j > (int)tilt->axes[1].count - 2 ? (int)tilt->axes[1].count - 2 : j;
    const double p = u - i, r = v - j;
    if (p > r) {
        return (1 - p) * node(tilt, row, i, j) + (p - r) * node(tilt, row, i + 1, j) +
               r * node(tilt, row, i + 1, j + 1);
    }
    return (1 - r) * node(tilt, row, i, j) + (r - p) * node(tilt, row, i, j + 1) +
           p * node(tilt, row, i + 1, j + 1);
}

/* Corners and their rays outwards, in turn; a point in the sector between two rays is a + f (b - a)
 * with a, b on the two rays at the same distance along them. */
static void onto_edge(const ice_tilt *tilt, double *u, double *v)
{
    const double c1 = (double)tilt->axes[0].cut - 1, c2 = (double)tilt->axes[1].cut - 1;
    const double n1 = (double)tilt->axes[0].count - 1, n2 = (double)tilt->axes[1].count - 1;
    const double corners[7][2] = {{0, 0},        {c1, 0}, {n1, n1 - c1}, {n1, n2},
                                  {n2 - c2, n2}, {0, c2}, {0, 0}};
    const double rays[7][2] = {{-1, -1}, {0, -1}, {1, 0}, {1, 1}, {0, 1}, {-1, 0}, {-1, -1}};
    for (int k = 0; k < 6; ++k) {
        const double *a = corners[k], *b = corners[k + 1];
        /* Both rays leave the line of the edge at the same rate. */
        const double ex = b[0] - a[0], ey = b[1] - a[1];
        const double per_s = ex * rays[k][1] - ey * rays[k][0];
        const double s = (ex * (*v - a[1]) - ey * (*u - a[0])) / per_s;
        if (!(s > 0)) {
            continue;
        }
        const double px = a[0] + s * rays[k][0], py = a[1] + s * rays[k][1];
        const double qx = b[0] + s * rays[k + 1][0], qy = b[1] + s * rays[k + 1][1];
        const double along = (*u - px) * (qx - px) + (*v - py) * (qy - py);
        const double f = along / ((qx - px) * (qx - px) + (qy - py) * (qy - py));
        if (f < 0 || f > 1) {
            continue;
        }
        *u = a[0] + f * ex;
        *v = a[1] + f * ey;
        return;
    }
}

static double map_oracle(const ice_tilt *tilt, double x, double y, double z)
{
    const double a = tilt->axes[0].azimuth, b = tilt->axes[1].azimuth;
    const double determinant = cos(a) * sin(b) - sin(a) * cos(b);
    double u = (x * sin(b) - y * cos(b)) / determinant;
    double v = (y * cos(a) - x * sin(a)) / determinant;
    u = (u - tilt->axes[0].first) / tilt->axes[0].step;
    v = (v - tilt->axes[1].first) / tilt->axes[1].step;
    onto_edge(tilt, &u, &v);
    const double depth = (ICE_DETECTOR_DEPTH - z - tilt->first_depth) / tilt->depth_step;
    const double row = fmin(fmax(floor(depth), 0), (double)tilt->depth_count - 2);
    const double low = at_row(tilt, (size_t)row, u, v), high = at_row(tilt, (size_t)row + 1, u, v);
    return low + (depth - row) * (high - low);
}

START_TEST(tilt_of_a_map)
{
    stage_world world = layered_world(ICE_HAS_TILT_MAP);
    const ice_tilt *tilt = &world.medium->tilt;
    const ice_tables *tables = stage_world_tables(&world);
    uint64_t state = 5;
    int inside = 0;
    for (int i = 0; i < 200000; ++i) {
        const double x = test_between(&state, -1500, 1500), y = test_between(&state, -1500, 1500);
        const double z = test_between(&state, -1000, 900);
        const double exact = map_oracle(tilt, x, y, z);
        ck_assert_double_eq_tol(ice_shift(tables, (float)x, (float)y, (float)z), exact, 5e-3);
        inside += hypot(x, y) < 400;
    }
    ck_assert_int_gt(inside, 1000);
    stage_world_destroy(&world);
}
END_TEST

/* ---- anisotropy ------------------------------------------------------------------------------ */

static stage_world anisotropic_world(double azimuth, double m1, double m2, double exponent)
{
    stage_world world = layered_world(0);
    world.medium->flow_azimuth = azimuth;
    world.medium->absorption_exponent = exponent;
    for (size_t i = 0; i < world.medium->layer_count; ++i) {
        world.medium->layers[i].anisotropy_along = m1;
        world.medium->layers[i].anisotropy_across = m2;
    }
    return world;
}

/* A direction given in the frame of the flow. */
static ice_direction in_frame(double azimuth, double n1, double n2, double n3)
{
    const ice_direction n = {(float)(cos(azimuth) * n1 - sin(azimuth) * n2),
                             (float)(sin(azimuth) * n1 + cos(azimuth) * n2), (float)n3};
    return n;
}

/* Of absorption; its inverse is what it says. */
static double factor_along(const ice_tables *tables, ice_direction n)
{
    const ice_absorption_factor slant = ice_absorption_factor_along(tables, 0.0f, n);
    ck_assert_double_eq_tol((double)slant.factor * (double)slant.inverse, 1.0, 3e-7);
    return slant.factor;
}

START_TEST(scattering_anisotropy)
{
    stage_world world = anisotropic_world(216.0 * M_PI / 180.0, 0.04, -0.08, 0.0);
    const ice_tables *tables = stage_world_tables(&world);
    const ice_anisotropy_row row = ice_anisotropy_at(tables, 12.0f);
    const ice_direction n = {0.48f, 0.6f, 0.64f};
    const ice_direction m = ice_unit(ice_stretch(&row.to, n));
    ck_assert_double_eq_tol(m.x, 0.4957009, 2e-7);
    ck_assert_double_eq_tol(m.y, 0.5839840, 2e-7);
    ck_assert_double_eq_tol(m.z, 0.6428401, 2e-7);
    const ice_direction back = ice_unit(ice_stretch(&row.back, m));
    ck_assert_double_eq_tol(back.x, n.x, 2e-7);
    ck_assert_double_eq_tol(back.y, n.y, 2e-7);
    ck_assert_double_eq_tol(back.z, n.z, 2e-7);
    ck_assert_uint_eq(tables->features, ICE_HAS_SCATTERING_ANISOTROPY | ICE_HAS_EVEN_ANISOTROPY);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(old_absorption_anisotropy)
{
    static const struct {
        double m1, m2, along, across, vertical;
    } sets[] = {{0.04, -0.08, 1.135625, 0.786628, 1.135625},
                {-0.069, 0.0345, 0.813020, 1.114991, 1.114991}};
    for (int i = 0; i < 2; ++i) {
        stage_world world = anisotropic_world(1.0, sets[i].m1, sets[i].m2, 1.0);
        const ice_tables *tables = stage_world_tables(&world);
        const double found[3] = {factor_along(tables, in_frame(1.0, 1, 0, 0)),
                                 factor_along(tables, in_frame(1.0, 0, 1, 0)),
                                 factor_along(tables, in_frame(1.0, 0, 0, 1))};
        ck_assert_double_eq_tol(found[0], sets[i].along, 2e-6);
        ck_assert_double_eq_tol(found[1], sets[i].across, 2e-6);
        ck_assert_double_eq_tol(found[2], sets[i].vertical, 2e-6);
        ck_assert_double_le(tables->least_absorption, fmin(found[0], found[1]));
        if (i == 0) {
            const ice_direction n = in_frame(1.0, 0.6, 0.48, 0.64);
            ck_assert_double_eq_tol(factor_along(tables, n), 1.050084, 2e-6);
        }
        stage_world_destroy(&world);
    }
}
END_TEST

START_TEST(old_absorption_anisotropy_on_average)
{
    stage_world world = anisotropic_world(1.0, 0.04, -0.08, 1.0);
    const ice_tables *tables = stage_world_tables(&world);
    double sum = 0.0;
    enum { POLAR = 200, TURN = 200 };
    for (int i = 0; i < POLAR; ++i) {
        for (int j = 0; j < TURN; ++j) {
            const double z = -1.0 + (2.0 * i + 1.0) / POLAR, azimuth = 2 * M_PI * (j + 0.5) / TURN;
            const double r = sqrt(1 - z * z);
            const ice_direction n = {(float)(r * cos(azimuth)), (float)(r * sin(azimuth)),
                                     (float)z};
            const double factor = factor_along(tables, n);
            ck_assert_double_ge(factor, tables->least_absorption);
            sum += factor / (POLAR * TURN);
        }
    }
    /* (B <M> - <NM>) / 2 with <s_i s_i> = 1/5 and <s_i s_j> = 1/15 (physics.md has 1.01566). */
    ck_assert_double_eq_tol(sum, 1.0154333, 2e-5);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(absorption_anisotropy)
{
    stage_world world = layered_world(ICE_HAS_ABSORPTION_ANISOTROPY);
    const ice_tables *tables = stage_world_tables(&world);
    ck_assert_double_eq_tol(factor_along(tables, in_frame(flow, 1, 0, 0)), 0.589814, 1e-6);
    ck_assert_double_eq_tol(factor_along(tables, in_frame(flow, 0, 1, 0)), 1.450708, 2e-6);
    ck_assert_double_eq_tol(factor_along(tables, in_frame(flow, 0, 0, -1)), 1.450708, 2e-6);
    ck_assert_double_eq_tol(tables->least_absorption, 0.589814, 1e-4);
    ck_assert_double_lt(tables->least_absorption, 0.589814);
    stage_world_destroy(&world);
}
END_TEST

/* The segment from (x, y) along n. */
static ice_segment segment_from(const ice_tables *tables, ice_segment_start start, float x, float y,
                                ice_direction n, float clearance)
{
    const ice_photon photon = {.x = x, .y = y, .dx = n.x, .dy = n.y, .dz = n.z};
    return ice_find_segment(ICE_propagate_cumulative, tables, start, &photon, clearance);
}

/* The coefficient along n is a times the factor: a flight that nothing scatters ends so much
 * earlier. */
START_TEST(absorbed_at_the_right_distance)
{
    stage_world world = layered_world(ICE_HAS_ABSORPTION_ANISOTROPY);
    const ice_tables *tables = stage_world_tables(&world);
    const ice_optics optics = ice_optics_at(tables, 400.0f);
    const ice_direction along = in_frame(flow, 1, 0, 0), across = in_frame(flow, 0, 1, 0);
    const ice_segment_start start = {3.0f, 0.0f, 1e6f, 0.5f, optics};
    const float a = segment_from(tables, start, 0.0f, 0.0f, along, 1e9f).length;
    const float b = segment_from(tables, start, 0.0f, 0.0f, across, 1e9f).length;
    const ice_layer_row *row = &tables->layers[ice_layer_at(tables, 3.0f)];
    ck_assert_double_eq_tol(a, 0.5 / (row->dust * 0.589814), 1e-3);
    ck_assert_double_eq_tol(b, 0.5 / (row->dust * 1.450708), 1e-3);
    /* What a scatter leaves is a depth of the photon's, whatever the direction. */
    const ice_segment_start scattered = {3.0f, 0.0f, 1.0f, 0.5f, optics};
    const ice_segment s = segment_from(tables, scattered, 0.0f, 0.0f, along, 1e9f);
    ck_assert_double_eq_tol(s.absorption, 0.5 - s.length * row->dust * 0.589814, 1e-6);
    stage_world_destroy(&world);
}
END_TEST

/* ---- birefringence --------------------------------------------------------------------------- */

START_TEST(strengths_by_angle)
{
    static const struct {
        double angle, sx, sy, mx;
    } rows[] = {{0, 0.076795, 0.077381, 0},
                {30, 0.062604, 0.068607, 0.004248},
                {60, 0.038317, 0.048744, 0.001638},
                {90, 0.029460, 0.040100, 0}};
    stage_world world = layered_world(ICE_HAS_BIREFRINGENCE);
    const ice_tables *tables = stage_world_tables(&world);
    for (int i = 0; i < 4; ++i) {
        const double angle = rows[i].angle * M_PI / 180.0;
        const ice_deflection row = ice_deflection_at(tables, (float)cos(angle), (float)sin(angle));
        ck_assert_double_eq_tol(2.0 * row.along, rows[i].sx, 2e-6);
        ck_assert_double_eq_tol(2.0 * row.across, rows[i].sy, 2e-6);
        ck_assert_double_eq_tol(2.0 * row.mean, rows[i].mx, 2e-6);
    }
    /* Between the knots of the table. */
    const double *c = world.medium->birefringence.along, *m = world.medium->birefringence.mean;
    for (int i = 0; i <= 5000; ++i) {
        const double angle = 0.5 * M_PI * i / 5000, sine = sin(angle), cosine = cos(angle);
        const ice_deflection row = ice_deflection_at(tables, (float)cosine, (float)sine);
        ck_assert_double_eq_tol(2.0 * row.along, c[0] * exp(-c[1] * pow(atan(c[3] * sine), c[2])),
                                5e-6);
        ck_assert_double_eq_tol(
            2.0 * row.mean, m[0] * atan(m[3] * sine * cosine) * exp(-m[1] * sine + m[2] * cosine),
            2e-6);
    }
    stage_world_destroy(&world);
}
END_TEST

/* A bent segment's direction at the end, and how far that is from the end of the straight one. */
typedef struct bent_segment {
    ice_direction direction, shift;
} bent_segment;

static bent_segment bend(const ice_tables *tables, ice_direction n, ice_birefringence_sum over,
                         float length, ice_normal g)
{
    const ice_direction nowhere = {0.0f, 0.0f, 0.0f};
    const ice_deflected bent = ice_deflection_by(tables, n, over, length, g);
    return (bent_segment){ice_add_flow_vector(tables, n, bent.direction),
                          ice_add_flow_vector(tables, nowhere, bent.position)};
}

START_TEST(worked_deflection)
{
    stage_world world = layered_world(ICE_HAS_BIREFRINGENCE);
    const ice_tables *tables = stage_world_tables(&world);
    const ice_direction n = {0.48f, 0.6f, 0.64f};
    const ice_birefringence_sum over = {10.0f, 10.0f};
    static const ice_normal none = {0, 0, 0, 0}, one = {1, 0, 0, 0};
    const bent_segment bent = bend(tables, n, over, 10.0f, none);
    ck_assert_double_eq_tol(bent.direction.x, 0.4780209, 3e-7);
    ck_assert_double_eq_tol(bent.direction.y, 0.6018647, 3e-7);
    ck_assert_double_eq_tol(bent.direction.z, 0.6397303, 3e-7);
    /* Half of the segment in the old direction, half in that of the middle. */
    ck_assert_double_eq_tol(bent.shift.x, 5.0 * (0.4780209 - 0.48), 3e-6);
    ck_assert_double_eq_tol(bent.shift.y, 5.0 * (0.6018647 - 0.6), 3e-6);
    /* sx sqrt(RA) = 0.0954558 more along q turns by 2 atan(d / 2). */
    const ice_direction turned = bend(tables, n, over, 10.0f, one).direction;
    const double cosine = (double)turned.x * n.x + (double)turned.y * n.y + (double)turned.z * n.z;
    ck_assert_double_eq_tol(acos(cosine), 2 * atan(0.5 * (0.0954558 + 0.00273251)), 2e-6);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(deflection_along_the_axis)
{
    /* Nothing divides by zero where n is the flow axis, and n stays a unit vector. */
    stage_world world = layered_world(ICE_HAS_BIREFRINGENCE);
    const ice_tables *tables = stage_world_tables(&world);
    const ice_birefringence_sum over = {10.0f, 10.0f};
    static const ice_normal g = {1.0f, -1.0f, 0.5f, 2.0f};
    for (int sign = -1; sign <= 1; sign += 2) {
        const ice_direction n = {(float)sign * tables->flow_x, (float)sign * tables->flow_y, 0.0f};
        const ice_direction m = bend(tables, n, over, 10.0f, g).direction;
        ck_assert_double_eq_tol(ice_square(m), 1.0, 1e-6);
        ck_assert(isfinite(m.x) && isfinite(m.y) && isfinite(m.z));
    }
    stage_world_destroy(&world);
}
END_TEST

/* Integrals of the strengths over segments against sums of small pieces. */
START_TEST(integrals_over_layers)
{
    stage_world world = layered_world(ICE_HAS_BIREFRINGENCE);
    const ice_tables *tables = stage_world_tables(&world);
    uint64_t state = 6;
    for (int i = 0; i < 2000; ++i) {
        const double z = test_between(&state, -650, 650), length = test_between(&state, 0, 60);
        const double nz = i % 10 == 0 ? 0.0 : test_between(&state, -1, 1);
        const ice_birefringence_sum over =
            ice_birefringence_over(tables, (float)z, (float)nz, (float)length);
        enum { PIECES = 4000 };
        double diffusion = 0, mean = 0;
        for (int k = 0; k < PIECES; ++k) {
            const double at = z + nz * length * (k + 0.5) / PIECES;
            const double j = fmin(fmax(floor((at + 600) / 10), 0), 119);
            diffusion += 0.5 * fmod(j, 5) * length / PIECES;
            mean += 0.5 * fmod(j, 4) * length / PIECES;
        }
        ck_assert_double_eq_tol(over.diffusion, diffusion, 0.03);
        ck_assert_double_eq_tol(over.mean, mean, 0.03);
    }
    stage_world_destroy(&world);
}
END_TEST

/* Where the mean deflection is as strong as the diffusion but for a factor, that is in the table of
 * angles; where it is not, it has a profile of its own. */
START_TEST(strengths_in_proportion)
{
    stage_world world = layered_world(ICE_HAS_BIREFRINGENCE);
    const ice_tables *tables = stage_world_tables(&world);
    const float sine = 0.6f, cosine = 0.8f;
    const float mean = ice_deflection_at(tables, cosine, sine).mean;
    ck_assert_uint_eq(tables->features, ICE_HAS_BIREFRINGENCE | ICE_HAS_MEAN_BIREFRINGENCE);
    for (size_t i = 0; i < world.medium->layer_count; ++i) {
        world.medium->layers[i].birefringence_mean = 3.0 * world.medium->layers[i].birefringence;
    }
    tables = stage_world_tables(&world);
    ck_assert_uint_eq(tables->features, ICE_HAS_BIREFRINGENCE);
    ck_assert_double_eq_tol(ice_deflection_at(tables, cosine, sine).mean, 3.0 * mean, 1e-9);
    const ice_birefringence_sum over = ice_birefringence_over(tables, 12.0f, 0.5f, 40.0f);
    ck_assert_float_gt(over.diffusion, 0.0f);
    ck_assert(over.mean == over.diffusion);
    stage_world_destroy(&world);
}
END_TEST

/* Moments over many segments of 1 m: mean and spread of the deflection as 6.4 says per metre, the
 * displacement's correlation with the angle sqrt(3)/2, its rms L theta / sqrt(3) in each plane. A
 * right code fails each of the six comparisons (5 sigma) with a chance of 6e-7. */
START_TEST(moments_per_metre)
{
    stage_world world = layered_world(ICE_HAS_BIREFRINGENCE);
    const ice_tables *tables = stage_world_tables(&world);
    const double angle = 0.5;
    const ice_direction n = in_frame(flow, cos(angle), 0, sin(angle));
    const ice_direction q = in_frame(flow, sin(angle), 0, -cos(angle));
    const ice_birefringence_sum over = {1.0f, 1.0f};
    const ice_deflection row = ice_deflection_at(tables, (float)cos(angle), (float)sin(angle));
    const int count = (int)test_scaled(1000000);
    double mean = 0, along = 0, across = 0, shift = 0, both = 0;
    for (int i = 0; i < count; ++i) {
        const ice_identity identity = {7, 0, 3, (uint32_t)i};
        const ice_spare spare = ice_spare_of(ice_draw_of(tables, identity, ICE_BLOCK_BOUNCE));
        const bent_segment bent = bend(tables, n, over, 1.0f, ice_normals(spare));
        const double tq = (double)bent.direction.x * q.x + (double)bent.direction.y * q.y +
                          (double)bent.direction.z * q.z;
        const double tp =
            -(double)bent.direction.x * sin(flow) + (double)bent.direction.y * cos(flow);
        const double sp = -(double)bent.shift.x * sin(flow) + (double)bent.shift.y * cos(flow);
        mean += tq / count;
        along += tq * tq / count;
        across += tp * tp / count;
        shift += sp * sp / count;
        both += sp * tp / count;
    }
    const double sx = 2.0 * row.along, sy = 2.0 * row.across, mx = 2.0 * row.mean;
    /* The turn 2 atan(d/2) is shorter than d by d^3/12, its sine by d^3/4: 0.2 % of squares. */
    const double relative = 5.0 * sqrt(2.0 / count) + 0.01;
    ck_assert_double_eq_tol(mean, mx, 5.0 * sx / sqrt(count) + 0.01 * mx);
    ck_assert_double_eq_tol(along / (sx * sx + mx * mx), 1.0, relative);
    ck_assert_double_eq_tol(across / (sy * sy), 1.0, relative);
    ck_assert_double_eq_tol(shift / (sy * sy / 3.0), 1.0, relative);
    ck_assert_double_eq_tol(both / (sy * sy / 2.0), 1.0, relative);
    ck_assert_double_eq_tol(both / sqrt(shift * across), sqrt(0.75), 0.01);
    stage_world_destroy(&world);
}
END_TEST

/* ---- hole ice -------------------------------------------------------------------------------- */

/* A string at the origin, its column a metre wide, in ice of one layer. */
static stage_world world_with_hole(double scattering, double absorption)
{
    static const double module[1][3] = {{0, 0, 0}};
    ice_medium *medium = world_medium_uniform(2.5, 0.9, 0.35, 100.0);
    medium->hole = (ice_hole){.radius = 1.0,
                              .effective_scattering = scattering / (1.0 - 0.9),
                              .absorption = absorption,
                              .mean_cosine = 0.9,
                              .liu_fraction = 0.35};
    return stage_world_create(medium, world_detector(module, 1, 1.0), world_light_line(400.0));
}

static ice_segment fly(const ice_tables *tables, float x, ice_direction n, float scattering,
                       float absorption)
{
    const ice_segment_start start = {5.0f, n.z, scattering, absorption,
                                     ice_optics_at(tables, 400.0f)};
    return segment_from(tables, start, x, 0.0f, n, 0.0f);
}

START_TEST(worked_crossings)
{
    /* Ice: 0.4 scatters per metre, 0.01 absorptions; hole: 2 and 0.05. */
    stage_world world = world_with_hole(0.5, 20.0);
    const ice_tables *tables = stage_world_tables(&world);
    const ice_direction forward = {1, 0, 0}, up = {0, 0, 1}, aslant = {0.6f, 0, 0.8f};
    /* From 5 m before the column: 4 m of ice cost 1.6, 2 m of column 4, behind it ice again. */
    ck_assert_double_eq_tol(fly(tables, -5, forward, 1.0f, 9).length, 2.5, 1e-5);
    ck_assert_double_eq_tol(fly(tables, -5, forward, 2.6f, 9).length, 4.5, 1e-5);
    ck_assert_double_eq_tol(fly(tables, -5, forward, 6.0f, 9).length, 7.0, 1e-5);
    ck_assert_double_eq_tol(fly(tables, -5, forward, 6.0f, 9).absorption, 9 - 0.04 - 0.1 - 0.01,
                            1e-5);
    /* Absorption: 0.04 on the way to the column, 0.1 in it. */
    ck_assert_double_eq_tol(fly(tables, -5, forward, 99, 0.03f).length, 3.0, 1e-5);
    ck_assert_double_eq_tol(fly(tables, -5, forward, 99, 0.09f).length, 5.0, 1e-5);
    ck_assert_double_eq_tol(fly(tables, -5, forward, 99, 0.15f).length, 7.0, 1e-4);
    ck_assert_float_eq(fly(tables, -5, forward, 99, 0.15f).absorption, 0.0f);
    /* From within, and along the axis, where there is no way out. */
    ck_assert_double_eq_tol(fly(tables, 0, forward, 2.4f, 9).length, 2.0, 1e-5);
    ck_assert_double_eq_tol(fly(tables, 0.9f, up, 8.0f, 9).length, 4.0, 1e-5);
    ck_assert_double_eq_tol(fly(tables, 1.1f, up, 8.0f, 9).length, 20.0, 1e-5);
    /* Aslant a column is longer: 2 / 0.6 m. */
    ck_assert_double_eq_tol(fly(tables, -4, aslant, 2.0f + 2.0f, 9).length, 6.0, 1e-5);
    /* Past it. */
    const ice_direction past = {1, 0, 0};
    const ice_segment_start start = {5.0f, 0, 1.6f, 9, ice_optics_at(tables, 400.0f)};
    ck_assert_double_eq_tol(segment_from(tables, start, -5.0f, 1.01f, past, 0.0f).length, 4.0,
                            1e-5);
    ck_assert(ice_in_hole(tables, 0.7f, 0.7f));
    ck_assert(!ice_in_hole(tables, 0.72f, 0.72f));
    ck_assert(!ice_in_hole(tables, 300.0f, 0.0f));
    stage_world_destroy(&world);
}
END_TEST

/* A column of the same ice changes nothing, whatever the way through it. */
START_TEST(column_of_ice)
{
    stage_world world = world_with_hole(2.5, 100.0);
    const ice_tables *tables = stage_world_tables(&world);
    uint64_t state = 8;
    for (int i = 0; i < 100000; ++i) {
        double v[3];
        test_direction(&state, v);
        const ice_direction n = {(float)v[0], (float)v[1], (float)v[2]};
        const float scattering = (float)test_between(&state, 0, 8);
        const float absorption = (float)test_between(&state, 1e-3, 0.2);
        const ice_segment s =
            fly(tables, (float)test_between(&state, -4, 4), n, scattering, absorption);
        const double length = fmin(scattering * 2.5, absorption * 100.0);
        ck_assert_double_eq_tol(s.length, length, 1e-4 + 1e-5 * length);
        ck_assert_double_eq_tol(s.absorption, fmax(absorption - scattering * 0.025, 0), 1e-5);
    }
    stage_world_destroy(&world);
}
END_TEST

/* A row of more columns than any real detector has in line: none is left out, however many a
 * segment passes. */
START_TEST(hundred_columns)
{
    enum { COLUMNS = 100 };
    double modules[COLUMNS][3] = {{0}};
    for (int k = 0; k < COLUMNS; ++k) {
        modules[k][0] = 10.0 * k;
    }
    stage_world world = world_with_hole(0.5, 20.0);
    stage_world_set_detector(&world, world_detector(modules, COLUMNS, 1.0));
    const ice_tables *tables = stage_world_tables(&world);
    const ice_direction forward = {1, 0, 0};
    /* 4 m and 99 times 8 m of ice, 100 times 2 m of columns, and 10 m of ice behind them. */
    const double scattering = 0.4 * (4 + 99 * 8) + 2.0 * 200, absorption = 0.01 * 796 + 0.05 * 200;
    const ice_segment behind = fly(tables, -5, forward, (float)(scattering + 0.4 * 10), 99);
    ck_assert_double_eq_tol(behind.length, 5 + 990 + 1 + 10, 2e-3);
    ck_assert_double_eq_tol(behind.absorption, 99 - absorption - 0.1, 1e-3);
    /* In the last but one, half way through. */
    const ice_segment within = fly(tables, -5, forward, (float)(scattering - 4 - 3.2 - 2), 99);
    ck_assert_double_eq_tol(within.length, 5 + 980, 2e-3);
    stage_world_destroy(&world);
}
END_TEST

/* ---- optics by wavelength -------------------------------------------------------------------- */

START_TEST(optics_by_wavelength)
{
    stage_world world = stage_world_create(world_medium_uniform(10.0, 0.9, 0.0, 1.0),
                                           world_detector_far(), world_light_line(400.0));
    ice_medium *medium = world.medium;
    medium->layers[0].effective_scattering = 1.0 - medium->mean_cosine;
    medium->layers[0].dust_absorption = 1.0;
    medium->spectral = calloc(ICE_SPECTRAL_ROWS, sizeof *medium->spectral);
    ck_assert_ptr_nonnull(medium->spectral);
    for (int i = 0; i < ICE_SPECTRAL_ROWS; ++i) {
        medium->spectral[i] = (ice_spectral_optics){.phase_index = 1.4 - 1e-4 * i,
                                                    .group_index = 1.45 - 2e-4 * i,
                                                    .scattering = 0.02 + 1e-4 * i,
                                                    .absorption = 0.1 - 1e-4 * i};
    }
    const ice_tables *tables = stage_world_tables(&world);
    for (double wavelength = ICE_WAVELENGTH_MIN; wavelength <= ICE_WAVELENGTH_MAX;
         wavelength += 0.37) {
        const double i = wavelength - ICE_WAVELENGTH_MIN;
        const ice_optics optics = ice_optics_at(tables, (float)wavelength);
        const ice_layer_row *row = &tables->layers[0];
        ck_assert_double_eq_tol(ice_scattering(optics, row->scattering, row->bubbles),
                                0.02 + 1e-4 * i, 1e-6);
        ck_assert_double_eq_tol(ice_absorption(optics, row->dust, row->ice), 0.1 - 1e-4 * i, 1e-6);
        ck_assert_double_eq_tol(ice_medium_index(tables, (float)wavelength), 1.4 - 1e-4 * i, 1e-6);
    }
    /* Light of 400 nm flies with that group index, and leaves on that cone. */
    const ice_emission step = {.dx = 1.0f, .beta = 1.0f, .photons = 1};
    const ice_photon photon = ice_create_cherenkov(tables, &step, 0, 0);
    ck_assert_double_eq_tol(photon.dx, 1.0 / 1.385, 1e-6);
    const ice_arrival arrival = {.path = 100.0f, .wavelength = 400.0f};
    ck_assert_double_eq_tol(ics_tables_arrival_delay(tables, &step, &arrival),
                            100.0 * 1.42 / ICE_LIGHT_SPEED, 1e-3);

    medium->spectral[17].absorption = 0.0;
    ics_tables *none = NULL;
    icestream_error error = {.status = ICESTREAM_OK};
    ck_assert_int_eq(
        ics_tables_create(medium, world.detector, world.light, &world.options, &none, &error),
        ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(error.text, "267 nm"));
    stage_world_destroy(&world);
}
END_TEST

ICS_TEST_MAIN("ice features")
{
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 300);
    tcase_add_loop_test(all, tilt_of_a_line, 0, sizeof station_counts / sizeof *station_counts);
    tcase_add_test(all, tilt_that_stays_at_its_edge);
    tcase_add_test(all, tilt_of_a_map);
    tcase_add_test(all, scattering_anisotropy);
    tcase_add_test(all, old_absorption_anisotropy);
    tcase_add_test(all, old_absorption_anisotropy_on_average);
    tcase_add_test(all, absorption_anisotropy);
    tcase_add_test(all, absorbed_at_the_right_distance);
    tcase_add_test(all, strengths_by_angle);
    tcase_add_test(all, strengths_in_proportion);
    tcase_add_test(all, worked_deflection);
    tcase_add_test(all, deflection_along_the_axis);
    tcase_add_test(all, integrals_over_layers);
    tcase_add_test(all, moments_per_metre);
    tcase_add_test(all, worked_crossings);
    tcase_add_test(all, column_of_ice);
    tcase_add_test(all, hundred_columns);
    tcase_add_test(all, optics_by_wavelength);
    suite_add_tcase(suite, all);
}
