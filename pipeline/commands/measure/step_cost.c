#include "pipeline/commands/measure/step_cost.h"

#include "base/error.h"
#include "pipeline/photons/models/ice/medium.h"
#include "stages/reach.h"
#include "stages/tilt.h"

#include <math.h>
#include <stdlib.h>

/* A layer at one wavelength of a spectrum. */
typedef struct node {
    float scatters; /* of a photon that starts here and is not dropped */
    float near;     /* the least absorption within ICE_CLEAR_RANGE, 1/m */
} node;

/* Where photons are while they live, seen from above: the points of rings around their start. The
 * density of a killed diffusion in a plane is K0(r/l) / (2 pi l^2), with the modified Bessel
 * function K0 and l^2 = D/a. The radii, in units of l, are those within which 1/6, 1/2 and 5/6 of
 * it lie: 1 - r K1(r) = 1/6, 1/2, 5/6. */
enum { RINGS = 3, CORNERS = 6 };
static const float ring_radius[RINGS] = {0.49f, 1.257f, 2.62f};

struct ics_step_cost {
    const ice_tables *tables;
    bool drops;   /* graph.reach_cull */
    node *nodes;  /* [spectrum_count][layer_count][ICS_STEP_COST_NODES] */
    float *least; /* [spectrum_count][ICS_STEP_COST_NODES]: the least absorption, 1/m */
    float *range; /* [spectrum_count][layer_count]: the length of diffusion, sqrt(D/a), m */
    float ring[RINGS][CORNERS][2]; /* points in units of the length of diffusion */
};

/* The arrays of one wavelength, each [layer_count]. */
typedef struct column {
    double *absorption; /* 1/m */
    double *scattering; /* geometric, 1/m */
    double *diffusion;  /* m */
    double *scatters;   /* the solution */
    double *factor;     /* of the elimination */
} column;

enum { COLUMN_ARRAYS = sizeof(column) / sizeof(double *) };

static void fill_column(const column *at, const ice_medium *medium, double wavelength)
{
    const double cosine = (1 - medium->rayleigh_fraction) * medium->mean_cosine;
    for (size_t j = 0; j < medium->layer_count; ++j) {
        const double effective = ics_ice_scattering(medium, j, wavelength);
        at->absorption[j] = ics_ice_absorption(medium, j, wavelength);
        at->scattering[j] = effective / (1 - cosine);
        at->diffusion[j] = 1 / (3 * (at->absorption[j] + effective));
    }
}

/* Returns the exchange between layer j and the one above, 1/m: the harmonic mean of D over h. */
static double exchange(const column *at, size_t j, double thickness)
{
    const double below = at->diffusion[j], above = at->diffusion[j + 1];
    return 2 * below * above / (below + above) / thickness;
}

/* Solves the equation of diffusion with one cell for each layer: a matrix with three diagonals, by
 * elimination from below. Nothing passes the ends of the table, because the ice beyond them is
 * that of the last layers. */
static void solve_column(const column *at, size_t count, double thickness)
{
    double below = 0, carried = 0;
    for (size_t j = 0; j < count; ++j) {
        const double above = j + 1 < count ? exchange(at, j, thickness) : 0;
        const double coupled = j > 0 ? below * at->factor[j - 1] : 0;
        const double diagonal = at->absorption[j] * thickness + below + above - coupled;
        carried = (at->scattering[j] * thickness + below * carried) / diagonal;
        at->scatters[j] = carried;
        at->factor[j] = above / diagonal;
        below = above;
    }
    for (size_t j = count - 1; j-- > 0;) {
        at->scatters[j] += at->factor[j] * at->scatters[j + 1];
    }
}

/* Returns the least absorption of the layers that begin within ICE_CLEAR_RANGE of layer j. */
static double near_absorption(const column *at, const ice_medium *medium, size_t j)
{
    const double reach = ceil((double)ICE_CLEAR_RANGE / medium->thickness);
    const size_t layers = reach < (double)medium->layer_count ? (size_t)reach : medium->layer_count;
    const size_t first = j > layers ? j - layers : 0;
    double least = at->absorption[j];
    for (size_t k = first; k <= j + layers && k < medium->layer_count; ++k) {
        least = fmin(least, at->absorption[k]);
    }
    return least;
}

static void fill_nodes(ics_step_cost *cost, const icestream_config *config,
                       const ice_medium *medium, uint32_t spectrum, const column *at)
{
    const size_t count = medium->layer_count;
    const double limit = config->run.bounce_limit;
    for (size_t k = 0; k < ICS_STEP_COST_NODES; ++k) {
        const float u = ((float)k + 0.5f) / (float)ICS_STEP_COST_NODES;
        fill_column(at, medium, (double)ice_wavelength(cost->tables, spectrum, u));
        solve_column(at, count, medium->thickness);
        double least = at->absorption[0];
        for (size_t j = 0; j < count; ++j) {
            const double range = sqrt(at->diffusion[j] / at->absorption[j]);
            cost->range[spectrum * count + j] += (float)(range / ICS_STEP_COST_NODES);
            node *to = &cost->nodes[(spectrum * count + j) * ICS_STEP_COST_NODES + k];
            to->scatters = (float)fmin(at->scatters[j], limit - 1);
            to->near = (float)near_absorption(at, medium, j);
            least = fmin(least, at->absorption[j]);
        }
        cost->least[(size_t)spectrum * ICS_STEP_COST_NODES + k] = (float)least;
    }
}

/* The corners of each second ring lie between those of the others. */
static void fill_rings(ics_step_cost *cost)
{
    for (int i = 0; i < RINGS; ++i) {
        for (int k = 0; k < CORNERS; ++k) {
            const double angle = (k + 0.5 * (i % 2)) * 6.283185307179586 / CORNERS;
            cost->ring[i][k][0] = ring_radius[i] * (float)cos(angle);
            cost->ring[i][k][1] = ring_radius[i] * (float)sin(angle);
        }
    }
}

int ics_step_cost_create(const icestream_config *config, const ics_world *world,
                         ics_step_cost **out, icestream_error *error)
{
    const ice_medium *medium = world->models->medium;
    const size_t spectra = world->models->light->count, layers = medium->layer_count;
    ics_step_cost *cost = calloc(1, sizeof *cost);
    double *memory = calloc(layers * COLUMN_ARRAYS, sizeof *memory);
    if (cost != NULL) {
        cost->tables = &world->tables->device;
        cost->drops = config->graph.reach_cull;
        cost->nodes = calloc(spectra * layers * ICS_STEP_COST_NODES, sizeof *cost->nodes);
        cost->least = calloc(spectra * ICS_STEP_COST_NODES, sizeof *cost->least);
        cost->range = calloc(spectra * layers, sizeof *cost->range);
    }
    if (cost == NULL || memory == NULL || cost->nodes == NULL || cost->least == NULL ||
        cost->range == NULL) {
        free(memory);
        ics_step_cost_destroy(cost);
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for the cost of steps");
    }
    fill_rings(cost);
    const column at = {memory, memory + layers, memory + 2 * layers, memory + 3 * layers,
                       memory + 4 * layers};
    for (uint32_t spectrum = 0; spectrum < spectra; ++spectrum) {
        fill_nodes(cost, config, medium, spectrum, &at);
    }
    free(memory);
    *out = cost;
    return ICESTREAM_OK;
}

void ics_step_cost_destroy(ics_step_cost *cost)
{
    if (cost != NULL) {
        free(cost->nodes);
        free(cost->least);
        free(cost->range);
        free(cost);
    }
}

/* Returns the mean straight way (m) to the nearest module, over the positions of photons that start
 * at (x, y, z). */
static float mean_way(const ics_step_cost *cost, float x, float y, float z, float range)
{
    float sum = 0;
    for (int i = 0; i < RINGS; ++i) {
        for (int k = 0; k < CORNERS; ++k) {
            const float *at = cost->ring[i][k];
            const float clearance =
                ice_clearance(cost->tables, fmaf(range, at[0], x), fmaf(range, at[1], y));
            sum += ice_least_distance(cost->tables, clearance, z);
        }
    }
    return sum / (RINGS * CORNERS);
}

/* Returns the probability that a photon is not dropped whose straight way to a module is `way` (m),
 * with the absorption `near` up to ICE_CLEAR_RANGE and `far` beyond it. */
static float reaches(float near, float far, float way)
{
    const float close = fminf(way, ICE_CLEAR_RANGE);
    return expf(-fmaf(near, close, far * (way - close)));
}

double ics_step_cost_bounces(const ics_step_cost *cost, const icestream_step *step)
{
    const ice_tables *tables = cost->tables;
    /* The middle of a piece of track. What other steps use their length for is much shorter than
     * the way of a photon, or is a time. */
    const bool is_track = (step->flags & (ICE_EMISSION_ISOTROPIC | ICE_EMISSION_PROFILE)) == 0;
    const float half = 0.5f * step->length;
    const float x = is_track ? fmaf(half, step->dx, step->x) : step->x;
    const float y = is_track ? fmaf(half, step->dy, step->y) : step->y;
    const float z = is_track ? fmaf(half, step->dz, step->z) : step->z;
    const size_t layer = (size_t)ice_layer_at(tables, ice_height(tables, x, y, z));
    const size_t row = step->spectrum * (size_t)tables->layer_count + layer;
    const node *nodes = &cost->nodes[row * ICS_STEP_COST_NODES];
    const float *least = &cost->least[(size_t)step->spectrum * ICS_STEP_COST_NODES];
    float here = 0, later = 0; /* m, the way to a module from the start, and after scatters */
    if (cost->drops) {
        here = ice_least_distance(tables, ice_clearance(tables, x, y), z);
        later = mean_way(cost, x, y, z, cost->range[row]);
    }
    double sum = 0;
    for (int k = 0; k < ICS_STEP_COST_NODES; ++k) {
        sum += (double)(reaches(nodes[k].near, least[k], here) +
                        nodes[k].scatters * reaches(nodes[k].near, least[k], later));
    }
    return (double)step->photons * sum / ICS_STEP_COST_NODES;
}
