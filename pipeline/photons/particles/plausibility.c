#include "pipeline/photons/particles/plausibility.h"

#include "base/error.h"
#include "pipeline/photons/models/detector/sensors.h"
#include "pipeline/photons/models/light/region.h"
#include "pipeline/photons/models/oversize.h"
#include "pipeline/photons/particles/events.h"
#include "pipeline/photons/particles/light_parts.h"
#include "pipeline/photons/particles/list_warnings.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>

/* Parts of light of a particle that are looked at; a track has one for each piece and each loss. */
enum { PARTS = 100 };

/* Modules that are looked at for light near one, in all, so that a large detector does not delay
 * the start. IceCube with all particles that are inspected has 5e7. */
#define NEAR_MODULES 2e8

typedef enum mistake { POSITION, NO_LIGHT, OWN_LIGHT, NEAR_LIGHT, MISTAKES } mistake;

/* A mistake that several particles may share. */
typedef struct mistake_count {
    uint64_t count;
    char first[1400]; /* what is wrong with the first one, with its place */
} mistake_count;

typedef struct inspection {
    const ics_models *models;
    const ics_light_setup *setup;
    const ics_particle_source *source;
    ics_light_limits limits;
    ics_light_blocks blocks;
    mistake_count mistakes[MISTAKES];
    ics_list_warnings list;
    size_t position;   /* position of the particle in its list */
    uint64_t cascades; /* cascades and tracks, because secondaries of tracks are cascades */
    double near;       /* modules that were looked at for light near one */
} inspection;

__attribute__((format(printf, 3, 4))) static void note(inspection *self, mistake kind,
                                                       const char *format, ...)
{
    mistake_count *found = &self->mistakes[kind];
    char place[600], text[700];
    if (found->count++ > 0) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(found->first, sizeof found->first, "%s: %s",
             ics_particle_source_place_of(self->source, self->position, place, sizeof place), text);
}

/* An LED of low settings emits nothing. */
static void check_light(inspection *self, const ics_particle *particle, uint64_t photons)
{
    const double *values = particle->values;
    if (photons > 0 || ics_particle_class_of(particle) != ICS_PARTICLE_FLASHER) {
        return;
    }
    if (ics_particle_has(particle, ICS_PARTICLE_BRIGHTNESS)) {
        note(self, NO_LIGHT,
             "brightness: found %g (width %g), with which an LED emits no light; usual: 30 to 127",
             values[ICS_PARTICLE_BRIGHTNESS], values[ICS_PARTICLE_WIDTH]);
    } else {
        note(self, NO_LIGHT,
             "photons: found %g, of which none is left after the acceptance of the modules; usual: "
             "1e7 to 1e10",
             values[ICS_PARTICLE_PHOTONS]);
    }
}

static bool flashes_in_module(const ics_particle *particle)
{
    return ics_particle_class_of(particle) == ICS_PARTICLE_FLASHER &&
           ics_particle_has(particle, ICS_PARTICLE_STRING);
}

/* A module that flashes has its own light in its hits, unless it is excluded. */
static void check_module(inspection *self, const ics_particle *particle)
{
    if (!flashes_in_module(particle)) {
        return;
    }
    const ics_module_identity identity = {.string = (uint16_t)particle->values[ICS_PARTICLE_STRING],
                                          .module =
                                              (uint16_t)particle->values[ICS_PARTICLE_MODULE]};
    const ice_module *module = ics_sensors_find_module(self->models->detector, identity);
    if (module != NULL && !module->absorbs && !module->is_off) {
        note(self, OWN_LIGHT,
             "string, module: found [%u, %u], which flashes and records its own light; usual: "
             "detector.excluded: [[%u, %u]]",
             identity.string, identity.module, identity.string, identity.module);
    }
}

static int check_particle(inspection *self, const ics_listed_particle *listed,
                          icestream_error *error)
{
    ics_light_parts parts;
    ics_light_part part;
    ics_light_box box = ICS_LIGHT_BOX_EMPTY;
    char message[ICS_PARTICLE_MESSAGE], text[512];
    uint64_t photons = 0;
    self->position = listed->position;
    if (!ics_light_parts_begin(&parts, self->setup, listed, message)) {
        return ics_particle_source_refuse(self->source, self->position, message, error);
    }
    const ics_particle_class kind = ics_particle_class_of(&listed->particle);
    const bool is_track = kind == ICS_PARTICLE_TRACK || kind == ICS_PARTICLE_MONOPOLE;
    self->cascades += is_track || kind == ICS_PARTICLE_CASCADE ? 1 : 0;
    for (int i = 0; i < PARTS && ics_light_parts_next(&parts, &part); ++i) {
        const bool has_depth = !is_track && part.form == ICS_PART_CASCADE;
        const double length = is_track ? parts.length : part.length;
        const double reach = has_depth ? ics_oversize_cascade_end(&part.depth) : length;
        const double from[3] = {part.x, part.y, part.z};
        const double to[3] = {part.x + reach * part.axis.x, part.y + reach * part.axis.y,
                              part.z + reach * part.axis.z};
        ics_light_box_add(&box, from[0], from[1], from[2]);
        ics_light_box_add(&box, part.x + length * part.axis.x, part.y + length * part.axis.y,
                          part.z + length * part.axis.z);
        photons += part.photons;
        /* The first part of a track is its whole length, and the parts of a cascade are close
         * together. */
        if (i > 0 || self->near > NEAR_MODULES || flashes_in_module(&listed->particle)) {
            continue;
        }
        self->near += (double)self->models->detector->module_count;
        if (ics_oversize_near_text(&self->blocks, from, to, has_depth ? &part.depth : NULL, text,
                                   sizeof text)) {
            note(self, NEAR_LIGHT, "%s", text);
        }
    }
    ics_list_warnings_add(&self->list, listed);
    if (listed->passed == ICS_PASSED_NOT) {
        check_light(self, &listed->particle, photons);
    }
    if (photons > 0) {
        check_module(self, &listed->particle);
    }
    if (photons > 0 &&
        ics_light_judge(&self->limits, &box, text, sizeof text) != ICS_LIGHT_IN_ICE) {
        note(self, POSITION, "%s", text);
    }
    return ICESTREAM_OK;
}

/* Adds the warnings about all particles. The numbers about steps of many photons are those of
 * particles.md, "Steps". */
static int report(const inspection *self, ics_warnings *warnings)
{
    const uint32_t photons = self->setup->photons_per_step;
    if (!self->setup->cascades_are_profiles && self->cascades > 0 && photons > 1) {
        ics_warnings_add(
            warnings,
            "particles.cascades: found steps, and up to %u photons of a cascade share a depth and "
            "a direction (particles.photons_per_step), so that counts near it fluctuate too much: "
            "10 m ahead of 10 GeV, at oversize 5, their variance is about 1.5, 4 and 6 times their "
            "mean with 20, 200 and 1000 photons in a step, and 0.95 times with "
            "particles.cascades: profile",
            photons);
    }
    for (mistake kind = 0; kind < MISTAKES; ++kind) {
        const mistake_count *found = &self->mistakes[kind];
        if (found->count > 1) {
            ics_warnings_add(warnings, "%s (and %" PRIu64 " more of %" PRIu64 " particles)",
                             found->first, found->count - 1, self->list.particles);
        } else if (found->count == 1) {
            ics_warnings_add(warnings, "%s", found->first);
        }
    }
    return ics_list_warnings_report(&self->list, self->source, warnings);
}

int ics_particle_plausibility_check(const icestream_config *config, const ics_light_setup *setup,
                                    ics_models *models, icestream_error *error)
{
    ics_particle_source *source = NULL;
    ics_particle_events_reader *events = NULL;
    if (ics_particle_list_is_stream(config->particles.file)) {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_particle_source_open(config, -1, &source, error));
    ICS_TRY(ics_particle_events_create(source, &setup->track, &events, error));
    inspection self = {.models = models,
                       .setup = setup,
                       .source = source,
                       .limits = ics_light_limits_of(models->medium, models->detector)};
    int status = ICESTREAM_OK;
    ics_light_blocks_of(models->detector, &self.blocks);
    for (bool found = true; status == ICESTREAM_OK && found;) {
        ics_listed_particle particle;
        found = false;
        if (self.list.particles < ICS_PLAUSIBLE_PARTICLES) {
            status = ics_particle_events_next(events, &particle, &found, error);
        }
        if (status == ICESTREAM_OK && found) {
            particle.track_losses = ICS_LOSSES_NOT_NEEDED; /* the track alone shows where it is */
            status = check_particle(&self, &particle, error);
        }
    }
    if (status == ICESTREAM_OK && report(&self, &models->warnings) != ICESTREAM_OK) {
        status = ics_error_add(error, ICESTREAM_E_MEMORY, "particles: error: out of memory");
    }
    ics_particle_events_destroy(events);
    return status;
}
