/* Fuzzes lists of particles. Input: '0' and f2k text, or '1' and CSV. Accepted particles keep the
 * promises of particles/source.h, and the steps that are made from them are valid. Good inputs are
 * in corpus/particles. */
#include "pipeline/photons/files/format/step_check.h"
#include "pipeline/photons/models/models.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/particle_fill.h"

#include <math.h>
#include <stdlib.h>

enum { STEPS = 256, SPECTRA = 7 };

/* Created once for all inputs. */
static const ics_light_setup *setup(void)
{
    static ics_models *models;
    static ics_light_setup made;
    icestream_config *config = NULL;
    if (models != NULL) {
        return &made;
    }
    static const char *const sets[] = {"particles.list=[{type: sc1, photons: 1}]",
                                       "particles.losses=simple", "particles.stopping=true"};
    require(ics_config_load_text("fuzz", "", 0, sets, 3, &config, NULL) == ICESTREAM_OK);
    require(ics_models_create(config, &models, NULL) == ICESTREAM_OK);
    made = ics_light_setup_of(config, models);
    icestream_config_destroy(config);
    return &made;
}

static ics_particle_source *open_source(const uint8_t *data, size_t size, icestream_error *error)
{
    ics_particle_source *source = NULL;
    int status = ics_particle_source_borrow(
        "fuzz", data[0] == '0' ? ICS_PARTICLES_F2K : ICS_PARTICLES_CSV, ICS_EVENTS_FILE,
        (const char *)data + 1, size - 1, &source, error);
    require((status == ICESTREAM_OK) == (source != NULL));
    require(status == error->status);
    return source;
}

static void check_particles(ics_particle_source *source)
{
    ics_listed_particle p;
    icestream_error error = {0};
    uint64_t event = 0;
    bool found = true;
    while (ics_particle_source_next(source, &p, &found, &error) == ICESTREAM_OK && found) {
        char message[ICS_PARTICLE_MESSAGE];
        require(ics_particle_check(&p.particle, message));
        require(p.event >= event);
        event = p.event;
        for (int field = 0; field < ICS_PARTICLE_FIELD_COUNT; ++field) {
            require(isfinite(p.particle.values[field]));
        }
        if (ics_particle_has(&p.particle, ICS_PARTICLE_ZENITH) ||
            ics_particle_has(&p.particle, ICS_PARTICLE_DX)) {
            const ice_axis axis = ics_particle_axis(&p.particle);
            require(fabs(axis.x * axis.x + axis.y * axis.y + axis.z * axis.z - 1) < 1e-9);
        }
    }
    require(found == (error.status != ICESTREAM_OK) || !found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || (data[0] != '0' && data[0] != '1')) {
        return 0;
    }
    icestream_error error = {0};
    ics_particle_source *source = open_source(data, size, &error);
    if (source == NULL) {
        return 0;
    }
    check_particles(source);
    ics_particle_source_destroy(source);

    static icestream_step made[STEPS];
    ics_particle_steps *steps = NULL;
    size_t count = 0;
    source = open_source(data, size, &error);
    require(ics_particle_steps_of(source, setup(), &steps, &error) == ICESTREAM_OK);
    (void)particle_fill(steps, made, STEPS, &count, &error);
    /* The last particle may be the one that caused the error. */
    require(ics_step_check(made, count, SPECTRA, "fuzz", 0, NULL) == ICESTREAM_OK);
    ics_particle_steps_destroy(steps);
    return 0;
}
