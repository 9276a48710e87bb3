#include "pipeline/production/telemetry/output_names.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/new.h"
#include "pipeline/photons/config/pattern_outputs.h"
#include "pipeline/production/telemetry/report_file.h"

#include <stdlib.h>
#include <string.h>

int ics_output_names_add(ics_output_names *self, const char *path, const char *folder,
                         icestream_error *error)
{
    ICS_FREES char *parent = ics_new_copy(path);
    char *slash = strrchr(parent, '/');
    (void)error;
    if (slash != NULL) {
        slash[slash == parent] = '\0';
    }
    if (ics_pattern_same_folder(slash != NULL ? parent : ".", folder)) {
        self->names[self->count++] =
            ics_new_copy(slash != NULL ? path + (slash - parent) + 1 : path);
    }
    return ICESTREAM_OK;
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
