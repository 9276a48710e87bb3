#include "pipeline/telemetry/output_names.h"

#include "base/error.h"
#include "pipeline/config/pattern_outputs.h"
#include "pipeline/telemetry/report_file.h"

#include <stdlib.h>
#include <string.h>

int ics_output_names_add(ics_output_names *self, const char *path, const char *folder,
                         icestream_error *error)
{
    char *parent = strdup(path);
    char *slash = parent != NULL ? strrchr(parent, '/') : NULL;
    char *name = parent != NULL ? strdup(slash != NULL ? slash + 1 : parent) : NULL;
    if (slash != NULL) {
        slash[slash == parent] = '\0';
    }
    const bool is_there =
        name != NULL && ics_pattern_same_folder(slash != NULL ? parent : ".", folder);
    const int status = name != NULL
                           ? ICESTREAM_OK
                           : ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a run");
    if (is_there) {
        self->names[self->count++] = name;
        name = NULL;
    }
    free(name);
    free(parent);
    return status;
}

static bool ends_with(const char *name, const char *ending)
{
    const size_t length = strlen(name), tail = strlen(ending);
    return length >= tail && strcmp(name + length - tail, ending) == 0;
}

/* A rotated journal has a dot or a minus behind the name. */
bool ics_output_names_have(const ics_output_names *self, const char *name)
{
    bool own = ends_with(name, ".hits.npy") || ends_with(name, ".hits.npy.command") ||
               ends_with(name, ".checkpoint") || ends_with(name, ".checkpoint.rows");
    for (size_t i = 0; i < self->count && !own; ++i) {
        const char *output = self->names[i];
        const size_t length = strlen(output);
        own = strncmp(name, output, length) == 0 &&
              (name[length] == '\0' || name[length] == '.' || name[length] == '-');
        own = own || ics_report_file_is_name(output, name); /* that of another worker */
    }
    return own;
}

void ics_output_names_free(ics_output_names *self)
{
    for (size_t i = 0; i < self->count; ++i) {
        free(self->names[i]);
    }
    self->count = 0;
}
