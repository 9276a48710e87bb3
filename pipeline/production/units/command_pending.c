#include "pipeline/production/units/command_pending.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/new.h"
#include "pipeline/photons/files/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static char *name_of(const char *path)
{
    return ics_new_text("%s.command", path);
}

static int failed(const char *name, const char *what, icestream_error *error)
{
    return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, errno, "%s: %s: %s", name, what,
                               strerror(errno));
}

/* The folder is synced first, because after a power cut the hit file must not exist without it. */
int ics_command_pending_set(const char *path, icestream_error *error)
{
    ICS_FREES char *name = name_of(path);
    const int descriptor = TEMP_FAILURE_RETRY(
        open(name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0666));
    if (descriptor < 0) {
        return failed(name, "cannot note that sink.command is to run", error);
    }
    close(descriptor);
    return ics_output_sync_folder(name, error);
}

bool ics_command_pending_has(const char *path)
{
    ICS_FREES char *name = path != NULL ? name_of(path) : NULL;
    return name != NULL && access(name, F_OK) == 0;
}

int ics_command_pending_remove(const char *path, icestream_error *error)
{
    ICS_FREES char *name = name_of(path);
    return unlink(name) == 0 || errno == ENOENT
               ? ICESTREAM_OK
               : failed(name, "cannot be removed after sink.command has succeeded", error);
}
