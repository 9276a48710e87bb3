#include "pipeline/units/command_pending.h"

#include "base/error.h"
#include "pipeline/files/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The name of the file, for the caller to free. NULL: out of memory. */
static char *name_of(const char *path)
{
    char *name = NULL;
    return asprintf(&name, "%s.command", path) >= 0 ? name : NULL;
}

static int out_of_memory(const char *path, icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", path);
}

static int failed(const char *name, const char *what, int cause, icestream_error *error)
{
    return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, cause, "%s: %s: %s", name, what,
                               strerror(cause));
}

/* The folder is synced first, because after a power cut the hit file must not exist without it. */
int ics_command_pending_set(const char *path, icestream_error *error)
{
    char *name = name_of(path);
    if (name == NULL) {
        return out_of_memory(path, error);
    }
    const int descriptor = TEMP_FAILURE_RETRY(
        open(name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0666));
    int status = descriptor >= 0
                     ? ICESTREAM_OK
                     : failed(name, "cannot note that sink.command is to run", errno, error);
    if (descriptor >= 0) {
        close(descriptor);
        status = ics_output_sync_folder(name, error);
    }
    free(name);
    return status;
}

bool ics_command_pending_has(const char *path)
{
    char *name = path != NULL ? name_of(path) : NULL;
    const bool there = name != NULL && access(name, F_OK) == 0;
    free(name);
    return there;
}

int ics_command_pending_remove(const char *path, icestream_error *error)
{
    char *name = name_of(path);
    if (name == NULL) {
        return out_of_memory(path, error);
    }
    int status = ICESTREAM_OK;
    if (unlink(name) != 0 && errno != ENOENT) {
        status = failed(name, "cannot be removed after sink.command has succeeded", errno, error);
    }
    free(name);
    return status;
}
