#include "pipeline/generator/description.h"

#include "base/error.h"

#include <inttypes.h>

int ics_description_of_workload(const icestream_config *config, const ics_workload *workload,
                                json_t **out, icestream_error *error)
{
    char event[24];
    /* The event is a text, because integers of JSON end at 2^63. */
    snprintf(event, sizeof event, "%" PRIu64, config->workload.event);
    json_t *description =
        json_pack("{s:s, s:I, s:I, s:s, s:I, s:s}", "kind", ics_workload_name(workload), "steps",
                  (json_int_t)ics_workload_steps(workload), "photons_per_step",
                  (json_int_t)config->workload.photons_per_step, "counts",
                  config->workload.counts == ICS_COUNTS_SHUFFLED ? "shuffled" : "balanced",
                  "photons", (json_int_t)ics_workload_photons(workload), "event", event);
    int failed = description == NULL;
    if (!failed && config->workload.kind == ICS_WORKLOAD_POINT) {
        const double *position = config->workload.position;
        const double *direction = config->workload.direction;
        json_t *heading = config->workload.isotropic
                              ? json_string("isotropic")
                              : json_pack("[f, f, f]", direction[0], direction[1], direction[2]);
        failed |= json_object_set_new(
            description, "position", json_pack("[f, f, f]", position[0], position[1], position[2]));
        failed |= json_object_set_new(description, "time", json_real(config->workload.time));
        failed |= json_object_set_new(description, "direction", heading);
        failed |= json_object_set_new(description, "surface_radius",
                                      json_real(config->workload.surface_radius));
        failed |=
            json_object_set_new(description, "spectrum", json_integer(config->workload.spectrum));
    }
    if (failed) {
        json_decref(description);
        return ics_error_set(error, ICESTREAM_E_MEMORY, "generate: no memory for the metadata");
    }
    *out = json_pack("{s:s, s:o}", "producer", "icestream " ICESTREAM_VERSION " generate",
                     "workload", description);
    return *out != NULL
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_MEMORY, "generate: no memory for the metadata");
}

int ics_description_of_particles(const icestream_config *config, const ics_particle_totals *totals,
                                 json_t **out, icestream_error *error)
{
    static const char *const conventions[] = {"standard", "clsim", "ppc"};
    static const char *const losses[] = {"auto", "none", "simple"};
    char seed[24];
    snprintf(seed, sizeof seed, "%" PRIu64, config->run.seed);
    *out =
        json_pack("{s:s, s:{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:s, s:b, s:s, s:b}}",
                  "producer", "icestream " ICESTREAM_VERSION " generate", "particles", "source",
                  config->particles.file != NULL ? config->particles.file : "particles.list",
                  "seed", seed, "conventions", conventions[config->particles.conventions], "events",
                  (json_int_t)totals->events, "particles", (json_int_t)totals->particles, "steps",
                  (json_int_t)totals->steps, "photons", (json_int_t)totals->photons, "largest_step",
                  (json_int_t)totals->largest_step, "kind", "particles", "losses",
                  (int)(config->particles.losses == ICS_LOSSES_SIMPLE), "track_losses",
                  losses[config->particles.losses], "stopping", (int)config->particles.stopping);
    return *out != NULL
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_MEMORY, "generate: no memory for the metadata");
}
