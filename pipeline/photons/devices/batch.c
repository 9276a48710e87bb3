/* Filling batches with emissions, and their photon accounts. */
#include "pipeline/photons/devices/batch.h"

#include "stages/profile.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The flags of a step are those of an emission, bit by bit. */
_Static_assert((int)ICESTREAM_STEP_ISOTROPIC == (int)ICE_EMISSION_ISOTROPIC &&
                   (int)ICESTREAM_STEP_SURFACE == (int)ICE_EMISSION_SURFACE &&
                   (int)ICESTREAM_STEP_GLASS == (int)ICE_EMISSION_GLASS &&
                   ICESTREAM_STEP_PROFILE(1) == 1 << ICE_PROFILE_SHIFT &&
                   ICESTREAM_STEP_PULSE(1) == 1 << ICE_PULSE_SHIFT,
               "flags of files.md 3.1");
_Static_assert((int)ICESTREAM_PROFILE_CASCADE == (int)ICE_PROFILE_CASCADE &&
                   (int)ICESTREAM_PROFILE_CLOUD == (int)ICE_PROFILE_CLOUD &&
                   (int)ICESTREAM_PROFILE_GAUSS == (int)ICE_PROFILE_GAUSS &&
                   (int)ICESTREAM_PROFILE_LAB_TILTED == (int)ICE_PROFILE_LAB_TILTED &&
                   (int)ICESTREAM_PROFILE_CLSIM_TILTED == (int)ICE_PROFILE_CLSIM_TILTED &&
                   (int)ICESTREAM_PROFILE_CONE == (int)ICE_PROFILE_CONE &&
                   (int)ICESTREAM_PULSE_RECTANGLE == (int)ICE_PULSE_RECTANGLE,
               "profiles and pulses of files.md 3.4");

ics_batch_limits ics_batch_limits_default(void)
{
    return (ics_batch_limits){.steps = ICS_BATCH_STEPS,
                              .photons = ICS_BATCH_PHOTONS,
                              .most_photons = UINT32_MAX,
                              .least_photons = ICS_BATCH_PHOTONS,
                              .shares = 1};
}

uint64_t ics_batch_choose_photons(const ics_batch_limits *limits, uint64_t configured,
                                  uint64_t photons)
{
    const uint64_t share = photons / limits->shares;
    if (configured != 0) {
        return configured;
    }
    if (photons == UINT64_MAX || share > limits->photons) {
        return limits->photons;
    }
    return share > limits->least_photons ? share : limits->least_photons;
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
    ics_batch_clear_results(batch);
    uint64_t wanted = photons != 0 ? photons : limits->photons;
    *batch =
        (ics_batch){.steps = batch->steps,
                    .emissions = batch->emissions,
                    .capacity = batch->capacity,
                    .step_limit = limits->steps,
                    .emission_limit = limits->emission_photons,
                    .photon_limit = wanted < limits->most_photons ? wanted : limits->most_photons};
}

void ics_batch_clear_results(ics_batch *batch)
{
    free(batch->hits);
    ics_graph_arrivals_free(&batch->arrivals);
    free(batch->sums.items);
    batch->sums = (ics_hit_sums){0};
    ics_error_forget(&batch->error);
    batch->hits = NULL;
    batch->hit_count = 0;
    batch->account = (icestream_account){0};
    batch->ended = (ice_account){0};
    memset(batch->photon_cells, 0, sizeof batch->photon_cells);
    free(batch->large_cells);
    batch->large_cells = NULL;
    batch->maths = ICS_MATHS_NONE;
    batch->kernels = (ics_kernels){.code = 0};
    batch->seconds = 0.0;
}

int ics_batch_add_photons(ics_batch *batch, const ics_graph *graph, const ics_large_axes *large)
{
    const uint64_t *cells = ics_graph_photon_cells(graph);
    const uint64_t *large_cells = ics_graph_large_cells(graph);
    for (uint32_t i = 0; i < ICE_PHOTON_CELLS; ++i) {
        batch->photon_cells[i] += cells[i];
    }
    if (batch->large_cells == NULL) {
        ICS_TRY(ics_large_axes_create_cells(large, &batch->large_cells, NULL));
    }
    for (uint32_t i = 0; i < large->cells; ++i) {
        batch->large_cells[i] += large_cells[i];
    }
    return ICESTREAM_OK;
}

void ics_batch_fail(ics_batch *batch, const ics_error_kept *failure)
{
    icestream_error error;
    ics_error_copy_kept(&error, failure);
    ics_error_keep(&batch->error, &error);
}

int ics_batch_error(const ics_batch *batch, const char *name, icestream_error *out)
{
    const int status = ics_error_copy_kept(out, &batch->error);
    if (status == ICESTREAM_E_INPUT) {
        ics_error_set(out, status, "%s: %s", name, batch->error.text);
    }
    return status;
}

void ics_batch_destroy(ics_batch *batch)
{
    if (batch != NULL) {
        ics_batch_clear_results(batch);
        free(batch->steps);
        free(batch->emissions);
        free(batch);
    }
}

/* Makes room for one more emission. The memory grows as needed, because most batches stay far below
 * their limit. */
static int grow_batch(ics_batch *batch, icestream_error *error)
{
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

/* How many more photons the batch may get. */
static uint64_t room_for_photons(const ics_batch *batch, const ics_step_cursor *cursor)
{
    uint64_t room = batch->photons < batch->photon_limit ? batch->photon_limit - batch->photons : 0;
    uint64_t before = cursor->barrier != 0 ? cursor->barrier - cursor->position : room;
    return before < room ? before : room;
}

int ics_batch_fill(ics_batch *batch, ics_step_cursor *cursor, bool *full, icestream_error *error)
{
    uint64_t room = room_for_photons(batch, cursor);
    while (room > 0 && batch->count < batch->step_limit) {
        while (cursor->count > 0 && cursor->first_photon == cursor->steps->photons) {
            cursor->steps++;
            cursor->count--;
            cursor->first_photon = 0;
        }
        if (cursor->count == 0) {
            *full = false;
            return ICESTREAM_OK;
        }
        if (batch->count == batch->capacity) {
            ICS_TRY(grow_batch(batch, error));
        }
        if (batch->count == 0) {
            batch->first_photon = cursor->position;
        }
        uint32_t left = cursor->steps->photons - cursor->first_photon;
        if (batch->emission_limit != 0 && batch->emission_limit < left) {
            left = batch->emission_limit;
        }
        const uint32_t photons = left < room ? left : (uint32_t)room;
        ice_emission *emission = &batch->emissions[batch->count];
        batch->steps[batch->count++] = *cursor->steps;
        *emission = ics_batch_step_emission(cursor->steps, cursor->first_photon, photons);
        batch->has_profile |= (emission->flags & ICE_EMISSION_PROFILE) != 0;
        batch->photons += photons;
        cursor->first_photon += photons;
        cursor->position += photons;
        room -= photons;
    }
    *full = true;
    return ICESTREAM_OK;
}

void ics_batch_pass_over(ics_step_cursor *cursor, uint64_t position)
{
    while (cursor->count > 0 && cursor->position < position) {
        uint32_t left = cursor->steps->photons - cursor->first_photon;
        uint64_t wanted = position - cursor->position;
        uint32_t photons = left < wanted ? left : (uint32_t)wanted;
        cursor->first_photon += photons;
        cursor->position += photons;
        if (cursor->first_photon == cursor->steps->photons) {
            cursor->steps++;
            cursor->count--;
            cursor->first_photon = 0;
        }
    }
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
    emission.flags = step->flags & ~(uint32_t)ICESTREAM_STEP_NOT_THINNED;
    if ((step->flags & ICESTREAM_STEP_ISOTROPIC) == 0) {
        double x = step->dx, y = step->dy, z = step->dz;
        double norm = sqrt(x * x + y * y + z * z);
        emission.dx = (float)(x / norm);
        emission.dy = (float)(y / norm);
        emission.dz = (float)(z / norm);
    }
    return emission;
}

int ics_batch_check_arrival(const ics_hit_models *models, const ics_batch *batch,
                            const ice_arrival *arrival, icestream_error *error)
{
    const uint32_t index = ice_arrival_module(arrival);
    return arrival->emission < batch->count && index < models->detector->module_count
               ? ICESTREAM_OK
               : ics_error_set(
                     error, ICESTREAM_E_FAILED,
                     "internal error: an arrival names emission %u of %u, module %u of %zu",
                     arrival->emission, batch->count, index, models->detector->module_count);
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
