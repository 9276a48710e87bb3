/* Steps of particles or of a workload, made while they are used. `icestream generate` writes them
 * into a file, and a run without a source simulates them; both get the same steps.
 *
 * Other threads make the steps ahead, in blocks (assembly.h), and wait while nobody takes a block.
 * So memory does not depend on the amount of light:
 *
 *     ics_step_generator_create(config, models, &generator, error)
 *     ics_step_generator_start(generator, threads, error)
 *     do ics_step_generator_next(generator, &steps, &count, error) while (count > 0)
 *     ics_step_generator_destroy(generator)
 *
 * The files of pipeline/photons/generator:
 *   assembly         the threads, which make blocks of steps in order
 *   workload         the steps of a workload
 *   forecast         how many steps there will be
 *   light_digest     a digest of everything that the steps depend on, known before they are made
 *   light_settings   the keys that the steps depend on, for people
 *   step_generator   the steps, block by block or in the form in which a run reads a step file
 */
#ifndef ICS_PHOTONS_GENERATOR_STEP_GENERATOR_H
#define ICS_PHOTONS_GENERATOR_STEP_GENERATOR_H

#include "base/cleanup.h"
#include "pipeline/photons/models/models.h"
#include "pipeline/photons/particles/steps.h"

#include <jansson.h>

typedef struct ics_step_generator ics_step_generator;

/* Opens the particles of the configuration or, without particles, its workload. Configuration and
 * models must outlive the generator. `models`: of the configuration; NULL is allowed if there are
 * no particles. While a list of particles that comes through a pipe is waited for, the descriptor
 * `wake` (-1: none) interrupts the wait as soon as it is readable: then the steps end with
 * ICESTREAM_E_INTERRUPTED. ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. */
int ics_step_generator_create(const icestream_config *config, const ics_models *models, int wake,
                              ics_step_generator **out, icestream_error *error);
/* Ends the threads, also before all steps were made. Accepts NULL. */
void ics_step_generator_destroy(ics_step_generator *generator);
ICS_CAN_DESTROY(ics_step_generator, ics_step_generator_destroy)

/* Calls `take` for every block of steps in order, on one of the threads, before the reader of the
 * steps gets the block. An error of `take` ends the steps. To be called before the start. */
void ics_step_generator_copy_to(ics_step_generator *generator,
                                int (*take)(void *user, const icestream_step *steps, size_t count,
                                            icestream_error *error),
                                void *user);

/* Lets the threads check and normalise the steps, so that ics_step_generator_read() only copies
 * them. Then ics_step_generator_next() gives steps that are normalised up to a bad one. It has no
 * effect if there is a copy. `spectrum_count`: number of spectra of the run, > 0. To be called
 * before the start. */
void ics_step_generator_prepare(ics_step_generator *generator, uint32_t spectrum_count);

/* Starts `threads` threads, 1 to 1024. ICESTREAM_E_MEMORY, ICESTREAM_E_FAILED. */
int ics_step_generator_start(ics_step_generator *generator, uint32_t threads,
                             icestream_error *error);

/* Waits for the next block of steps; *count 0: there are no more. The block is the generator's and
 * stays until the next call. ICESTREAM_E_CONFIG: a particle cannot be read or makes no legal light
 * (the message has its place), all particles together make no light. ICESTREAM_E_MEMORY,
 * ICESTREAM_E_FAILED, ICESTREAM_E_INTERRUPTED; what `take` returned. One thread at a time. */
int ics_step_generator_next(ics_step_generator *generator, const icestream_step **steps,
                            size_t *count, icestream_error *error);

/* The same steps, checked and normalised like those of a step file (ics_step_reader_read), at most
 * `capacity` (> 0); *got 0: there are no more. `spectrum_count`: number of spectra of the run. What
 * is wrong with a list of particles is ICESTREAM_E_INPUT here. */
int ics_step_generator_read(ics_step_generator *generator, uint32_t spectrum_count,
                            icestream_step *steps, size_t capacity, size_t *got,
                            icestream_error *error);

/* Counts of everything that was made; complete when there are no more steps. A workload has one
 * event and no particles. */
ics_particle_totals ics_step_generator_totals(const ics_step_generator *generator);

/* Returns the particles, for reports about their light; NULL: the workload makes the steps. Called
 * when there are no more steps. */
ics_particle_steps *ics_step_generator_particles(ics_step_generator *generator);

/* Adds what is doubtful about particles that came through a pipe, which is known when there are no
 * more steps. ICESTREAM_E_MEMORY. */
int ics_step_generator_judge(ics_step_generator *generator, ics_warnings *out,
                             icestream_error *error);

/* Returns the record of what the light is made with (pipeline/photons/models/light_record.h), which
 * belongs to the generator. */
const json_t *ics_step_generator_light(const ics_step_generator *generator);

/* Makes the metadata of a step file, when there are no more steps. The caller releases *out.
 * ICESTREAM_E_MEMORY. */
int ics_step_generator_describe(const ics_step_generator *generator, json_t **out,
                                icestream_error *error);

/* For people: the path of the list of particles, "standard input", "particles.list", or "workload
 * cascade". Lives as long as generator and configuration. */
const char *ics_step_generator_name(const ics_step_generator *generator);

#endif
