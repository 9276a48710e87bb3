#include "pipeline/particles/particle_source.h"

#include "pipeline/error.h"
#include "pipeline/particles/particle_yaml.h"
#include "pipeline/particles/source_state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- lists ----------------------------------------------------------------------------------- */

static int list_next(is_particle_source *source, is_raw_particle *out, bool *found, is_error *error)
{
    (void)error;
    *found = source->done < source->count;
    if (!*found)
        return IS_OK;
    *out = (is_raw_particle){.particle = source->list[source->done++]};
    out->event = (uint64_t)out->particle.values[IS_PARTICLE_EVENT];
    return IS_OK;
}

static int open_yaml(is_particle_source *source, const char *path, is_error *error)
{
    int status = is_yaml_read_file(path, &source->document, error);
    if (status == IS_OK)
        status = is_particle_read_list(is_yaml_root(source->document), &source->list,
                                       &source->count, error);
    source->next = list_next;
    snprintf(source->where, sizeof source->where, "%s", path);
    return status;
}

static int open_list(is_particle_source *source, const is_config *config, is_error *error)
{
    source->list = calloc(config->particles.count + 1, sizeof *source->list);
    if (!source->list)
        return is_error_add(error, IS_E_MEMORY, "particles: error: out of memory");
    if (config->particles.count > 0)
        memcpy(source->list, config->particles.list,
               config->particles.count * sizeof *source->list);
    source->count = config->particles.count;
    source->next = list_next;
    is_config_place(config, "particles.list", source->where, sizeof source->where);
    return IS_OK;
}

/* ---- opening --------------------------------------------------------------------------------- */

static bool ends_in(const char *path, const char *ending)
{
    const size_t length = strlen(path), tail = strlen(ending);
    return length >= tail && strcmp(path + length - tail, ending) == 0;
}

/* particles.format: auto goes by the name's ending. */
static int choose_format(const is_config *config, is_particle_format *out, is_error *error)
{
    char place[512];
    const char *path = config->particles.file;
    *out = config->particles.format;
    if (*out != IS_PARTICLES_AUTO)
        return IS_OK;
    if (ends_in(path, ".f2k") || ends_in(path, ".f2k.txt"))
        *out = IS_PARTICLES_F2K;
    else if (ends_in(path, ".csv"))
        *out = IS_PARTICLES_CSV;
    else if (ends_in(path, ".yaml") || ends_in(path, ".yml"))
        *out = IS_PARTICLES_YAML;
    else
        return is_error_add(error, IS_E_CONFIG,
                            "%s: error: particles.file: found '%.200s', expected a name that ends "
                            "in .f2k, .csv or .yaml, or particles.format",
                            is_config_place(config, "particles.file", place, sizeof place), path);
    return IS_OK;
}

static int use_lines(is_particle_source *source, is_particle_format format, is_error *error)
{
    source->next = format == IS_PARTICLES_F2K ? is_f2k_next : is_csv_next;
    return format == IS_PARTICLES_CSV ? is_csv_begin(source, error) : IS_OK;
}

static int open_any(is_particle_source *source, const is_config *config, is_error *error)
{
    is_particle_format format;
    if (!config->particles.file)
        return open_list(source, config, error);
    int status = choose_format(config, &format, error);
    if (status != IS_OK)
        return status;
    if (format == IS_PARTICLES_YAML)
        return open_yaml(source, config->particles.file, error);
    status = is_line_stream_open(config->particles.file, &source->lines, error);
    return status ? status : use_lines(source, format, error);
}

static is_particle_source *create(is_particle_events events, is_error *error)
{
    is_particle_source *source = calloc(1, sizeof *source);
    if (!source)
        is_error_add(error, IS_E_MEMORY, "particles: error: out of memory");
    else
        source->events = events;
    return source;
}

static int finish(is_particle_source *source, int status, is_particle_source **out)
{
    if (status != IS_OK) {
        is_particle_source_destroy(source);
        source = NULL;
    }
    *out = source;
    return status;
}

int is_particle_source_open(const is_config *config, is_particle_source **out, is_error *error)
{
    *out = NULL;
    is_particle_source *source = create(config->particles.events, error);
    return source ? finish(source, open_any(source, config, error), out) : IS_E_MEMORY;
}

int is_particle_source_borrow(const char *name, is_particle_format format,
                              is_particle_events events, const char *data, size_t size,
                              is_particle_source **out, is_error *error)
{
    *out = NULL;
    is_particle_source *source = create(events, error);
    if (!source)
        return IS_E_MEMORY;
    int status = is_line_stream_borrow(name, data, size, &source->lines, error);
    return finish(source, status ? status : use_lines(source, format, error), out);
}

void is_particle_source_destroy(is_particle_source *source)
{
    if (!source)
        return;
    is_line_stream_destroy(source->lines);
    is_yaml_destroy(source->document);
    free(source->list);
    free(source);
}

/* ---- numbering ------------------------------------------------------------------------------- */

size_t is_particle_source_position(const is_particle_source *source)
{
    return source->lines ? is_line_stream_line(source->lines) : source->done;
}

const char *is_particle_source_place_of(const is_particle_source *source, size_t position,
                                        char *buffer, size_t size)
{
    if (source->lines)
        snprintf(buffer, size, "%s:%zu", is_line_stream_name(source->lines), position);
    else
        snprintf(buffer, size, "%s: particle %zu", source->where, position);
    return buffer;
}

const char *is_particle_source_place(const is_particle_source *source, char *buffer, size_t size)
{
    return is_particle_source_place_of(source, is_particle_source_position(source), buffer, size);
}

static int fault(const is_particle_source *source, size_t column, is_error *error, const char *text)
{
    char place[600];
    if (source->lines)
        return is_line_stream_fault(source->lines, column, error, "%s", text);
    return is_error_add(error, IS_E_CONFIG, "%s: error: %s",
                        is_particle_source_place(source, place, sizeof place), text);
}

/* Steps of an event are numbered while they are made, so an event must not come back later. */
int is_source_begin_event(is_particle_source *source, uint64_t event, size_t column,
                          is_error *error)
{
    if (source->events == IS_EVENTS_FILE && source->any && event <= source->file_event) {
        char text[256];
        snprintf(text, sizeof text,
                 "event: found %" PRIu64 " after %" PRIu64 ", expected ascending numbers "
                 "(particles.events: count gives new ones)",
                 event, source->file_event);
        return fault(source, column, error, text);
    }
    source->any = true;
    source->file_event = event;
    return IS_OK;
}

/* In lists where every particle has the number of its event. */
static int find_event(is_particle_source *source, is_raw_particle *raw, is_error *error)
{
    raw->begins = !source->any || raw->event != source->file_event;
    return raw->begins ? is_source_begin_event(source, raw->event, raw->column, error) : IS_OK;
}

static void number_particle(is_particle_source *source, const is_raw_particle *raw)
{
    if (raw->begins) {
        source->event = source->events == IS_EVENTS_FILE ? raw->event : source->counted++;
        source->number = 0;
    }
}

int is_particle_source_next(is_particle_source *source, is_listed_particle *out, bool *found,
                            is_error *error)
{
    is_raw_particle raw;
    int status = source->next(source, &raw, found, error);
    if (status == IS_OK && *found && source->next != is_f2k_next)
        status = find_event(source, &raw, error);
    if (status != IS_OK || !*found)
        return status;
    number_particle(source, &raw);
    if (source->number > UINT32_MAX)
        return fault(source, 0, error, "found more than 2^32 particles in an event");
    out->particle = raw.particle;
    out->event = source->event;
    out->number = (uint32_t)source->number++;
    return IS_OK;
}
