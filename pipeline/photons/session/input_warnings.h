/* What is legal and most likely a mistake in the inputs and results of a run or a session: light
 * that no module can see, steps of weight 0, steps that make no light, events that two inputs have,
 * no hits at all. `name` is that of an input, for people: a step file, a message, a submission. */
#ifndef ICS_PHOTONS_SESSION_INPUT_WARNINGS_H
#define ICS_PHOTONS_SESSION_INPUT_WARNINGS_H

#include "pipeline/photons/engine/step_watch.h"
#include "pipeline/photons/files/step_extent.h"
#include "pipeline/photons/models/light/region.h"
#include "pipeline/photons/models/models.h"
#include "pipeline/photons/session/seen_events.h"

/* Receives a sentence. `of_every_input`: each input may have such a sentence; of the others there
 * are a few at most. */
typedef void ics_report_warning(void *user, bool of_every_input, const char *text);

typedef struct ics_input_warnings {
    ics_report_warning *report;
    void *user;
    float least_beta; /* steps of Cherenkov light that are slower make no light */
    bool detects;     /* hits are photo-electrons */
    ics_light_limits limits;
    ics_light_box box; /* the light of all inputs so far, as far as it is known */
    bool warned_position, warned_weight, warned_length, warned_time; /* each is said once */
    ics_seen_events seen;
} ics_input_warnings;

/* Prepares `self`, which is zeros. The models must outlive it. */
void ics_input_warnings_begin(ics_input_warnings *self, const ics_models *models,
                              ics_report_warning *report, void *user);
/* Accepts zeros. */
void ics_input_warnings_end(ics_input_warnings *self);

/* Looks at the first steps of an input. The first input with a fault is named, and later ones with
 * the same fault are not. */
void ics_input_warnings_check_first(ics_input_warnings *self, const char *name,
                                    const ics_step_extent *extent);
/* Looks at all steps of an input, which were read to the end. */
void ics_input_warnings_check_all(ics_input_warnings *self, const char *name,
                                  const ics_step_watch *watch);
/* Looks at the photons of all inputs, at the end: there are no hits or no photo-electrons, or
 * run.bounce_limit (`bounce_limit`) stopped photons; and why that may be. */
void ics_input_warnings_check_results(const ics_input_warnings *self, uint32_t bounce_limit,
                                      const icestream_account *account);

#endif
