#include "pipeline/photons/particles/source.h"

#include "base/error.h"
#include "pipeline/photons/particles/source_state.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- lists ----------------------------------------------------------------------------------- */

static int list_next(ics_particle_source *source, ics_raw_particle *out, bool *found,
                     icestream_error *error)
{
    (void)error;
    *found = source->done < source->count;
    if (!*found) {
        return ICESTREAM_OK;
    }
    *out = (ics_raw_particle){.particle = source->list[source->done++]};
    out->event = out->particle.event;
    return ICESTREAM_OK;
}

static int open_yaml(ics_particle_source *source, const char *path, icestream_error *error)
{
    source->next = list_next;
    snprintf(source->where, sizeof source->where, "%s", path);
    ICS_TRY(ics_yaml_read_file(path, &source->document, error));
    return ics_particle_read_list(ics_yaml_root(source->document), &source->list, &source->count,
                                  error);
}

static int open_list(ics_particle_source *source, const icestream_config *config,
                     icestream_error *error)
{
    source->next = list_next;
    ics_config_place(config, "particles.list", source->where, sizeof source->where);
    return config->particles.list == NULL
               ? ICESTREAM_OK
               : ics_particle_read_list(config->particles.list, &source->list, &source->count,
                                        error);
}

/* ---- opening --------------------------------------------------------------------------------- */

static bool ends_in(const char *path, const char *ending)
{
    const size_t length = strlen(path), tail = strlen(ending);
    return length >= tail && strcmp(path + length - tail, ending) == 0;
}

/* Returns the format of the file. particles.format: auto decides by the ending of the name. */
static int choose_format(const icestream_config *config, ics_particle_format *out,
                         icestream_error *error)
{
    char place[512];
    const char *path = config->particles.file;
    *out = config->particles.format;
    if (*out != ICS_PARTICLES_AUTO) {
        return ICESTREAM_OK;
    }
    if (ends_in(path, ".f2k") || ends_in(path, ".f2k.txt")) {
        *out = ICS_PARTICLES_F2K;
    } else if (ends_in(path, ".csv") || ends_in(path, ".tsv")) {
        *out = ICS_PARTICLES_CSV;
    } else if (ends_in(path, ".yaml") || ends_in(path, ".yml")) {
        *out = ICS_PARTICLES_YAML;
    } else {
        return ics_error_add(error, ICESTREAM_E_CONFIG,
                             "%s: error: particles.file: found '%.200s', expected a name that ends "
                             "in .f2k, .csv, .tsv or .yaml, or particles.format",
                             ics_config_place(config, "particles.file", place, sizeof place), path);
    }
    return ICESTREAM_OK;
}

static int use_lines(ics_particle_source *source, ics_particle_format format,
                     icestream_error *error)
{
    source->next = format == ICS_PARTICLES_F2K ? ics_particle_f2k_next : ics_particle_csv_next;
    return format == ICS_PARTICLES_CSV ? ics_particle_csv_begin(source, error) : ICESTREAM_OK;
}

static bool is_regular(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

static int open_any(ics_particle_source *source, const icestream_config *config, int wake,
                    icestream_error *error)
{
    ics_particle_format format;
    if (config->particles.file == NULL) {
        return open_list(source, config, error);
    }
    ICS_TRY(choose_format(config, &format, error));
    if (format == ICS_PARTICLES_YAML) {
        return open_yaml(source, config->particles.file, error);
    }
    ICS_TRY(ics_line_stream_open(config->particles.file, &source->lines, error));
    ics_line_stream_wake_by(source->lines, wake);
    source->is_regular = is_regular(config->particles.file);
    source->has_ppc = config->particles.conventions == ICS_CONVENTIONS_PPC;
    return use_lines(source, format, error);
}

static ics_particle_source *create(ics_particle_events events, icestream_error *error)
{
    ics_particle_source *source = calloc(1, sizeof *source);
    if (source == NULL) {
        ics_error_add(error, ICESTREAM_E_MEMORY, "particles: error: out of memory");
    } else {
        source->events = events;
    }
    return source;
}

static int finish(ics_particle_source *source, int status, ics_particle_source **out)
{
    if (status != ICESTREAM_OK) {
        ics_particle_source_destroy(source);
        source = NULL;
    }
    *out = source;
    return status;
}

int ics_particle_source_open(const icestream_config *config, int wake, ics_particle_source **out,
                             icestream_error *error)
{
    *out = NULL;
    ics_particle_source *source = create(config->particles.events, error);
    if (source == NULL) {
        return ICESTREAM_E_MEMORY;
    }
    source->first_event = config->particles.first_event;
    return finish(source, open_any(source, config, wake, error), out);
}

int ics_particle_source_borrow(const char *name, ics_particle_format format,
                               ics_particle_events events, const char *data, size_t size,
                               ics_particle_source **out, icestream_error *error)
{
    *out = NULL;
    ics_particle_source *source = create(events, error);
    if (source == NULL) {
        return ICESTREAM_E_MEMORY;
    }
    int status = ics_line_stream_borrow(name, data, size, &source->lines, error);
    source->is_regular = true;
    return finish(source, status ? status : use_lines(source, format, error), out);
}

void ics_particle_source_destroy(ics_particle_source *source)
{
    if (source == NULL) {
        return;
    }
    ics_line_stream_destroy(source->lines);
    ics_yaml_destroy(source->document);
    free(source->list);
    free(source);
}

bool ics_particle_source_lacks_events(const ics_particle_source *source)
{
    for (size_t i = 0; i < source->column_count; ++i) {
        if (source->columns[i] == ICS_PARTICLE_EVENT) {
            return false;
        }
    }
    return source->next == ics_particle_csv_next;
}

/* Lines after a wrong one that are read for their faults. */
enum { MOST_LINES = 1000000 };

/* ---- numbering ------------------------------------------------------------------------------- */

/* Finds where events begin, in lists in which every particle has the number of its event. */
static int find_event(ics_particle_source *source, ics_raw_particle *raw, icestream_error *error)
{
    raw->begins = !source->any || raw->event != source->file_event;
    return raw->begins ? ics_particle_source_begin_event(source, raw->event, raw->column, error)
                       : ICESTREAM_OK;
}

static void number_particle(ics_particle_source *source, const ics_raw_particle *raw)
{
    if (raw->begins) {
        source->event = source->first_event +
                        (source->events == ICS_EVENTS_FILE ? raw->event : source->counted++);
        source->number = 0;
    }
}

/* Reads the lines after one whose fault is in *error, so that a user learns of all wrong lines at
 * once. A fault of another kind, and what may take long, ends this. */
static void add_faults(ics_particle_source *source, icestream_error *error)
{
    size_t count = 0;
    icestream_error one = *error;
    error->status = ICESTREAM_OK;
    for (size_t lines = 0; lines < MOST_LINES; ++lines) {
        ics_raw_particle unused;
        bool found;
        if (one.status == ICESTREAM_E_CONFIG) {
            ics_error_add_counted(error, &count, one.status, ics_line_stream_name(source->lines),
                                  "%s", one.text);
        }
        one.status = ICESTREAM_OK;
        const int status = source->next(source, &unused, &found, &one);
        if (!source->is_in_row || (status == ICESTREAM_OK && !found)) {
            return;
        }
    }
}

/* Reads a particle, and reports more than one wrong line. */
static int read_next(ics_particle_source *source, ics_raw_particle *raw, bool *found,
                     icestream_error *error)
{
    const int status = source->next(source, raw, found, error);
    if (status == ICESTREAM_E_CONFIG && source->is_regular && source->is_in_row) {
        add_faults(source, error);
    }
    return status;
}

int ics_particle_source_next(ics_particle_source *source, ics_listed_particle *out, bool *found,
                             icestream_error *error)
{
    ics_raw_particle raw;
    ICS_TRY(read_next(source, &raw, found, error));
    if (!*found) {
        return source->listed ? ICESTREAM_OK
                              : ics_particle_source_fault(
                                    source, 0, error, "found no particle, expected at least one");
    }
    if (source->next != ics_particle_f2k_next) {
        ICS_TRY(find_event(source, &raw, error));
    }
    source->listed = true;
    number_particle(source, &raw);
    if (source->number > UINT32_MAX) {
        return ics_particle_source_fault(source, 0, error,
                                         "found more than 2^32 particles in an event");
    }
    out->particle = raw.particle;
    out->event = source->event;
    out->number = (uint32_t)source->number++;
    out->track_losses = ICS_LOSSES_NOT_NEEDED;
    out->decay = ICS_DECAY_NOT_LISTED;
    out->passed = source->has_ppc && raw.is_dark_in_ppc ? ICS_PASSED_PPC : ICS_PASSED_NOT;
    out->is_incomparable = false;
    out->position = ics_particle_source_position(source);
    return ICESTREAM_OK;
}
