#include "pipeline/commands/split/source.h"

#include "base/error.h"
#include "base/new.h"
#include "pipeline/photons/devices/workers.h"
#include "pipeline/photons/files/format/table_reader.h"
#include "pipeline/photons/files/step_reader.h"
#include "pipeline/photons/generator/step_generator.h"

#include <stdlib.h>

enum { PIECE = 4096 };

struct ics_split_source {
    const icestream_config *config;
    const ics_models *models;
    ics_table_reader *file;        /* NULL: the steps are made */
    ics_step_generator *generator; /* NULL: the steps are those of a file */
    icestream_step *piece;         /* [PIECE], of a file */
};

/* Checks all of a file as a run does. */
static int check_file(const char *path, uint32_t spectra, icestream_error *error)
{
    ICS_DESTROYS(ics_step_reader_destroy) ics_step_reader *reader = NULL;
    ics_step_summary summary;
    ICS_TRY(ics_step_reader_open(path, spectra, &reader, error));
    return ics_step_reader_check(reader, &summary, NULL, error);
}

static int start_generator(ics_split_source *source, icestream_error *error)
{
    ICS_TRY(
        ics_step_generator_create(source->config, source->models, -1, &source->generator, error));
    return ics_step_generator_start(
        source->generator, ics_workers_thread_count(source->config->device.threads), error);
}

static int open_steps(ics_split_source *source, const char *input, icestream_error *error)
{
    if (input == NULL) {
        return start_generator(source, error);
    }
    source->piece = ICS_NEW_ARRAY(icestream_step, PIECE);
    ICS_TRY(check_file(input, (uint32_t)source->models->light->count, error));
    return ics_table_reader_open(input, ics_layout_steps(), &source->file, error);
}

int ics_split_source_open(const icestream_config *config, const ics_models *models,
                          const char *input, ics_split_source **out, icestream_error *error)
{
    ics_split_source *source = *out = ICS_NEW(ics_split_source);
    source->config = config;
    source->models = models;
    return open_steps(source, input, error);
}

void ics_split_source_destroy(ics_split_source *source)
{
    if (source != NULL) {
        ics_table_reader_destroy(source->file);
        ics_step_generator_destroy(source->generator);
        free(source->piece);
        free(source);
    }
}

int ics_split_source_next(ics_split_source *source, const icestream_step **steps, size_t *count,
                          icestream_error *error)
{
    if (source->generator != NULL) {
        return ics_step_generator_next(source->generator, steps, count, error);
    }
    *steps = source->piece;
    return ics_table_reader_read(source->file, source->piece, PIECE, count, error);
}

int ics_split_source_rewind(ics_split_source *source, icestream_error *error)
{
    if (source->file != NULL) {
        return ics_table_reader_rewind(source->file, false, error);
    }
    ics_step_generator_destroy(source->generator);
    source->generator = NULL;
    return start_generator(source, error);
}

const json_t *ics_split_source_light(const ics_split_source *source)
{
    return source->file != NULL ? ics_table_reader_light(source->file)
                                : ics_step_generator_light(source->generator);
}
