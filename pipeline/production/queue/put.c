#include "pipeline/production/queue/put.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/new.h"
#include "base/parts.h"
#include "base/url.h"
#include "base/visible_text.h"
#include "pipeline/photons/files/format/file_digest.h"
#include "pipeline/production/queue/scripts.h"
#include "pipeline/production/queue/ticket.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    PATIENCE = 5, /* s that a call waits for the broker */
    TRIES = 7     /* with pauses of 0.25, 0.5, ... 16 s */
};

/* One step file on its way into the queue. */
typedef struct step_file {
    char name[NAME_MAX + 1], sha256[ICS_PARTS_DIGEST_TEXT], bytes[24];
    char *url;   /* NULL: the steps are in the ticket */
    char *steps; /* NULL: they are at the URL */
    size_t size;
} step_file;

static int input_fault(const char *path, const char *why, icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_INPUT, "%s: %s", path, why);
}

/* Keeps the bytes of a file that goes into its ticket. */
static void keep_bytes(void *user, uint64_t offset, const unsigned char *bytes, size_t size)
{
    step_file *out = user;
    memcpy(out->steps + offset, bytes, size);
}

/* Reads a file to its end: its digest, and its bytes if they go into the ticket. Such a file has a
 * plain digest, which a worker compares in memory. */
static int read_file(const char *path, int descriptor, const struct stat *before, step_file *out,
                     icestream_error *error)
{
    const ics_parts_digest_order order = {.descriptor = descriptor,
                                          .name = path,
                                          .bytes = out->size,
                                          .threads = ICS_PARTS_MAX,
                                          .user = out,
                                          .take = out->steps != NULL ? keep_bytes : NULL};
    ICS_TRY(out->steps != NULL ? ics_parts_digest_plain(&order, out->sha256, error)
                               : ics_parts_digest_of(&order, out->sha256, error));
    return ics_file_digest_is_unchanged(descriptor, before)
               ? ICESTREAM_OK
               : input_fault(path, "it was changed while it was read, expected a complete file",
                             error);
}

static int look_at_file(const ics_queue_put_options *options, const char *path, int descriptor,
                        step_file *out, icestream_error *error)
{
    struct stat about;
    if (fstat(descriptor, &about) != 0) {
        return input_fault(path, strerror(errno), error);
    }
    if (!S_ISREG(about.st_mode)) {
        return input_fault(path, "expected a regular file", error);
    }
    out->size = (size_t)about.st_size;
    snprintf(out->bytes, sizeof out->bytes, "%zu", out->size);
    if (options->url != NULL) {
        out->url = ics_new_made(ics_url_fill(options->url, out->name));
    } else if (out->size <= options->embed_limit) {
        out->steps = malloc(out->size + 1);
        if (out->steps == NULL) {
            return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for %s", path);
        }
    } else {
        char real[PATH_MAX];
        if (realpath(path, real) == NULL) {
            return input_fault(path, strerror(errno), error);
        }
        out->url = ics_new_text("file://%s", real);
    }
    ICS_TRY(read_file(path, descriptor, &about, out, error));
    const char *fault = out->url != NULL ? ics_url_fault(out->url) : NULL;
    return fault == NULL ? ICESTREAM_OK
                         : ics_error_set(error, ICESTREAM_E_INPUT, "%s: its URL is %.300s, %s",
                                         path, out->url, fault);
}

/* Finds out everything about a file, or about a URL: the queue knows no digest of what is there. */
static int look(const ics_queue_put_options *options, const char *path, step_file *out,
                icestream_error *error)
{
    char why[256];
    if (ics_url_is(path)) {
        const char *fault = ics_url_fault(path);
        fault = fault != NULL ? fault : ics_url_name(path, out->name);
        if (fault != NULL) {
            return input_fault("FILE", fault, error);
        }
        out->url = ics_new_copy(path);
        return ICESTREAM_OK;
    }
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    if (ics_queue_name_fault(name, strlen(name), why)[0] != '\0') {
        return input_fault(path, why, error);
    }
    snprintf(out->name, sizeof out->name, "%s", name);
    ICS_CLOSES_DESCRIPTOR int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    return descriptor >= 0 ? look_at_file(options, path, descriptor, out, error)
                           : input_fault(path, strerror(errno), error);
}

static void build(const ics_queue_put_options *options, const step_file *file,
                  const ics_queue_address *address, ics_queue_command *out)
{
    ics_queue_script_begin(ICS_QUEUE_PUT, address, out);
    ics_queue_command_add(out, file->name);
    ics_queue_command_add(out, file->sha256[0] != '\0' ? file->sha256 : file->url);
    const char *const pairs[][2] = {{"name", file->name},
                                    {"sha256", file->sha256},
                                    {"bytes", file->bytes[0] != '\0' ? file->bytes : "0"},
                                    {"configuration", options->configuration}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; ++i) {
        ics_queue_command_add(out, pairs[i][0]);
        ics_queue_command_add(out, pairs[i][1] != NULL ? pairs[i][1] : "");
    }
    ics_queue_command_add(out, file->steps != NULL ? "steps" : "url");
    ics_queue_command_add_bytes(out, file->steps != NULL ? file->steps : file->url,
                                file->steps != NULL ? file->size : strlen(file->url));
}

/* Whether a call is tried again, after a pause: the broker is away. `tries`: how often it was. */
static bool waits_for_broker(const icestream_error *why, int tries)
{
    const long pause = 250L << tries; /* ms */
    if (why->cause != ENOTCONN || tries + 1 >= TRIES) {
        return false;
    }
    nanosleep(&(struct timespec){.tv_sec = pause / 1000, .tv_nsec = pause % 1000 * 1000000}, NULL);
    return true;
}

static int make_group_patiently(ics_queue_link *link, icestream_error *error)
{
    icestream_error why = {.status = ICESTREAM_OK};
    int tries = 0, status;
    do {
        status = ics_queue_make_group(link, &why);
    } while (status != ICESTREAM_OK && waits_for_broker(&why, tries++));
    return status == ICESTREAM_OK ? status : ics_error_copy(error, &why);
}

/* Calls the broker, and waits while it is away. */
static int call_patiently(ics_queue_link *link, const ics_queue_command *command, redisReply **out,
                          icestream_error *error)
{
    icestream_error why = {.status = ICESTREAM_OK};
    int tries = 0, status;
    do {
        status = ics_queue_link_call(link, command, out, &why);
    } while (status != ICESTREAM_OK && waits_for_broker(&why, tries++));
    return status == ICESTREAM_OK ? status : ics_error_copy(error, &why);
}

static void free_steps(step_file *file)
{
    free(file->url);
    free(file->steps);
}

static int send_file(const ics_queue_put_options *options, ics_queue_link *link, const char *path,
                     ics_queue_put_counts *counts, icestream_error *error)
{
    ICS_CLEANUP(free_steps) step_file file = {.size = 0};
    ICS_DESTROYS(freeReplyObject) redisReply *reply = NULL;
    ics_queue_command command;
    char shown[65];
    ICS_TRY(look(options, path, &file, error));
    build(options, &file, ics_queue_link_address(link), &command);
    ICS_TRY(call_patiently(link, &command, &reply, error));
    const char *answer = reply->type == REDIS_REPLY_STRING ? reply->str : "";
    const bool is_new = strcmp(answer, "new") == 0, is_same = strcmp(answer, "same") == 0;
    counts->added += is_new;
    counts->there += is_same;
    counts->bytes += is_new ? file.size : 0;
    return is_new || is_same
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_INPUT,
                               "%s: found another step file of this name in %s (%s), expected "
                               "another name, because hit files are named after step files",
                               path, ics_queue_link_address(link)->shown,
                               ics_visible_text(answer, false, shown, sizeof shown));
}

int ics_queue_put(const ics_queue_put_options *options, char *const *files, size_t count,
                  ics_queue_put_counts *counts, icestream_error *error)
{
    ICS_DESTROYS(ics_queue_link_destroy) ics_queue_link *link = NULL;
    *counts = (ics_queue_put_counts){.added = 0};
    ICS_TRY(ics_queue_link_create(&options->login, PATIENCE, &link, error));
    ICS_TRY(make_group_patiently(link, error));
    for (size_t i = 0; i < count; ++i) {
        icestream_error why = {.status = ICESTREAM_OK};
        const int status = send_file(options, link, files[i], counts, &why);
        if (status != ICESTREAM_OK && status != ICESTREAM_E_INPUT) {
            return ics_error_set_cause(error, status, why.cause,
                                       "%s; %zu files from %s on were not put", why.text, count - i,
                                       files[i]);
        }
        counts->refused += status != ICESTREAM_OK;
        if (status != ICESTREAM_OK && options->refuse != NULL) {
            options->refuse(why.text);
        }
    }
    return counts->refused == 0
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_INPUT,
                               "%" PRIu64 " of %zu files were not put, for the reasons above",
                               counts->refused, count);
}
