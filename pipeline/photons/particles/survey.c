#include "pipeline/photons/particles/survey.h"

#include "base/error.h"
#include "pipeline/photons/particles/events.h"
#include "pipeline/photons/particles/light_parts.h"

/* The state of a survey. */
typedef struct surveyor {
    const ics_light_setup *setup;
    ics_particle_events_reader *events;
    ics_particle_survey *out;
    uint64_t parts_left;
    uint64_t event;     /* event of the last particle */
    double event_steps; /* its steps so far */
} surveyor;

static int fault(const surveyor *self, size_t position, const char *text, icestream_error *error)
{
    return ics_particle_source_refuse(ics_particle_events_source(self->events), position, text,
                                      error);
}

/* Counts the light of a particle that has begun. */
static int count_light(surveyor *self, ics_light_parts *parts, size_t position,
                       icestream_error *error)
{
    ics_light_part part;
    while (ics_light_parts_next(parts, &part)) {
        const uint64_t steps = part.photons / part.per_step + (part.photons % part.per_step > 0);
        self->out->photons += (double)part.photons;
        ics_light_totals_add(&self->out->light, part.photons);
        self->out->steps += (double)steps;
        self->event_steps += (double)steps;
        if (self->event_steps > 0x1p32) {
            return fault(self, position,
                         "found an event of more than 2^32 steps, expected fewer: raise "
                         "particles.photons_per_step or, for beams, "
                         "particles.photons_per_direction",
                         error);
        }
        self->parts_left -= self->parts_left > 0;
    }
    ics_light_totals_add_decays(&self->out->light, parts);
    ++self->out->counted;
    return ICESTREAM_OK;
}

static int add(surveyor *self, const ics_listed_particle *particle, icestream_error *error)
{
    ics_light_parts parts;
    char message[ICS_PARTICLE_MESSAGE];
    if (self->out->particles == 0 || particle->event != self->event) {
        ++self->out->events;
        self->event_steps = 0;
    }
    self->event = particle->event;
    ++self->out->particles;
    if (!ics_light_parts_begin(&parts, self->setup, particle, message)) {
        return fault(self, particle->position, message, error);
    }
    ics_light_totals_begin(&self->out->light, particle, &parts);
    return self->parts_left > 0 ? count_light(self, &parts, particle->position, error)
                                : ICESTREAM_OK;
}

/* Counts all particles, and adds what is doubtful about them. */
static int take_all(surveyor *self, icestream_error *error)
{
    ics_particle_survey *out = self->out;
    const ics_particle_source *list = ics_particle_events_source(self->events);
    for (;;) {
        ics_listed_particle particle;
        bool found;
        ICS_TRY(ics_particle_events_next(self->events, &particle, &found, error));
        if (!found) {
            break;
        }
        ICS_TRY(add(self, &particle, error));
    }
    if (out->counted == out->particles && out->photons <= 0) {
        return fault(self, ics_particle_source_position(list),
                     ics_light_totals_explain_dark(&out->light), error);
    }
    ics_light_totals_end(&out->light);
    return ics_light_totals_warn(&out->light, list, &out->warnings) == ICESTREAM_OK
               ? ICESTREAM_OK
               : ics_error_add(error, ICESTREAM_E_MEMORY, "particles: error: out of memory");
}

int ics_particle_survey_take(const icestream_config *config, const ics_light_setup *setup,
                             uint64_t parts, ics_particle_survey *out, icestream_error *error)
{
    *out = (ics_particle_survey){.is_stream = ics_particle_list_is_stream(config->particles.file)};
    if (out->is_stream) {
        return ICESTREAM_OK;
    }
    surveyor self = {.setup = setup, .out = out, .parts_left = parts};
    ics_particle_source *source = NULL;
    ICS_TRY(ics_particle_source_open(config, -1, &source, error));
    ICS_TRY(ics_particle_events_create(source, &setup->track, &self.events, error));
    const int status = take_all(&self, error);
    ics_particle_events_destroy(self.events);
    if (out->counted > 0) {
        const double share = (double)out->particles / (double)out->counted;
        out->photons *= share;
        out->steps *= share;
    }
    return status;
}

void ics_particle_survey_free(ics_particle_survey *survey)
{
    ics_warnings_free(&survey->warnings);
}
