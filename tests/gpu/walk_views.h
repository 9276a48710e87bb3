/* The views of walk_gpu.h. A view has its numbers of SUMS and BINS. start() sees every photon at
 * its start, and segment() every segment. `out` collects the sums of one thread.
 *
 * How to join: a new view joins with its name and sizes in walk_gpu.h, a structure here, a case in
 * walk_loop.h and a row in walk_run.c. */
#ifndef WALK_VIEWS_H
#define WALK_VIEWS_H

#include "tests/gpu/walk_gpu.h"

/* Every thread has its own sums. All threads share the bins. */
template <int SUMS> struct walk_out {
    walk_sum sums[SUMS];
    double *bins;

    __device__ void add(int which, double value)
    {
        sums[which].count += 1.0;
        sums[which].sum += value;
        sums[which].squares += value * value;
    }

    __device__ void put(int bin, double weight)
    {
        atomicAdd(&bins[bin], weight);
    }

    /* `share` is the value of a distribution function, in [0, 1]. */
    __device__ void put_quantile(int first, double share)
    {
        const int bin = static_cast<int>(share * WALK_QUANTILES);
        put(first + min(max(bin, 0), WALK_QUANTILES - 1), 1.0);
    }
};

struct walk_point {
    double x, y, z;
};

/* Returns the position of a photon after a length (m) of its segment. */
static __device__ walk_point point_at(const ice_photon &p, double length)
{
    return {p.x + length * p.dx, p.y + length * p.dy, p.z + length * p.dz};
}

static __device__ bool ics_absorbed(const ice_bounce &bounce)
{
    return bounce.absorption < ICE_ABSORPTION_END;
}

static __device__ double legendre_2(double cosine)
{
    return 1.5 * cosine * cosine - 0.5;
}

static __device__ double turn_share(double y, double x)
{
    const double azimuth = atan2(y, x) / 6.283185307179586;
    return azimuth < 0.0 ? azimuth + 1.0 : azimuth;
}

struct ends_view {
    enum { SUMS = WALK_ENDS_SUMS, BINS = WALK_ENDS_BINS };
    typedef walk_out<SUMS> out;

    static __device__ void start(const walk_job &, const ice_photon &, out &)
    {
    }

    static __device__ void segment(const walk_job &job, const ice_photon &p,
                                   const ice_bounce &bounce, out &o)
    {
        if (!ics_absorbed(bounce)) {
            return;
        }
        const double path = static_cast<double>(p.path) + bounce.length;
        const walk_point at = point_at(p, bounce.length);
        const double excess = p.scatters - path / job.lengths[1];
        o.add(WALK_ENDS_PATH, path);
        o.add(WALK_ENDS_SCATTERS, p.scatters);
        o.add(WALK_ENDS_Z, at.z);
        o.add(WALK_ENDS_RADIUS_SQUARED, at.x * at.x + at.y * at.y + at.z * at.z);
        o.add(WALK_ENDS_EXCESS, excess);
        o.add(WALK_ENDS_TOGETHER, excess * (path - job.lengths[0]));
        o.put(min(p.scatters, WALK_ENDS_SCATTER_BINS - 1u), 1.0);
        o.put_quantile(WALK_ENDS_SCATTER_BINS, -expm1(-path / job.lengths[0]));
    }
};

struct paths_view {
    enum { SUMS = WALK_PATHS_SUMS, BINS = WALK_PATHS_BINS };
    typedef walk_out<SUMS> out;

    static __device__ void start(const walk_job &, const ice_photon &, out &)
    {
    }

    static __device__ void segment(const walk_job &job, const ice_photon &p,
                                   const ice_bounce &bounce, out &o)
    {
        const double begin = p.path, end = begin + bounce.length;
        for (int k = 0; k < WALK_PATHS_MOST && job.lengths[k] < end; ++k) {
            if (job.lengths[k] < begin || job.lengths[k] == 0.0) {
                continue;
            }
            const walk_point at = point_at(p, job.lengths[k] - begin);
            const int first = k * WALK_PATHS_EACH;
            o.add(first, at.z);
            o.add(first + 1, p.dz);
            o.add(first + 2, legendre_2(p.dz));
            o.add(first + 3, at.x * at.x + at.y * at.y + at.z * at.z);
            o.add(first + 4, at.z * at.z);
        }
        for (int k = 0; k < WALK_SCATTERS_MOST; ++k) {
            if (p.scatters == job.counts[k] && p.scatters > 0) {
                o.add(WALK_PATHS_COSINES + k * WALK_SCATTERS_EACH, p.dz);
                o.add(WALK_PATHS_COSINES + k * WALK_SCATTERS_EACH + 1, legendre_2(p.dz));
            }
        }
        if (p.scatters == 9) {
            o.add(WALK_PATHS_TENTH, bounce.length);
            o.put_quantile(0, -expm1(-bounce.length / job.lengths[WALK_LENGTHS - 1]));
        }
    }
};

struct turn_view {
    enum { SUMS = WALK_TURN_SUMS, BINS = WALK_TURN_BINS };
    typedef walk_out<SUMS> out;

    static __device__ void start(const walk_job &, const ice_photon &, out &)
    {
    }

    static __device__ void segment(const walk_job &job, const ice_photon &p, const ice_bounce &,
                                   out &o)
    {
        if (p.scatters != 1) {
            return;
        }
        const ice_emission &beam = job.emission;
        const double dx = p.dx, dy = p.dy, dz = p.dz;
        const double cosine = dx * beam.dx + dy * beam.dy + dz * beam.dz;
        o.add(WALK_TURN_COSINE, cosine);
        o.add(WALK_TURN_P2, legendre_2(cosine));
        for (int k = 0; k < WALK_TURN_CUTS; ++k) {
            if (cosine <= job.lengths[k]) {
                o.put(k, 1.0);
            }
        }
        /* Two vectors across (0.48, 0.6, 0.64), both of length sqrt(0.5904): (0.6, -0.48, 0), and
         * (0, 0, 1) without its part along the beam. */
        o.put_quantile(WALK_TURN_CUTS, turn_share(dx * 0.6 - dy * 0.48, dz - cosine * 0.64));
    }
};

struct shells_view {
    enum { SUMS = WALK_SHELLS_SUMS, BINS = WALK_SHELLS_BINS };
    typedef walk_out<SUMS> out;

    static __device__ void start(const walk_job &, const ice_photon &, out &)
    {
    }

    /* Adds the part of a segment between the lengths `from` and `to` (m) along the segment. */
    static __device__ void piece(out &o, int first, double path, double closest,
                                 double closest_squared, double from, double to)
    {
        if (to <= from) {
            return;
        }
        const double middle = 0.5 * (from + to) - closest;
        const double radius = sqrt(closest_squared + middle * middle);
        const double excess = path + 0.5 * (from + to) - radius;
        const int bin = excess > 0.0 ? static_cast<int>(excess) : 0;
        o.put(first + min(bin, WALK_SHELLS_EXCESS - 1), to - from);
    }

    static __device__ void segment(const walk_job &job, const ice_photon &p,
                                   const ice_bounce &bounce, out &o)
    {
        const double x = p.x, y = p.y, z = p.z, length = bounce.length;
        const double radius_squared = x * x + y * y + z * z;
        const double radius = sqrt(radius_squared);
        const double closest = -(x * p.dx + y * p.dy + z * p.dz);
        const double closest_squared = fmax(radius_squared - closest * closest, 0.0);
        const int batch = static_cast<int>(p.photon_id % WALK_SHELLS_BATCHES);
        if (ics_absorbed(bounce)) {
            o.add(WALK_SHELLS_PATH, p.path + length);
        }
        for (int k = 0; k < WALK_SHELLS_MOST; ++k) {
            const double inner = job.lengths[k] - 0.5, outer = job.lengths[k] + 0.5;
            if (radius + length < inner) {
                break;
            }
            if (radius - length > outer || closest_squared >= outer * outer) {
                continue;
            }
            const double far = sqrt(outer * outer - closest_squared);
            const double near = sqrt(fmax(inner * inner - closest_squared, 0.0));
            const int first = (k * WALK_SHELLS_BATCHES + batch) * WALK_SHELLS_EXCESS;
            piece(o, first, p.path, closest, closest_squared, fmax(closest - far, 0.0),
                  fmin(closest - near, length));
            piece(o, first, p.path, closest, closest_squared, fmax(closest + near, 0.0),
                  fmin(closest + far, length));
        }
    }
};

struct first_view {
    enum { SUMS = WALK_FIRST_SUMS, BINS = WALK_FIRST_BINS };
    typedef walk_out<SUMS> out;

    static __device__ void start(const walk_job &, const ice_photon &, out &)
    {
    }

    static __device__ void segment(const walk_job &job, const ice_photon &,
                                   const ice_bounce &bounce, out &o)
    {
        const double length = bounce.length, face = job.lengths[0];
        const double depth =
            fmin(length, face) * job.lengths[1] + fmax(length - face, 0.0) * job.lengths[2];
        o.add(WALK_FIRST_LENGTH, length);
        o.put_quantile(0, -expm1(-depth));
    }
};

struct start_view {
    enum { SUMS = WALK_START_SUMS, BINS = WALK_START_BINS };
    typedef walk_out<SUMS> out;

    static __device__ void start(const walk_job &job, const ice_photon &p, out &o)
    {
        const ice_emission &step = job.emission;
        const double x = p.dx, y = p.dy, z = p.dz;
        const double shift = (static_cast<double>(p.x) - step.x) * step.dx +
                             (static_cast<double>(p.y) - step.y) * step.dy +
                             (static_cast<double>(p.z) - step.z) * step.dz;
        o.add(WALK_START_SHIFT, shift);
        o.add(WALK_START_WAVELENGTH, p.wavelength);
        o.add(WALK_START_ABSORPTION, p.absorption);
        o.add(WALK_START_X, x);
        o.add(WALK_START_Y, y);
        o.add(WALK_START_Z, z);
        o.add(WALK_START_XX, x * x);
        o.add(WALK_START_YY, y * y);
        o.add(WALK_START_ZZ, z * z);
        for (int k = 0; k < WALK_START_CUTS; ++k) {
            if (p.wavelength <= job.lengths[k]) {
                o.put(k, 1.0);
            }
        }
        o.put_quantile(WALK_START_SHIFT_BINS, shift / step.length);
        o.put_quantile(WALK_START_ABSORPTION_BINS, -expm1(-static_cast<double>(p.absorption)));
        /* The azimuth around the step uses the same two vectors as turn_view. */
        const double cosine = x * step.dx + y * step.dy + z * step.dz;
        o.put_quantile(WALK_START_AZIMUTH_BINS, turn_share(x * 0.6 - y * 0.48, z - cosine * 0.64));
    }

    static __device__ void segment(const walk_job &, const ice_photon &, const ice_bounce &, out &)
    {
    }
};

#endif
