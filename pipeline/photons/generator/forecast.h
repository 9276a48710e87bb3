/* How many steps a configuration will make, before they are made. */
#ifndef ICS_PHOTONS_GENERATOR_FORECAST_H
#define ICS_PHOTONS_GENERATOR_FORECAST_H

#include "pipeline/photons/models/models.h"
#include "pipeline/photons/particles/survey.h"

/* Parts of light that are counted one by one before the first photon, which takes less than a
 * second; ICS_SURVEY_PARTS would take several. */
enum { ICS_FORECAST_PARTS = 1000000 };

typedef struct ics_forecast {
    double steps, photons;
    bool known; /* false: the list of particles comes through a pipe, and both numbers are 0 */
    bool exact; /* false: the numbers are extrapolated from the first particles */
} ics_forecast;

/* Counts the steps of the particles or, without particles, of the workload. `parts`: as in
 * ics_particle_survey_take, whose errors this returns. `models`: of the configuration; NULL is
 * allowed if there are no particles. `warnings` (may be NULL) gets what is doubtful about them. */
int ics_forecast_make(const icestream_config *config, const ics_models *models, uint64_t parts,
                      ics_warnings *warnings, ics_forecast *out, icestream_error *error);

/* Adds what is doubtful about the positions and the amount of this light to models->warnings: light
 * outside the ice, LEDs that emit nothing, modules that see their own flash. Looks at the first
 * particles or, without particles, at the workload. What is wrong with a list of particles is no
 * error here: the generation of its steps reports it. ICESTREAM_E_MEMORY. */
int ics_forecast_judge(const icestream_config *config, ics_models *models, icestream_error *error);

/* Returns the size of the step file of a forecast (bytes): its header and rows. */
double ics_forecast_bytes(const ics_forecast *forecast);

/* Refuses a step file that would be larger than particles.file_limit or, for auto, than 100 GB and
 * than what is free on the disk of `path`. ICESTREAM_E_CONFIG: it is too large; the text has both
 * sizes. A forecast that is not known is not refused: ics_forecast_check_size() is for its file. */
int ics_forecast_check(const icestream_config *config, const ics_forecast *forecast,
                       const char *path, icestream_error *error);
/* Refuses a step file that has grown to this size (bytes), in the same way. */
int ics_forecast_check_size(const icestream_config *config, double bytes, const char *path,
                            icestream_error *error);

/* Writes "1.2 GB in 1.9e+07 steps, 3.8e+09 photons" for people, with "about" in front unless the
 * numbers are exact. Returns buffer. */
const char *ics_forecast_text(const ics_forecast *forecast, char *buffer, size_t size);

#endif
