#include "pipeline/photons/generator/light_digest.h"

#include "base/cleanup.h"
#include "base/disk.h"
#include "base/error.h"
#include "pipeline/photons/files/metadata.h"
#include "pipeline/photons/particles/light_setup.h"
#include "pipeline/photons/particles/list_warnings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 1 << 16 }; /* bytes of the list that are read at a time */

static int cannot_read(const char *path, const char *why, icestream_error *error)
{
    return ics_error_set_cause(error, ICESTREAM_E_CONFIG, errno, "%s: error: %s", path, why);
}

int ics_light_digest_of_file(const char *path, char out[ICS_DIGEST_TEXT], icestream_error *error)
{
    ICS_FREES char *bytes = malloc(PIECE);
    if (bytes == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory for its digest", path);
    }
    ics_digest *digest = NULL;
    ICS_TRY(ics_digest_create(&digest, error));
    const char *why = NULL;
    const int descriptor = ics_disk_open_regular(path, &why);
    ssize_t got = descriptor >= 0 ? 1 : -1;
    while (got > 0) {
        got = TEMP_FAILURE_RETRY(read(descriptor, bytes, PIECE));
        ics_digest_add(digest, bytes, got > 0 ? (size_t)got : 0);
    }
    const int status =
        got < 0 ? cannot_read(path, descriptor < 0 ? why : strerror(errno), error) : ICESTREAM_OK;
    if (status == ICESTREAM_OK) {
        ics_digest_text(digest, out);
    }
    if (descriptor >= 0) {
        close(descriptor);
    }
    ics_digest_destroy(digest);
    return status;
}

/* Digests the numbers in double precision from which the light of particles is made. The digests of
 * the models cover them in the precision of their tables only. */
static int digest_numbers(const icestream_config *config, const ics_models *models,
                          char out[ICS_DIGEST_TEXT], icestream_error *error)
{
    const ics_light_setup setup = ics_light_setup_of(config, models);
    ics_digest *digest = NULL;
    ICS_TRY(ics_digest_create(&digest, error));
    ics_digest_add_number(digest, models->medium->density);
    ics_digest_add_number(digest, setup.per_metre);
    ics_digest_add_numbers(digest, setup.kept, setup.spectrum_count);
    ics_digest_add_numbers(digest, setup.slow, ICS_SLOW_PIECES);
    for (size_t i = 0; i < models->pulse.count; ++i) {
        const ice_transit_range *range = &models->pulse.ranges[i];
        ics_digest_add_numbers(
            digest, (const double[]){range->from, range->to, range->low, range->high}, 4);
    }
    for (size_t i = 0; i < models->detector->module_count; ++i) {
        const ice_module *module = &models->detector->modules[i];
        const double place[] = {module->x, module->y, module->z};
        ics_digest_add_numbers(digest, place, 3);
    }
    ics_digest_text(digest, out);
    ics_digest_destroy(digest);
    return ICESTREAM_OK;
}

static int write_lines(const icestream_config *config, const ics_models *models, FILE *out,
                       icestream_error *error)
{
    char digest[ICS_DIGEST_TEXT];
    fprintf(out, "icestream: %s\nrun.seed: %" PRIu64 "\n", ICS_PHYSICS_VERSION, config->run.seed);
    ics_config_print_light_settings(config, out);
    if (!ics_config_has_particles(config)) {
        return ICESTREAM_OK; /* a workload depends on no model */
    }
    fprintf(out, "ice: %s\ndetector: %s\nlight: %s\n", models->ice_digest, models->detector_digest,
            models->light_digest);
    ICS_TRY(digest_numbers(config, models, digest, error));
    fprintf(out, "numbers: %s\n", digest);
    if (config->particles.file != NULL && !ics_particle_list_is_stream(config->particles.file)) {
        ICS_TRY(ics_light_digest_of_file(config->particles.file, digest, error));
        fprintf(out, "particles: %s\n", digest);
    }
    return ICESTREAM_OK;
}

int ics_light_digest_make(const icestream_config *config, const ics_models *models,
                          char out[ICS_DIGEST_TEXT], icestream_error *error)
{
    ICS_FREES char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (stream == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for the digest of steps");
    }
    int status = write_lines(config, models, stream, error);
    const bool is_complete = !ferror(stream);
    if ((fclose(stream) != 0 || !is_complete) && status == ICESTREAM_OK) {
        status = ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for the digest of steps");
    }
    ICS_TRY(status);
    return ics_digest_of(text, size, out, error);
}
