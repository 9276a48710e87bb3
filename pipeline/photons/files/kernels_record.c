#include "pipeline/photons/files/kernels_record.h"

#include "base/error.h"
#include "base/json_text.h"

#include <stdio.h>
#include <string.h>

int ics_kernels_record_set(json_t *metadata, const ics_kernels *kernels, icestream_error *error)
{
    char capability[32], compiler[32];
    json_t *made = NULL;
    int failed = 0;
    if (kernels->code == 0) {
        return ICESTREAM_OK;
    }
    if (kernels->code == ICS_KERNELS_MIXED) {
        made = json_string("mixed");
    } else {
        ics_kernels_capability(kernels->code, capability);
        ics_kernels_compiler(kernels->code, compiler);
        made = json_pack("{s:s, s:s}", "capability", capability, "compiler", compiler);
        failed = kernels->gpu[0] != '\0' &&
                 json_object_set_new(made, "gpu", ics_json_text(kernels->gpu)) != 0;
    }
    return json_object_set_new(metadata, "kernels", made) == 0 && !failed
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for metadata");
}

ics_kernels ics_kernels_record_get(const json_t *metadata)
{
    ics_kernels out = {.code = 0};
    const json_t *found = json_object_get(metadata, "kernels");
    const char *word = json_string_value(found);
    const char *gpu = json_string_value(json_object_get(found, "gpu"));
    const char *capability = json_string_value(json_object_get(found, "capability"));
    const char *compiler = json_string_value(json_object_get(found, "compiler"));
    if (word != NULL && strcmp(word, "mixed") == 0) {
        out.code = ICS_KERNELS_MIXED;
    }
    if (capability != NULL && compiler != NULL) {
        out.code = ics_kernels_code(capability, compiler);
    }
    if (gpu != NULL) {
        snprintf(out.gpu, sizeof out.gpu, "%s", gpu);
    }
    return out;
}
