/* Digests of what hits depend on. */
#include "pipeline/units/origin.h"

#include "base/error.h"
#include "kernels/stage.h"
#include "pipeline/files/metadata.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int out_of_memory(icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_MEMORY,
                         "out of memory for the digest of the configuration");
}

/* Writes the digests of the user's stage headers: the content of a header counts, not its name. */
static int write_headers(const icestream_config *config, FILE *out, icestream_error *error)
{
    for (int stage = 0; stage < ICS_STAGES; ++stage) {
        if (config->stages.custom[stage] == NULL) {
            continue;
        }
        const char *name = ics_stage_name((ics_stage)stage);
        char digest[ICS_DIGEST_TEXT], key[64], place[1024];
        char *text = NULL;
        icestream_error why = {.status = ICESTREAM_OK};
        if (ics_stage_header_read(config->stages.custom[stage], &text, &why) != ICESTREAM_OK) {
            snprintf(key, sizeof key, "stages.%s", name);
            return ics_error_set(error, ICESTREAM_E_CONFIG, "%s: error: %s: %s",
                                 ics_config_place(config, key, place, sizeof place), key, why.text);
        }
        int status = ics_digest_of(text, strlen(text), digest, error);
        free(text);
        if (status != ICESTREAM_OK) {
            return status;
        }
        fprintf(out, "header of stages.%s: %s\n", name, digest);
    }
    return ICESTREAM_OK;
}

static int write_settings(const icestream_config *config, const ics_models *models, FILE *out,
                          icestream_error *error)
{
    fprintf(out, "icestream: %s\n", ICESTREAM_VERSION);
    ics_config_print_hit_settings(config, out);
    fprintf(out, "light: %s\n", models->light_digest);
    return write_headers(config, out, error);
}

int ics_origin_create(const icestream_config *config, const ics_models *models, ics_origin *out,
                      icestream_error *error)
{
    out->seed = config->run.seed;
    memcpy(out->ice, models->ice_digest, sizeof out->ice);
    memcpy(out->detector, models->detector_digest, sizeof out->detector);
    /* A text, so that the digest can be explained and made again elsewhere (files.md 2.2). */
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (stream == NULL) {
        return out_of_memory(error);
    }
    int status = write_settings(config, models, stream, error);
    const bool is_complete = !ferror(stream);
    if (fclose(stream) != 0 || !is_complete) {
        status = status ? status : out_of_memory(error);
    }
    if (status == ICESTREAM_OK) {
        status = ics_digest_of(text, size, out->configuration, error);
    }
    free(text);
    return status;
}

int ics_origin_metadata(const ics_origin *origin, const char *input_digest, json_t **out,
                        icestream_error *error)
{
    const ics_metadata_origin all = {.seed = origin->seed,
                                     .configuration = origin->configuration,
                                     .ice = origin->ice,
                                     .detector = origin->detector,
                                     .input = input_digest};
    return ics_metadata_create(&all, out, error);
}
