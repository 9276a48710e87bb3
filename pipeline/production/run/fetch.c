#include "base/clock.h"
#include "base/error.h"
#include "base/new.h"
#include "pipeline/production/run/log.h"
#include "pipeline/production/run/parts.h"
#include "pipeline/production/run/stop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes of a file whose size no ticket names: no step file is as large. */
static const uint64_t FETCH_MOST = 100000000000;

/* What fetches the file of one unit: a program of the user, or this process (file:). */
struct ics_run_fetch {
    LIST_ENTRY(ics_run_fetch) link;
    ics_run_state *run;
    ics_unit *unit;
    void (*then)(ics_run_state *run, ics_unit *unit);
    double began; /* ics_clock_seconds() (s) */
    ics_errand *errand;
};

int ics_run_fetch_open(ics_run_state *run, icestream_error *error)
{
    const icestream_config *config = run->config;
    const bool is_stdout = strcmp(config->sink.directory, "-") == 0;
    const char *parent = config->source.fetched != NULL ? config->source.fetched
                         : is_stdout                    ? "."
                                                        : config->sink.directory;
    if (config->source.queue != NULL) {
        return ics_fetch_folder_open(parent, run->common.writer, &run->fetches.folder, error);
    }
    for (size_t i = 0; i < run->inputs.count; ++i) {
        ics_input *input = &run->inputs.items[i];
        if (input->url == NULL) {
            continue;
        }
        if (run->fetches.folder.path == NULL) {
            ICS_TRY(ics_fetch_folder_open(parent, run->common.writer, &run->fetches.folder, error));
        }
        /* URLs of different folders may end in the same name. */
        char *path = ics_new_text("%s/%zu-%s", run->fetches.folder.path, i, input->path);
        free(input->path);
        input->path = path;
    }
    return ICESTREAM_OK;
}

/* Sets why there is no step file; ICESTREAM_OK: there is one. */
static int judge(const ics_run_fetch *fetch, const icestream_error *why, struct stat *about,
                 icestream_error *error)
{
    const icestream_config *config = fetch->run->config;
    const char *program = config->source.fetch_count > 0 ? config->source.fetch[0] : NULL;
    const char *fault = why->text;
    int cause = why->cause;
    if (why->status == ICESTREAM_OK) {
        if (lstat(fetch->unit->input->path, about) == 0 && S_ISREG(about->st_mode)) {
            return ICESTREAM_OK;
        }
        fault = "it succeeded and made no file at {path}";
        cause = EAGAIN;
    }
    return program != NULL
               ? ics_error_set_cause(error, ICESTREAM_E_OUTPUT, cause, "%s: source.fetch: %s: %s",
                                     fetch->unit->name, program, fault)
               : ics_error_copy(error, why);
}

static void finish(void *user, const icestream_error *why)
{
    ics_run_fetch *fetch = user;
    ics_run_state *run = fetch->run;
    ics_unit *unit = fetch->unit;
    struct stat about = {.st_size = 0};
    if (judge(fetch, why, &about, &unit->work->read_error) != ICESTREAM_OK) {
        unlink(unit->input->path); /* a part of a step file */
        unit->work->blocked = true;
    } else {
        const ics_event event = {.kind = ICS_EVENT_FETCHED,
                                 .file = unit->name,
                                 .input_bytes = (uint64_t)about.st_size,
                                 .seconds = ics_clock_seconds() - fetch->began,
                                 .attempt = unit->retry.tries + 1};
        ics_run_log_event(run, &event);
    }
    LIST_REMOVE(fetch, link);
    fetch->then(run, unit);
    free(fetch);
}

static ics_errand *start(ics_run_state *run, const ics_unit *unit, ics_run_fetch *fetch)
{
    const char *path = unit->input->path, *url = unit->input->url;
    const ics_errand_order order = {
        .call = {.file = run->programs[ICS_PROGRAM_FETCH],
                 .words = ics_config_program(run->config, ICS_PROGRAM_FETCH),
                 .path = path,
                 .url = url,
                 .allow = run->config->source.allow,
                 .most = unit->input->bytes > 0 ? unit->input->bytes : FETCH_MOST},
        .request = {.url = url, .path = path},
        .then = finish,
        .user = fetch};
    return ics_errand_start(&run->loop.uv, &order);
}

bool ics_run_fetch_begin(ics_run_state *run, ics_unit *unit,
                         void (*then)(ics_run_state *run, ics_unit *unit))
{
    const char *path = unit->input->path;
    if (unit->input->url == NULL || access(path, F_OK) == 0) {
        return false;
    }
    ics_run_fetch *fetch = ICS_NEW(ics_run_fetch);
    ics_errand *errand = start(run, unit, fetch);
    if (errand == NULL) {
        free(fetch);
        unit->work->blocked = true;
        ics_error_set(&unit->work->read_error, ICESTREAM_E_MEMORY, "out of memory for %s",
                      unit->name);
        then(run, unit);
        return true;
    }
    *fetch = (ics_run_fetch){
        .run = run, .unit = unit, .then = then, .began = ics_clock_seconds(), .errand = errand};
    LIST_INSERT_HEAD(&run->fetches.list, fetch, link);
    return true;
}

/* A run that stops waits for no step file: the next run fetches it again. */
static void offer(ics_run_state *run)
{
    ics_run_fetch *fetch;
    if (!ics_run_is_stopping(run) || run->fetches.stopped) {
        return;
    }
    run->fetches.stopped = true;
    LIST_FOREACH(fetch, &run->fetches.list, link)
    {
        ics_errand_stop(fetch->errand);
    }
}

static bool waits(const ics_run_state *run)
{
    return !LIST_EMPTY(&run->fetches.list);
}

const ics_run_part ics_run_fetch_part = {.offer = offer, .waits = waits};

void ics_run_fetch_destroy(ics_run_state *run)
{
    ics_fetch_folder_close(&run->fetches.folder);
}
