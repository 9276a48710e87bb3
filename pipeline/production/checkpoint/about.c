#include "pipeline/production/checkpoint/about.h"

#include "base/error.h"
#include "base/json_text.h"
#include "pipeline/photons/files/format/crc32c.h"
#include "pipeline/production/checkpoint/state.h"
#include "pipeline/production/telemetry/event.h"
#include "pipeline/production/telemetry/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_to_read(const char *path)
{
    return TEMP_FAILURE_RETRY(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
}

bool ics_checkpoint_about_is(const char *path)
{
    ICS_CLOSES_DESCRIPTOR int file = open_to_read(path);
    return file >= 0 && ics_checkpoint_begins(file, sizeof ICS_CHECKPOINT_MAGIC - 1);
}

/* Adds up the heads of all whole records. A record that is being written ends the list. */
static void add_up(const ics_checkpoint *checkpoint, uint64_t size, uint64_t *photons,
                   uint64_t *hits)
{
    icestream_error end = {.status = ICESTREAM_OK};
    ics_checkpoint_head head;
    for (uint64_t offset = checkpoint->records;
         ics_checkpoint_read(checkpoint, offset, &head, sizeof head, &end) == ICESTREAM_OK &&
         ics_checkpoint_head_is_good(&head, size - offset);
         offset += ics_checkpoint_record_size(&head)) {
        *photons += head.account.created;
        *hits += head.account.hits;
    }
}

static json_t *describe(const ics_checkpoint *checkpoint, const struct stat *about, json_t *origin)
{
    char time[ICS_EVENT_TIME];
    uint64_t photons = 0, hits = 0;
    json_t *written = json_incref(json_object_get(origin, ICS_CHECKPOINT_WRITTEN));
    const json_t *total = json_object_get(written, "photons");
    add_up(checkpoint, (uint64_t)about->st_size, &photons, &hits);
    const bool is_known = json_integer_value(total) > 0;
    json_object_del(origin, ICS_CHECKPOINT_WRITTEN);
    json_t *result = json_pack(
        "{s:o, s:I, s:I, s:O?, s:o?, s:O?, s:O?, s:O?, s:s, s:O}", "path",
        ics_json_text(checkpoint->path), "photons", (json_int_t)photons, "hits", (json_int_t)hits,
        "photons_total", is_known ? total : NULL, "share",
        is_known ? json_real((double)photons / (double)json_integer_value(total)) : NULL, "file",
        json_object_get(written, "file"), "worker", json_object_get(written, "worker"), "host",
        json_object_get(written, "host"), "time",
        ics_event_time_text((double)about->st_mtim.tv_sec + 1e-9 * (double)about->st_mtim.tv_nsec,
                            time),
        "origin", origin);
    json_decref(written);
    return result;
}

int ics_checkpoint_about(const char *path, json_t **out, icestream_error *error)
{
    struct stat about;
    json_auto_t *origin = NULL;
    ICS_CLOSES_DESCRIPTOR int file = open_to_read(path);
    ics_checkpoint checkpoint = {.path = (char *)(uintptr_t)path, .file = file};
    *out = NULL;
    if (file < 0 || fstat(file, &about) != 0) {
        return ics_error_set_cause(error, ICESTREAM_E_INPUT, errno, "%s: %s", path,
                                   strerror(errno));
    }
    const int status = ics_checkpoint_read_origin(&checkpoint, &origin, error);
    if (status != ICESTREAM_OK) {
        return status == ICESTREAM_E_OUTPUT ? (error->status = ICESTREAM_E_INPUT) : status;
    }
    *out = describe(&checkpoint, &about, origin);
    return *out != NULL ? ICESTREAM_OK
                        : ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", path);
}

void ics_checkpoint_about_text(const json_t *about, char *text, size_t size)
{
    char photons[32], hits[32], share[64] = "";
    const json_t *part = json_object_get(about, "share");
    const char *worker = json_string_value(json_object_get(about, "worker"));
    const char *host = json_string_value(json_object_get(about, "host"));
    const json_t *total = json_object_get(about, "photons_total");
    const double done = json_number_value(json_object_get(about, "photons"));
    ics_progress_count_text(json_number_value(json_object_get(about, "hits")), hits);
    if (json_is_number(part)) {
        snprintf(share, sizeof share, "%.3g %% of ", 100.0 * json_number_value(part));
    }
    snprintf(
        text, size, "%s%s photons, %s hits%s%s%s%s", share,
        ics_progress_count_text(json_is_integer(total) ? json_number_value(total) : done, photons),
        hits, worker != NULL ? "; begun by the worker " : "", worker != NULL ? worker : "",
        host != NULL ? " on " : "", host != NULL ? host : "");
}
