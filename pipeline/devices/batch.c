#include "pipeline/devices/batch.h"

#include "base/error.h"
#include "pipeline/models/light/curve.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(icestream_step) == 64 && sizeof(icestream_hit) == 64,
               "records of files.md 3.1 and 4.1");

ics_batch_limits ics_batch_limits_default(void)
{
    return (ics_batch_limits){.steps = ICS_BATCH_STEPS,
                              .photons = ICS_BATCH_PHOTONS,
                              .most_photons = UINT32_MAX,
                              .least_photons = ICS_BATCH_PHOTONS,
                              .shares = 1};
}

int ics_batch_create(const ics_batch_limits *limits, uint64_t photons, ics_batch **out,
                     icestream_error *error)
{
    ics_batch *batch = calloc(1, sizeof *batch);
    if (batch == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a batch");
    }
    ics_batch_reset(batch, limits, photons);
    *out = batch;
    return ICESTREAM_OK;
}

void ics_batch_reset(ics_batch *batch, const ics_batch_limits *limits, uint64_t photons)
{
    free(batch->hits);
    ics_graph_arrivals_free(&batch->arrivals);
    uint64_t wanted = photons != 0 ? photons : limits->photons;
    *batch =
        (ics_batch){.steps = batch->steps,
                    .emissions = batch->emissions,
                    .capacity = batch->capacity,
                    .step_limit = limits->steps,
                    .photon_limit = wanted < limits->most_photons ? wanted : limits->most_photons};
}

void ics_batch_destroy(ics_batch *batch)
{
    if (batch != NULL) {
        free(batch->steps);
        free(batch->emissions);
        free(batch->hits);
        ics_graph_arrivals_free(&batch->arrivals);
        free(batch);
    }
}

/* Makes room for one row more; most batches stay far below their limit. */
static int grow_batch(ics_batch *batch, icestream_error *error)
{
    if (batch->count < batch->capacity) {
        return ICESTREAM_OK;
    }
    uint32_t capacity = batch->capacity == 0 ? 256 : batch->capacity * 2;
    icestream_step *steps = realloc(batch->steps, capacity * sizeof *steps);
    if (steps != NULL) {
        batch->steps = steps;
    }
    ice_emission *emissions = realloc(batch->emissions, capacity * sizeof *emissions);
    if (emissions != NULL) {
        batch->emissions = emissions;
    }
    if (steps == NULL || emissions == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a batch of %u steps",
                             capacity);
    }
    batch->capacity = capacity;
    return ICESTREAM_OK;
}

int ics_batch_fill(ics_batch *batch, ics_step_cursor *cursor, bool *full, icestream_error *error)
{
    while (batch->photons < batch->photon_limit && batch->count < batch->step_limit) {
        while (cursor->count > 0 && cursor->first_photon == cursor->steps->photons) {
            cursor->steps++;
            cursor->count--;
            cursor->first_photon = 0;
        }
        if (cursor->count == 0) {
            *full = false;
            return ICESTREAM_OK;
        }
        int status = grow_batch(batch, error);
        if (status != ICESTREAM_OK) {
            return status;
        }
        uint64_t room = batch->photon_limit - batch->photons;
        uint32_t left = cursor->steps->photons - cursor->first_photon;
        uint32_t photons = left < room ? left : (uint32_t)room;
        batch->steps[batch->count] = *cursor->steps;
        batch->emissions[batch->count] =
            ics_batch_step_emission(cursor->steps, cursor->first_photon, photons);
        batch->count++;
        batch->photons += photons;
        cursor->first_photon += photons;
    }
    *full = true;
    return ICESTREAM_OK;
}

ice_emission ics_batch_step_emission(const icestream_step *step, uint32_t first, uint32_t photons)
{
    ice_emission emission = {
        .x = step->x,
        .y = step->y,
        .z = step->z,
        .length = step->length,
        .dx = 0.0f,
        .dy = 0.0f,
        .dz = 1.0f,
        .beta = step->beta,
        .event_low = (uint32_t)step->event_id,
        .event_high = (uint32_t)(step->event_id >> 32),
        .step_id = step->step_id,
        .first_photon = first,
        .photons = photons,
        .spectrum = step->spectrum,
    };
    if ((step->flags & ICESTREAM_STEP_ISOTROPIC) != 0) {
        emission.flags = ICE_EMISSION_ISOTROPIC;
    } else {
        double x = step->dx, y = step->dy, z = step->dz;
        double norm = sqrt(x * x + y * y + z * z);
        emission.dx = (float)(x / norm);
        emission.dy = (float)(y / norm);
        emission.dz = (float)(z / norm);
    }
    return emission;
}

double ics_batch_light_bias(const ice_light *light, double wavelength)
{
    const ics_curve bias = {
        .x = light->bias_wavelength, .y = light->bias, .count = light->bias_count};
    return bias.count > 0 ? ics_curve_at_or_end(&bias, wavelength) : 1.0;
}

int ics_batch_hit_from_arrival(const ics_hit_models *models, const ics_batch *batch,
                               const ice_arrival *arrival, icestream_hit *out,
                               icestream_error *error)
{
    if (arrival->emission >= batch->count || arrival->module >= models->detector->module_count) {
        return ics_error_set(error, ICESTREAM_E_FAILED,
                             "internal error: an arrival names emission %u of %u, module %u of %zu",
                             arrival->emission, batch->count, arrival->module,
                             models->detector->module_count);
    }
    const icestream_step *step = &batch->steps[arrival->emission];
    const ice_emission *emission = &batch->emissions[arrival->emission];
    const ice_module *module = &models->detector->modules[arrival->module];
    double bias = ics_batch_light_bias(models->light, arrival->wavelength);
    double weight = (double)step->weight / bias;
    if (!(bias > 0.0)) {
        return ics_error_set(error, ICESTREAM_E_FAILED,
                             "internal error: event %" PRIu64 ", step %u, photon %u arrived with "
                             "%.3f nm, where the bias is %g",
                             step->event_id, step->step_id, arrival->photon_id,
                             (double)arrival->wavelength, bias);
    }
    if (weight > (double)FLT_MAX) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "event %" PRIu64 ", step %u, field weight: found %g, which divided by "
                             "the probability that its light was kept is beyond %g, the largest "
                             "weight of a hit",
                             step->event_id, step->step_id, (double)step->weight, (double)FLT_MAX);
    }
    *out = (icestream_hit){
        .event_id = step->event_id,
        .t = (double)step->t + ics_tables_arrival_delay(models->tables, emission, arrival),
        .x = arrival->x,
        .y = arrival->y,
        .z = arrival->z,
        .dx = arrival->dx,
        .dy = arrival->dy,
        .dz = arrival->dz,
        .wavelength = arrival->wavelength,
        .weight = (float)weight,
        .step_id = step->step_id,
        .photon_id = arrival->photon_id,
        .string = module->string,
        .module = module->module,
        .pmt = -1,
        .scatters = arrival->scatters < UINT16_MAX ? (uint16_t)arrival->scatters : UINT16_MAX,
    };
    return ICESTREAM_OK;
}

void ics_batch_account_add(icestream_account *to, const icestream_account *from)
{
    to->created += from->created;
    to->absorbed += from->absorbed;
    to->detected += from->detected;
    to->left += from->left;
    to->stopped += from->stopped;
    to->hits += from->hits;
    to->bounces += from->bounces;
    to->photo_electrons += from->photo_electrons;
    to->undetected += from->undetected;
}

int ics_batch_account_check(const icestream_account *account, uint64_t photons, uint64_t hit_rows,
                            icestream_error *error)
{
    uint64_t ended = account->absorbed + account->detected + account->left + account->stopped;
    if (account->created == photons && ended == photons && account->undetected <= account->hits &&
        account->hits - account->undetected == hit_rows) {
        return ICESTREAM_OK;
    }
    return ics_error_set(error, ICESTREAM_E_FAILED,
                         "internal error: the photon account does not close: %" PRIu64
                         " photons in the steps, created %" PRIu64 " = absorbed %" PRIu64
                         " + detected %" PRIu64 " + left %" PRIu64 " + stopped %" PRIu64
                         " (sum %" PRIu64 "); hits counted %" PRIu64 ", rows %" PRIu64,
                         photons, account->created, account->absorbed, account->detected,
                         account->left, account->stopped, ended, account->hits, hit_rows);
}
