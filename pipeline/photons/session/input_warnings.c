#include "pipeline/photons/session/input_warnings.h"

#include "pipeline/photons/models/ice/medium.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

enum { TEXT = 8192 }; /* the longest sentence */

/* The share of stopped photons that is worth a line. */
#define STOPPED_LEAST 1e-4

/* The largest time (ns) that single precision rounds by less than 0.001 ns. */
#define TIME_MOST 32768.0

/* Longer steps (m) than the world is wide. */
#define LENGTH_MOST 20000.0

/* One row of the tables of usual values: reports the sentence unless the value is usual. If `said`
 * is not NULL, it remembers that the sentence was reported, and no later input gets it. */
__attribute__((format(printf, 4, 5))) static void expect(const ics_input_warnings *self, bool *said,
                                                         bool is_usual, const char *format, ...)
{
    char text[TEXT];
    if (is_usual || (said != NULL && *said)) {
        return;
    }
    if (said != NULL) {
        *said = true;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    self->report(self->user, false, text);
}

/* A little less than the speed below which no wavelength of Cherenkov light is emitted, because the
 * kernels compute with floats. */
static float find_least_beta(const ics_models *models)
{
    const ice_spectrum *light = &models->light->spectra[0];
    double index = 1;
    for (size_t i = 0; i < light->count; ++i) {
        index = fmax(index, ics_ice_phase_index(models->medium, light->wavelength[i]));
    }
    return (float)((1 - 1e-5) / index);
}

void ics_input_warnings_begin(ics_input_warnings *self, const ics_models *models,
                              ics_report_warning *receive, void *user)
{
    self->report = receive;
    self->user = user;
    self->least_beta = find_least_beta(models);
    self->detects = models->detection != NULL;
    self->limits = ics_light_limits_of(models->medium, models->detector);
    self->box = (ics_light_box)ICS_LIGHT_BOX_EMPTY;
}

void ics_input_warnings_end(ics_input_warnings *self)
{
    ics_seen_events_free(&self->seen);
}

/* ---- inputs ---------------------------------------------------------------------------------- */

static ics_light_box box_of(const ics_step_extent *extent)
{
    return (ics_light_box){.x = {extent->low[0], extent->high[0]},
                           .y = {extent->low[1], extent->high[1]},
                           .z = {extent->low[2], extent->high[2]}};
}

void ics_input_warnings_check_first(ics_input_warnings *self, const char *name,
                                    const ics_step_extent *extent)
{
    char text[512];
    if (extent->steps == 0) {
        return;
    }
    const ics_light_box box = box_of(extent);
    const float time = (float)fabs(extent->time);
    ics_light_box_add(&self->box, box.x.low, box.y.low, box.z.low);
    ics_light_box_add(&self->box, box.x.high, box.y.high, box.z.high);
    expect(self, &self->warned_position,
           ics_light_judge(&self->limits, &box, text, sizeof text) == ICS_LIGHT_IN_ICE,
           "%s: x, y, z: %s", name, text);
    /* Times that the program which wrote the file has rounded. */
    expect(self, &self->warned_time, !extent->is_single || fabs(extent->time) <= TIME_MOST,
           "%s: t: found %.6g ns in single precision, which rounds such times to within %.2g ns; "
           "usual: t in double precision (f8)",
           name, extent->time, 0.5 * ((double)nextafterf(time, INFINITY) - (double)time));
    expect(self, &self->warned_weight, 2 * extent->weightless <= extent->steps,
           "%s: weight: found 0 in %" PRIu64 " of the first %" PRIu64
           " steps, so that %s; usual: 1",
           name, extent->weightless, extent->steps,
           self->detects ? "their photons make no photo-electrons" : "their hits count nothing");
    expect(self, &self->warned_length, extent->longest <= LENGTH_MOST,
           "%s: length: found %.6g m, longer than the world, so that light starts far away from "
           "all modules; usual: 0.001 to 2000 m",
           name, extent->longest);
}

void ics_input_warnings_check_all(ics_input_warnings *self, const char *name,
                                  const ics_step_watch *watch)
{
    char text[TEXT];
    if (watch->slow_steps > 0) {
        snprintf(
            text, sizeof text,
            "%s: %" PRIu64 " of %" PRIu64 " steps, the first one in row %" PRIu64
            ", are below the Cherenkov threshold of all wavelengths (beta below %.4g) and make "
            "no light",
            name, watch->slow_steps, watch->rows, watch->first_slow, (double)self->least_beta);
        self->report(self->user, true, text);
    }
    if (ics_seen_events_look(&self->seen, name, &watch->spans, text, sizeof text)) {
        self->report(self->user, false, text);
    }
}

/* ---- results --------------------------------------------------------------------------------- */

/* Writes how far the light is from the modules: ", the light begins 4900 m from ...". */
static void describe_distance(const ics_input_warnings *self, char *text, size_t size)
{
    const double distance =
        self->box.x.low <= self->box.x.high ? ics_light_distance(&self->limits, &self->box) : NAN;
    if (isinf(distance)) {
        snprintf(text, size, "; all modules are excluded or off");
    } else if (isnan(distance)) {
        snprintf(text, size, "; in the clearest ice light decreases by a factor e every %.3g m",
                 self->limits.length);
    } else {
        snprintf(text, size,
                 "; the nearest module is %.4g m away from the region where the light begins (z = "
                 "%.5g to %.5g m), and in the clearest ice light decreases by a factor e every "
                 "%.3g m",
                 distance, self->box.z.low, self->box.z.high, self->limits.length);
    }
}

static double percent(uint64_t part, uint64_t all)
{
    return 100 * (double)part / (double)all;
}

void ics_input_warnings_check_results(const ics_input_warnings *self, uint32_t bounce_limit,
                                      const icestream_account *account)
{
    char where[512];
    if (account->created == 0) {
        return;
    }
    describe_distance(self, where, sizeof where);
    expect(self, NULL, (double)account->stopped <= STOPPED_LEAST * (double)account->created,
           "run.bounce_limit (%" PRIu32
           ") stopped %.3g %% of the photons, whose hits are missing; usual: 10000, or scattering "
           "lengths of more than some centimetres",
           bounce_limit, percent(account->stopped, account->created));
    expect(self, NULL, account->hits > 0,
           "no hits: %.3g %% of the photons were absorbed, %.3g %% left (they could not reach a "
           "module), %.3g %% were stopped%s",
           percent(account->absorbed, account->created), percent(account->left, account->created),
           percent(account->stopped, account->created), where);
    expect(self, NULL, account->hits == 0 || !self->detects || account->photo_electrons > 0,
           "no photo-electrons of %" PRIu64
           " hits: the weights of the steps are 0, or modules accept little of this light "
           "(light.acceptance: none does not thin it, so that few hits are accepted), or there "
           "were too few photons",
           account->hits);
}
