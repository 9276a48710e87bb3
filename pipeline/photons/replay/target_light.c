#include "pipeline/photons/replay/target_light.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "physics/detect/pmt.h"
#include "pipeline/photons/devices/batch.h"
#include "pipeline/photons/models/detector/sensors.h"
#include "pipeline/photons/models/light/curve.h"
#include "pipeline/photons/models/light/light.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct ics_target_light {
    const ics_models *own, *other;
    const char *name;  /* of the target */
    bool is_same;      /* all weights are 1 */
    bool are_detected; /* hits are photo-electrons */
    /* The integral of the light of each spectrum before thinning, in the unit of its density. */
    double own_all[ICS_SPECTRA_MAX], other_all[ICS_SPECTRA_MAX];
};

/* ---- light ----------------------------------------------------------------------------------- */

static ics_curve curve_of(const ice_spectrum *spectrum)
{
    return (ics_curve){.x = spectrum->wavelength, .y = spectrum->density, .count = spectrum->count};
}

static bool is_line(const ice_spectrum *spectrum)
{
    return spectrum->count == 1;
}

/* Returns the density of the light of a spectrum after thinning. A spectrum may begin or end at 0,
 * and a wavelength in single precision may lie just outside. */
static double density_at(const ice_spectrum *spectrum, double wavelength)
{
    const double edge = 1e-3; /* nm */
    const ics_curve curve = curve_of(spectrum);
    const double low = curve.x[0], high = curve.x[curve.count - 1];
    if (!(wavelength >= low - edge && wavelength <= high + edge)) {
        return 0;
    }
    return ics_curve_at(&curve, fmin(fmax(wavelength, low + edge), high - edge));
}

static void find_integrals(const ice_light *light, double all[ICS_SPECTRA_MAX])
{
    for (size_t k = 0; k < light->count; ++k) {
        const ics_curve curve = curve_of(&light->spectra[k]);
        all[k] = is_line(&light->spectra[k]) ? 1 : ics_curve_integral(&curve) / light->kept[k];
    }
}

/* Returns q kept of a hit, relative to the photons of its source. The photons of Cherenkov light
 * are those of its track unless the step says how many they are. */
static double light_of(const ice_light *light, const double *all, const icestream_step *step,
                       double wavelength)
{
    const ice_spectrum *spectrum = &light->spectra[step->spectrum];
    if (!(light->kept[step->spectrum] > 0)) {
        return 0;
    }
    if (is_line(spectrum)) {
        return light->kept[step->spectrum];
    }
    const bool is_of_track = step->spectrum == 0 && (step->flags & ICESTREAM_STEP_NOT_THINNED) == 0;
    return density_at(spectrum, wavelength) / (is_of_track ? 1 : all[step->spectrum]);
}

/* ---- detection ------------------------------------------------------------------------------- */

/* Returns the probability that a photon is detected, for the step weight 1. PMTs of one module
 * differ by factors that are the same in both runs. */
static double probability_of(const ics_detection *detection, const ice_arrival *arrival)
{
    return detection->tables.pmts != NULL
               ? (double)ice_pmt_common(&detection->tables, arrival)
               : (double)detection->variant->probability(&detection->tables, arrival);
}

double ics_target_light_weight(const ics_target_light *light, const icestream_hit *hit,
                               const icestream_step *step)
{
    const double wavelength = (double)hit->wavelength;
    const ice_light *mine = light->own->light, *others = light->other->light;
    if (light->is_same) {
        return 1;
    }
    double own = light_of(mine, light->own_all, step, wavelength);
    double other = light_of(others, light->other_all, step, wavelength);
    if (light->are_detected) {
        const ice_detector *detector = light->own->detector;
        const ice_module *module =
            ics_sensors_find_module(detector, (ics_module_identity){hit->string, hit->module});
        if (module == NULL) {
            return NAN;
        }
        const ice_arrival arrival = {.x = hit->x,
                                     .y = hit->y,
                                     .z = hit->z,
                                     .dx = hit->dx,
                                     .dy = hit->dy,
                                     .dz = hit->dz,
                                     .wavelength = hit->wavelength,
                                     .module = (uint32_t)(module - detector->modules)};
        own *= probability_of(light->own->detection, &arrival);
        other *= probability_of(light->other->detection, &arrival);
    } else {
        own /= ics_batch_light_bias(mine, wavelength);
        other = other > 0 ? other / ics_batch_light_bias(others, wavelength) : 0;
    }
    return own > 0 ? other / own : (double)NAN;
}

/* ---- what the own run forbids ---------------------------------------------------------------- */

/* What is compared of light at a wavelength. */
typedef struct comparison {
    const ics_target_light *light;
    icestream_error *error;
} comparison;

static int refuse(const comparison *of, const char *key, const char *where, double other,
                  double own)
{
    return ics_error_set(of->error, ICESTREAM_E_CONFIG,
                         "%s: %s: found %.4g %s, expected %.4g as in the hits, because no hit "
                         "stands for light of which their run made none",
                         of->light->name, key, other, where, own);
}

/* Returns the acceptance k at a wavelength, without the efficiency of a module. */
static double acceptance_at(const ice_light *light, size_t k, double wavelength)
{
    const ics_curve curve = {
        .x = light->bias_wavelength, .y = light->acceptances[k], .count = light->bias_count};
    return light->bias_count > 0 ? ics_curve_at_or_end(&curve, wavelength) : light->flat_acceptance;
}

/* The kinds of acceptance of the same modules in both runs: bit k of kinds[l] is set if a module
 * has k here and l in the target. */
typedef struct kind_pairs {
    unsigned kinds[ICE_ACCEPTANCES];
} kind_pairs;

static int check_acceptance(const comparison *of, const kind_pairs *pairs, double wavelength)
{
    const ice_light *mine = of->light->own->light, *others = of->light->other->light;
    for (size_t l = 0; l < ICE_ACCEPTANCES; ++l) {
        const double other = acceptance_at(others, l, wavelength);
        for (size_t k = 0; k < ICE_ACCEPTANCES; ++k) {
            const double own = acceptance_at(mine, k, wavelength);
            if ((pairs->kinds[l] >> k & 1) != 0 && other > 0 && !(own > 0)) {
                char where[64];
                snprintf(where, sizeof where, "at %.6g nm", wavelength);
                return refuse(of, "light.acceptance", where, other, own);
            }
        }
    }
    return ICESTREAM_OK;
}

/* Returns the share of the light of a wavelength that is made. */
static double kept_at(const ice_light *light, double wavelength)
{
    const ics_curve bias = {
        .x = light->bias_wavelength, .y = light->bias, .count = light->bias_count};
    return light->bias_count > 0 ? ics_curve_at(&bias, wavelength) : 1;
}

/* Checks the wavelength in the middle between two points of the curves, between which all of them
 * are linear: what is 0 there is 0 between the points. */
static int check_wavelength(const comparison *of, size_t k, const kind_pairs *pairs,
                            double wavelength)
{
    const ics_curve own = curve_of(&of->light->own->light->spectra[k]);
    const ics_curve other = curve_of(&of->light->other->light->spectra[k]);
    const double there = ics_curve_at(&other, wavelength), here = ics_curve_at(&own, wavelength);
    if (there > 0 && !(here > 0)) {
        const double kept = kept_at(of->light->own->light, wavelength);
        char where[96];
        snprintf(where, sizeof where, "at %.6g nm of spectrum %zu (%.40s)", wavelength, k,
                 of->light->other->light->spectra[k].name);
        return kept > 0 ? refuse(of, "light.spectra", where, there, here)
                        : refuse(of, "light.acceptance", where,
                                 kept_at(of->light->other->light, wavelength), kept);
    }
    return there > 0 && of->light->are_detected ? check_acceptance(of, pairs, wavelength)
                                                : ICESTREAM_OK;
}

static int compare_numbers(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static int check_curves(const comparison *of, size_t k, const kind_pairs *pairs)
{
    const ice_light *mine = of->light->own->light, *others = of->light->other->light;
    const ice_spectrum *own = &mine->spectra[k], *other = &others->spectra[k];
    const double *const lists[] = {own->wavelength, other->wavelength, mine->bias_wavelength,
                                   others->bias_wavelength};
    const size_t counts[] = {own->count, other->count, mine->bias_count, others->bias_count};
    const size_t all = counts[0] + counts[1] + counts[2] + counts[3];
    ICS_FREES double *points = calloc(all, sizeof *points);
    size_t filled = 0;
    if (points == NULL) {
        return ics_error_no_memory(of->error, "light");
    }
    for (size_t i = 0; i < 4; ++i) {
        for (size_t j = 0; j < counts[i]; ++j) {
            points[filled++] = lists[i][j];
        }
    }
    qsort(points, filled, sizeof *points, compare_numbers);
    for (size_t i = 1; i < filled; ++i) {
        if (points[i] > points[i - 1]) {
            ICS_TRY(check_wavelength(of, k, pairs, 0.5 * (points[i] + points[i - 1])));
        }
    }
    return ICESTREAM_OK;
}

static int check_spectrum(const comparison *of, size_t k, const kind_pairs *pairs)
{
    const ice_light *mine = of->light->own->light, *others = of->light->other->light;
    if (k >= others->count) {
        return ics_error_set(of->error, ICESTREAM_E_CONFIG,
                             "%s: light.spectra: found no spectrum %zu, expected one as in the "
                             "hits (%s)",
                             of->light->name, k, mine->spectra[k].name);
    }
    const ice_spectrum *own = &mine->spectra[k], *other = &others->spectra[k];
    if (!(others->kept[k] > 0)) { /* all weights are 0 */
        return ICESTREAM_OK;
    }
    if (!is_line(own) && !is_line(other)) {
        return check_curves(of, k, pairs);
    }
    if (is_line(own) && is_line(other) && own->wavelength[0] == other->wavelength[0]) {
        return of->light->are_detected ? check_acceptance(of, pairs, own->wavelength[0])
                                       : ICESTREAM_OK;
    }
    return ics_error_set(of->error, ICESTREAM_E_CONFIG,
                         "%s: light.spectra: found %s as spectrum %zu, expected %s as in the hits, "
                         "because no hit stands for light of which their run made none",
                         of->light->name, other->name, k, own->name);
}

/* The first x in the steps of which both polynomials were read at which a target accepts light and
 * the own run does not; NAN: none. */
static double find_closed(const ice_detection *own, const ice_detection *other)
{
    enum { STEPS = 4096 };
    for (int i = 0; i < STEPS; ++i) {
        const float x = (2.0f * (float)i + 1.0f) / (float)STEPS - 1.0f;
        const bool opens =
            other == NULL ||
            ice_polynomial_share(other->coefficients, other->coefficient_count, x) > 0.0f;
        if (opens && !(ice_polynomial_share(own->coefficients, own->coefficient_count, x) > 0.0f)) {
            return (double)x;
        }
    }
    return (double)NAN;
}

/* `axes`: the axis of a module differs. */
static int check_angular(const comparison *of, bool axes)
{
    static const char key[] = "detector.angular_acceptance";
    const ics_detection *mine = of->light->own->detection, *others = of->light->other->detection;
    const ice_detection *own = &mine->tables, *other = &others->tables;
    const double own_edge = of->light->own->detector->angular.edge;
    const double other_edge = of->light->other->detector->angular.edge;
    char where[64];
    if (own->has_edge && !(own_edge <= -1)) {
        const bool opens = axes || !other->has_edge || other_edge < own_edge;
        snprintf(where, sizeof where, "as the edge of accepted impacts");
        return opens ? refuse(of, key, where, other->has_edge ? other_edge : -1, own_edge)
                     : ICESTREAM_OK;
    }
    if (own->has_edge) {
        return ICESTREAM_OK;
    }
    const double x = find_closed(own, axes || other->has_edge ? NULL : other);
    if (isnan(x)) {
        return ICESTREAM_OK;
    }
    const double share =
        other->has_edge || axes
            ? 1
            : (double)ice_polynomial_share(other->coefficients, other->coefficient_count, (float)x);
    snprintf(where, sizeof where, "at the cosine %.4g", x);
    return refuse(of, axes ? "detector.axes" : key, where, share, 0);
}

/* Checks one module, and adds its acceptances to the pairs. */
static int check_module(const comparison *of, size_t i, kind_pairs *pairs, bool *axes)
{
    const ice_detection *own = &of->light->own->detection->tables;
    const ice_detection *other = &of->light->other->detection->tables;
    const ice_sensor *mine = &own->sensors[i], *others = &other->sensors[i];
    const ice_module *module = &of->light->own->detector->modules[i];
    char where[64];
    if (others->flags & ICE_SENSOR_OFF) {
        return ICESTREAM_OK;
    }
    snprintf(where, sizeof where, "of string %u, module %u", module->string, module->module);
    if (mine->flags & ICE_SENSOR_OFF) {
        return ics_error_set(of->error, ICESTREAM_E_CONFIG,
                             "%s: detector.voltages: found a voltage %s, expected none as in the "
                             "hits, because no hit stands for light that was not detected",
                             of->light->name, where);
    }
    const bool has_same_cable =
        mine->cable_x == others->cable_x && mine->cable_y == others->cable_y &&
        own->cable_radius == other->cable_radius && own->cable_half == other->cable_half &&
        (others->flags & ICE_SENSOR_CABLE) != 0;
    if ((mine->flags & ICE_SENSOR_CABLE) != 0 && !has_same_cable) {
        return ics_error_set(of->error, ICESTREAM_E_CONFIG,
                             "%s: detector.cables: found %s %s, expected the cable of the hits, "
                             "because no hit stands for light in its shadow",
                             of->light->name,
                             others->flags & ICE_SENSOR_CABLE ? "another cable" : "no cable",
                             where);
    }
    *axes |= mine->back_x != others->back_x || mine->back_y != others->back_y ||
             mine->back_z != others->back_z;
    pairs->kinds[others->acceptance] |= 1u << mine->acceptance;
    return ICESTREAM_OK;
}

/* Whether both have the same PMTs: what stands behind the sensors and curves in their memory. */
static bool has_same_pmts(const ics_detection *own, const ics_detection *other)
{
    const ics_detection *const both[] = {own, other};
    const char *begin[2];
    size_t bytes[2];
    for (int i = 0; i < 2; ++i) {
        const ice_detection *tables = &both[i]->tables;
        const size_t numbers =
            (2 + ICE_ACCEPTANCES) * (size_t)tables->point_count + tables->coefficient_count;
        const size_t before = tables->module_count * sizeof(ice_sensor) + numbers * sizeof(float);
        begin[i] = (const char *)both[i]->memory + before;
        bytes[i] = both[i]->bytes - before;
    }
    return bytes[0] == bytes[1] && memcmp(begin[0], begin[1], bytes[0]) == 0;
}

static int check_detection(const comparison *of, kind_pairs *pairs)
{
    const ics_detection *own = of->light->own->detection, *other = of->light->other->detection;
    bool axes = false;
    if (!has_same_pmts(own, other)) {
        return ics_error_set(of->error, ICESTREAM_E_CONFIG,
                             "%s: detector.types: found other PMTs than those of the hits, "
                             "expected the same, because their windows decide which light is "
                             "detected",
                             of->light->name);
    }
    for (uint32_t i = 0; i < own->tables.module_count; ++i) {
        ICS_TRY(check_module(of, i, pairs, &axes));
    }
    return own->tables.pmts != NULL ? ICESTREAM_OK : check_angular(of, axes);
}

/* ---- creating -------------------------------------------------------------------------------- */

static int check(const comparison *of, const ics_target_hits *hits)
{
    kind_pairs pairs = {{0}};
    bool is_used[ICS_SPECTRA_MAX] = {false};
    if (of->light->are_detected) {
        ICS_TRY(check_detection(of, &pairs));
    }
    for (size_t i = 0; i < hits->count; ++i) {
        is_used[hits->steps[i].spectrum] = true;
    }
    for (size_t k = 0; k < of->light->own->light->count; ++k) {
        if (is_used[k]) {
            ICS_TRY(check_spectrum(of, k, &pairs));
        }
    }
    return ICESTREAM_OK;
}

int ics_target_light_create(const ics_models *own, const ics_models *other,
                            const ics_target_hits *hits, const char *name, ics_target_light **out,
                            icestream_error *error)
{
    const bool is_same = strcmp(own->light_digest, other->light_digest) == 0 &&
                         strcmp(own->detector_digest, other->detector_digest) == 0;
    *out = NULL;
    if (!is_same && hits->content == ICS_CONTENT_BOTH) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "%s: sink.hits: found both, expected hits of photons or of "
                             "photo-electrons, because one weight cannot be that of a row as a "
                             "photon and as a photo-electron",
                             name);
    }
    ics_target_light *light = calloc(1, sizeof *light);
    if (light == NULL) {
        return ics_error_no_memory(error, "light");
    }
    *light = (ics_target_light){.own = own,
                                .other = other,
                                .name = name,
                                .is_same = is_same,
                                .are_detected = hits->content == ICS_CONTENT_PE};
    find_integrals(own->light, light->own_all);
    find_integrals(other->light, light->other_all);
    const comparison of = {light, error};
    const int status = is_same ? ICESTREAM_OK : check(&of, hits);
    if (status != ICESTREAM_OK) {
        ics_target_light_destroy(light);
        return status;
    }
    *out = light;
    return ICESTREAM_OK;
}

void ics_target_light_destroy(ics_target_light *light)
{
    free(light);
}
