#include "pipeline/photons/provenance/output_digest.h"

#include "base/cleanup.h"
#include "base/disk.h"
#include "base/error.h"
#include "base/parts.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static int cannot_read(const char *path, const char *why, icestream_error *error)
{
    return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, errno,
                               "%s: cannot be read for its digest: %s", path, why);
}

static int open_file(const char *path, ics_parts_digest_order *out, icestream_error *error)
{
    struct stat about;
    const char *why;
    *out = (ics_parts_digest_order){.name = path, .threads = ICS_PARTS_MAX};
    out->descriptor = ics_disk_open_regular(path, &why);
    if (out->descriptor < 0) {
        return cannot_read(path, why, error);
    }
    if (fstat(out->descriptor, &about) != 0) {
        const int status = cannot_read(path, strerror(errno), error);
        close(out->descriptor);
        return status;
    }
    out->bytes = (uint64_t)about.st_size;
    return ICESTREAM_OK;
}

static int digest_file(const char *path,
                       int (*digest)(const ics_parts_digest_order *, char *, icestream_error *),
                       char *text, icestream_error *error)
{
    ics_parts_digest_order order;
    text[0] = '\0';
    ICS_TRY(open_file(path, &order, error));
    const int status = digest(&order, text, error);
    close(order.descriptor);
    if (status == ICESTREAM_E_MEMORY || status == ICESTREAM_OK) {
        return status;
    }
    return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, error->cause,
                               "%s: cannot be read for its digest: %s", path,
                               strerror(error->cause));
}

int ics_output_digest_of(const char *path, char text[ICS_DIGEST_TEXT], icestream_error *error)
{
    return digest_file(path, ics_parts_digest_plain, text, error);
}

int ics_output_digest_in_parts(const char *path, char text[ICS_PARTS_DIGEST_TEXT],
                               icestream_error *error)
{
    return digest_file(path, ics_parts_digest_of, text, error);
}
