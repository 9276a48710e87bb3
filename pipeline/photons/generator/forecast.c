#include "pipeline/photons/generator/forecast.h"

#include "base/error.h"
#include "pipeline/photons/files/format/npy.h"
#include "pipeline/photons/models/plausibility.h"
#include "pipeline/photons/particles/plausibility.h"

#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#define LIMIT_AUTO 1e11 /* bytes */

int ics_forecast_make(const icestream_config *config, const ics_models *models, uint64_t parts,
                      ics_warnings *warnings, ics_forecast *out, icestream_error *error)
{
    *out = (ics_forecast){.known = true, .exact = true};
    ICS_TRY(ics_config_check_light(config, NULL, error));
    if (!ics_config_has_particles(config)) {
        out->steps = config->workload.steps;
        out->photons = out->steps * config->workload.photons_per_step;
        return ICESTREAM_OK;
    }
    const ics_light_setup setup = ics_light_setup_of(config, models);
    ics_particle_survey survey = {0};
    int status = ics_particle_survey_take(config, &setup, parts, &survey, error);
    if (warnings != NULL && status == ICESTREAM_OK) {
        ics_warnings_add_all(warnings, &survey.warnings);
        status = ics_warnings_status(warnings, error);
    }
    ics_particle_survey_free(&survey);
    *out = (ics_forecast){.steps = survey.steps,
                          .photons = survey.photons,
                          .known = !survey.is_stream,
                          .exact = survey.counted == survey.particles};
    return status;
}

static int judge_particles(const icestream_config *config, ics_models *models,
                           icestream_error *error)
{
    const ics_light_setup setup = ics_light_setup_of(config, models);
    icestream_error why = {.status = ICESTREAM_OK};
    const int status = ics_particle_plausibility_check(config, &setup, models, &why);
    return status == ICESTREAM_E_CONFIG ? ICESTREAM_OK : ics_error_copy(error, &why);
}

int ics_forecast_judge(const icestream_config *config, ics_models *models, icestream_error *error)
{
    if (ics_config_has_particles(config)) {
        return judge_particles(config, models, error);
    }
    return ics_plausibility_check_workload(config, models) == ICESTREAM_OK
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for warnings about light");
}

double ics_forecast_bytes(const ics_forecast *forecast)
{
    return ICS_NPY_OWN_HEADER + forecast->steps * (double)sizeof(icestream_step);
}

/* Writes a size like "1.23 GB" in decimal units. Returns buffer. */
static const char *size_text(double bytes, char *buffer, size_t size)
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB"};
    size_t i = 0;
    for (; bytes >= 999.5 && i + 1 < sizeof units / sizeof *units; ++i) {
        bytes /= 1000;
    }
    snprintf(buffer, size, "%.3g %s", bytes, units[i]);
    return buffer;
}

/* Finds the free space of the file system that a file will be in. Returns false if it is not known:
 * then the writing of the file finds it out. */
static bool find_free(const char *path, double *out)
{
    struct statvfs about;
    char *folder = strdup(path);
    char *slash = folder != NULL ? strrchr(folder, '/') : NULL;
    if (slash != NULL) {
        slash[slash == folder] = '\0';
    }
    const bool found =
        folder != NULL && statvfs(slash != NULL ? folder : ".", &about) == 0 && about.f_blocks > 0;
    *out = found ? (double)about.f_bavail * (double)about.f_frsize : 0;
    free(folder);
    return found;
}

int ics_forecast_check_size(const icestream_config *config, double bytes, const char *path,
                            icestream_error *error)
{
    char place[1024], wanted[32], allowed[32];
    double limit = (double)config->particles.file_limit, room;
    const char *reason = "particles.file_limit";
    if (limit <= 0) {
        limit = LIMIT_AUTO;
        reason = "particles.file_limit: auto";
        if (find_free(path, &room) && room < limit) {
            limit = room;
            reason = "what is free on its disk";
        }
    }
    if (bytes <= limit) {
        return ICESTREAM_OK;
    }
    return ics_error_set(
        error, ICESTREAM_E_CONFIG,
        "%s: error: %s: found a step file of %s, expected at most %s, %s: make less light, raise "
        "particles.photons_per_step or particles.file_limit, or let `icestream run` make the steps "
        "without a file",
        ics_config_place(config, "particles.file_limit", place, sizeof place), path,
        size_text(bytes, wanted, sizeof wanted), size_text(limit, allowed, sizeof allowed), reason);
}

int ics_forecast_check(const icestream_config *config, const ics_forecast *forecast,
                       const char *path, icestream_error *error)
{
    return forecast->known
               ? ics_forecast_check_size(config, ics_forecast_bytes(forecast), path, error)
               : ICESTREAM_OK;
}

const char *ics_forecast_text(const ics_forecast *forecast, char *buffer, size_t size)
{
    char bytes[32];
    if (!forecast->known) {
        snprintf(buffer, size, "of unknown size, because the particles come through a pipe");
        return buffer;
    }
    snprintf(buffer, size, "%s%s in %.6g step%s, %.6g photon%s", forecast->exact ? "" : "about ",
             size_text(ics_forecast_bytes(forecast), bytes, sizeof bytes), forecast->steps,
             forecast->steps == 1 ? "" : "s", forecast->photons, forecast->photons == 1 ? "" : "s");
    return buffer;
}
