/* Lists of particles from memory: '0' and then f2k text, '1' and then CSV. Accepted particles keep
 * the promises of particle_source.h, and what steps they make are legal. */
#include "pipeline/files/format/step_check.h"
#include "pipeline/models/models.h"
#include "pipeline/particles/particle_steps.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS = 256, SPECTRA = 7 };

static void require(bool kept)
{
    if (!kept)
        abort();
}

/* Made once, for all inputs. */
static const is_light_setup *setup(void)
{
    static is_models *models;
    static is_light_setup *made;
    is_config *config = NULL;
    if (made)
        return made;
    static const char *const sets[] = {"particles.list=[{type: sc1, photons: 1}]",
                                       "particles.losses=simple", "particles.stopping=true"};
    require(is_config_load_text("fuzz", "", 0, sets, 3, &config, NULL) == IS_OK);
    require(is_models_create(config, &models, NULL) == IS_OK);
    require(is_light_setup_create(config, models->medium, models->detector, models->light, &made,
                                  NULL) == IS_OK);
    is_config_destroy(config);
    return made;
}

static is_particle_source *open_source(const uint8_t *data, size_t size, is_error *error)
{
    is_particle_source *source = NULL;
    int status =
        is_particle_source_borrow("fuzz", data[0] == '0' ? IS_PARTICLES_F2K : IS_PARTICLES_CSV,
                                  IS_EVENTS_FILE, (const char *)data + 1, size - 1, &source, error);
    require((status == IS_OK) == (source != NULL));
    require(status == error->status);
    return source;
}

static void check_particles(is_particle_source *source)
{
    is_listed_particle p;
    is_error error = {0};
    uint64_t event = 0;
    bool found = true;
    while (is_particle_source_next(source, &p, &found, &error) == IS_OK && found) {
        char message[IS_PARTICLE_MESSAGE];
        require(is_particle_check(&p.particle, message));
        require(p.event >= event);
        event = p.event;
        for (int field = 0; field < IS_PARTICLE_FIELD_COUNT; ++field)
            require(isfinite(p.particle.values[field]));
        if (is_particle_has(&p.particle, IS_PARTICLE_ZENITH) ||
            is_particle_has(&p.particle, IS_PARTICLE_DX)) {
            const ice_axis axis = is_particle_axis(&p.particle);
            require(fabs(axis.x * axis.x + axis.y * axis.y + axis.z * axis.z - 1) < 1e-9);
        }
    }
    require(found == (error.status != IS_OK) || !found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || (data[0] != '0' && data[0] != '1'))
        return 0;
    is_error error = {0};
    is_particle_source *source = open_source(data, size, &error);
    if (!source)
        return 0;
    check_particles(source);
    is_particle_source_destroy(source);

    static is_step made[STEPS];
    is_particle_steps *steps = NULL;
    size_t count = 0;
    source = open_source(data, size, &error);
    require(is_particle_steps_of(source, setup(), &steps, &error) == IS_OK);
    (void)is_particle_steps_fill(steps, made, STEPS, &count, &error);
    /* The last one may be what the error is about. */
    require(is_step_check(made, count, SPECTRA, "fuzz", 0, NULL) == IS_OK);
    is_particle_steps_destroy(steps);
    return 0;
}
