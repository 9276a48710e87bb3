#include "pipeline/photons/models/file.h"

#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int ics_model_file_find(const icestream_config *config, const char *value, const char *name,
                        char **out, icestream_error *error)
{
    const bool is_auto = strcmp(value, "auto") == 0;
    struct stat about;
    *out = NULL;
    if (strcmp(value, "none") == 0 || (is_auto && config->ice.directory == NULL)) {
        return ICESTREAM_OK;
    }
    const int length =
        is_auto ? asprintf(out, "%s/%s", config->ice.directory, name) : asprintf(out, "%s", value);
    if (length < 0) {
        *out = NULL;
        return ics_error_no_memory(error, "detector");
    }
    if (is_auto && stat(*out, &about) != 0 && (errno == ENOENT || errno == ENOTDIR)) {
        free(*out);
        *out = NULL;
    }
    return ICESTREAM_OK;
}

int ics_model_file_read(const icestream_config *config, const char *value, const char *name,
                        ics_text *out, icestream_error *error)
{
    char *path;
    *out = (ics_text){0};
    ICS_TRY(ics_model_file_find(config, value, name, &path, error));
    return path != NULL ? ics_text_read_own(path, out, error) : ICESTREAM_OK;
}
