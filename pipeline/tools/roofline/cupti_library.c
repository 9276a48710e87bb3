#include "pipeline/tools/roofline/cupti_library.h"

#include "base/error.h"
#include "pipeline/tools/roofline/cupti.h"
#include "pipeline/tools/roofline/profiler.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static void *open_library(const char *folder)
{
    static const char *const names[] = {"libcupti.so.13", "libcupti.so"};
    void *library = NULL;
    for (size_t i = 0; library == NULL && i < sizeof names / sizeof *names; ++i) {
        char path[PATH_MAX];
        const int length = snprintf(path, sizeof path, "%s%s", folder, names[i]);
        if (length > 0 && (size_t)length < sizeof path) {
            /* RTLD_NODELETE: CUPTI has threads and callbacks, which must not outlive its code. */
            library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        }
    }
    return library;
}

static void *find_library(void)
{
    static const char *const folders[] = {"lib64", "extras/CUPTI/lib64", "lib"};
    const char *const roots[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
    void *library = open_library("");
    for (size_t i = 0; i < sizeof roots / sizeof *roots; ++i) {
        for (size_t k = 0; k < sizeof folders / sizeof *folders; ++k) {
            char folder[PATH_MAX];
            if (library == NULL && roots[i] != NULL && roots[i][0] != '\0') {
                snprintf(folder, sizeof folder, "%s/%s/", roots[i], folders[k]);
                library = open_library(folder);
            }
        }
    }
    return library;
}

/* Sets a pointer to a function, by copying the address: POSIX makes both pointers equally large. */
static int find_function(void *library, const char *name, void *function, icestream_error *error)
{
    void *address = dlsym(library, name);
    if (address == NULL) {
        return ics_error_set(error, ICESTREAM_E_FAILED,
                             "libcupti has no function %s; expected CUPTI of CUDA 13.0 or later",
                             name);
    }
    memcpy(function, &address, sizeof address);
    return ICESTREAM_OK;
}

int ics_cupti_library_load(ics_cupti_library *out, icestream_error *error)
{
    const char *given = getenv("ICESTREAM_CUPTI");
    const bool named = given != NULL && given[0] != '\0';
    out->library = named ? dlopen(given, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) : find_library();
    if (out->library == NULL && named) {
        return ics_error_set(error, ICESTREAM_E_FAILED, "ICESTREAM_CUPTI: %s", dlerror());
    }
    if (out->library == NULL) {
        return ics_error_set(
            error, ICESTREAM_E_FAILED,
            "the library libcupti.so.13 is missing: found it neither where the loader looks "
            "(LD_LIBRARY_PATH) nor in lib64, extras/CUPTI/lib64 or lib of $CUDA_HOME, $CUDA_PATH "
            "or /usr/local/cuda; it is part of the CUDA toolkit (CUPTI) and counts what kernels do "
            "on a GPU");
    }
#define FIND(name) ICS_TRY(find_function(out->library, #name, &out->name, error));
    ICS_CUPTI_FUNCTIONS(FIND)
#undef FIND
    return ICESTREAM_OK;
}

int ics_cupti_find(icestream_error *error)
{
    ics_cupti_library library;
    return ics_cupti_library_load(&library, error);
}

int ics_cupti_library_check(const ics_cupti_library *cupti, CUptiResult result, const char *call,
                            icestream_error *error)
{
    if (result == CUPTI_SUCCESS) {
        return ICESTREAM_OK;
    }
    if (result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ||
        result == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES) {
        return ics_profiler_forbidden(ICS_PROFILER_CUPTI, error);
    }
    const char *text = NULL;
    (void)cupti->cuptiGetResultString(result, &text);
    return ics_error_set(error, ICESTREAM_E_FAILED,
                         "CUPTI failed: %s gave %s (%d), expected CUPTI_SUCCESS; CUPTI needs a GPU "
                         "and a driver that is not older than CUPTI; --profiler ncu counts without "
                         "CUPTI",
                         call, text != NULL ? text : "an unknown result", (int)result);
}
