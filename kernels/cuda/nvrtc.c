#include "kernels/cuda/nvrtc.h"

#include "base/cleanup.h"
#include "base/error.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Declarations as in nvrtc.h, which has not changed since CUDA 11.2. */
typedef int nvrtc_result;
typedef struct nvrtc_program nvrtc_program; /* *nvrtcProgram */
enum { NVRTC_INVALID_OPTION = 5 };

struct ics_nvrtc {
    void *library;
    char version[32];
    int newest;
    nvrtc_result (*number)(int *major, int *minor);
    nvrtc_result (*count_architectures)(int *count);
    nvrtc_result (*architectures)(int *list);
    nvrtc_result (*create)(nvrtc_program **program, const char *source, const char *name,
                           int header_count, const char *const *headers, const char *const *names);
    nvrtc_result (*destroy)(nvrtc_program **program);
    nvrtc_result (*compile)(nvrtc_program *program, int option_count, const char *const *options);
    nvrtc_result (*cubin_size)(nvrtc_program *program, size_t *size);
    nvrtc_result (*cubin)(nvrtc_program *program, char *cubin);
    nvrtc_result (*ptx_size)(nvrtc_program *program, size_t *size);
    nvrtc_result (*ptx)(nvrtc_program *program, char *ptx);
    nvrtc_result (*log_size)(nvrtc_program *program, size_t *size);
    nvrtc_result (*log)(nvrtc_program *program, char *log);
    const char *(*error_text)(nvrtc_result result);
};

/* ---- loading -------------------------------------------------------------------------------- */

#ifndef ICS_NVRTC_FOLDER
#define ICS_NVRTC_FOLDER "/usr/local/cuda/lib64"
#endif

static void *open_library(const char *name)
{
    /* RTLD_NODELETE keeps the library loaded, because the process may still use parts of it after
     * dlclose. */
    return dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

static void *find_library(icestream_error *error)
{
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
    static const char *const folders[] = {"", ICS_NVRTC_FOLDER "/", "/usr/local/cuda/lib64/"};
    const size_t name_count = sizeof names / sizeof *names;
    const size_t folder_count = sizeof folders / sizeof *folders;

    const char *chosen = getenv("ICESTREAM_NVRTC");
    if (chosen != NULL && *chosen) {
        void *library = open_library(chosen);
        if (library == NULL) {
            ics_error_set(error, ICESTREAM_E_CONFIG, "ICESTREAM_NVRTC: %s", dlerror());
        }
        return library;
    }
    for (size_t folder = 0; folder < folder_count; ++folder) {
        for (size_t name = 0; name < name_count; ++name) {
            char path[1024];
            snprintf(path, sizeof path, "%s%s", folders[folder], names[name]);
            void *library = open_library(path);
            if (library != NULL) {
                return library;
            }
        }
    }
    ics_error_set(error, ICESTREAM_E_CONFIG, "no library libnvrtc.so.13 or libnvrtc.so.12");
    return NULL;
}

/* Sets a pointer to a function, by copying the address: POSIX makes both pointers equally large. */
static bool find_function(const ics_nvrtc *nvrtc, const char *name, void *function,
                          icestream_error *error)
{
    void *address = dlsym(nvrtc->library, name);
    if (address == NULL) {
        ics_error_set(error, ICESTREAM_E_CONFIG,
                      "the library is no NVRTC of CUDA 12 or later: %s is missing", name);
    }
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

static bool find_functions(ics_nvrtc *nvrtc, icestream_error *error)
{
    const struct {
        const char *name;
        void *function;
    } wanted[] = {
        {"nvrtcVersion", &nvrtc->number},
        {"nvrtcGetNumSupportedArchs", &nvrtc->count_architectures},
        {"nvrtcGetSupportedArchs", &nvrtc->architectures},
        {"nvrtcCreateProgram", &nvrtc->create},
        {"nvrtcDestroyProgram", &nvrtc->destroy},
        {"nvrtcCompileProgram", &nvrtc->compile},
        {"nvrtcGetCUBINSize", &nvrtc->cubin_size},
        {"nvrtcGetCUBIN", &nvrtc->cubin},
        {"nvrtcGetPTXSize", &nvrtc->ptx_size},
        {"nvrtcGetPTX", &nvrtc->ptx},
        {"nvrtcGetProgramLogSize", &nvrtc->log_size},
        {"nvrtcGetProgramLog", &nvrtc->log},
        {"nvrtcGetErrorString", &nvrtc->error_text},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; ++i) {
        if (!find_function(nvrtc, wanted[i].name, wanted[i].function, error)) {
            return false;
        }
    }
    return true;
}

static bool read_abilities(ics_nvrtc *nvrtc, icestream_error *error)
{
    int major = 0, minor = 0, count = 0;
    bool good = nvrtc->number(&major, &minor) == 0 && nvrtc->count_architectures(&count) == 0;
    ICS_FREES int *list = good && count > 0 ? calloc((size_t)count, sizeof *list) : NULL;
    good = list != NULL && nvrtc->architectures(list) == 0;
    for (int i = 0; i < count && good; ++i) {
        if (list[i] > nvrtc->newest) {
            nvrtc->newest = list[i];
        }
    }
    snprintf(nvrtc->version, sizeof nvrtc->version, "nvrtc %d.%d", major, minor);
    if (!good) {
        ics_error_set(error, ICESTREAM_E_CONFIG,
                      "NVRTC %d.%d does not say which GPUs it compiles for", major, minor);
    }
    return good;
}

int ics_nvrtc_create(ics_nvrtc **out, icestream_error *error)
{
    *out = NULL;
    ics_nvrtc *nvrtc = calloc(1, sizeof *nvrtc);
    if (nvrtc == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory");
    }
    nvrtc->library = find_library(error);
    if (nvrtc->library == NULL || !find_functions(nvrtc, error) || !read_abilities(nvrtc, error)) {
        ics_nvrtc_destroy(nvrtc);
        return ICESTREAM_E_CONFIG;
    }
    *out = nvrtc;
    return ICESTREAM_OK;
}

void ics_nvrtc_destroy(ics_nvrtc *nvrtc)
{
    if (nvrtc == NULL) {
        return;
    }
    if (nvrtc->library != NULL) {
        dlclose(nvrtc->library);
    }
    free(nvrtc);
}

const char *ics_nvrtc_version(const ics_nvrtc *nvrtc)
{
    return nvrtc->version;
}

int ics_nvrtc_newest(const ics_nvrtc *nvrtc)
{
    return nvrtc->newest;
}

/* ---- compiling ------------------------------------------------------------------------------ */

static nvrtc_result create_program(const ics_nvrtc *nvrtc, const ics_nvrtc_job *job,
                                   nvrtc_program **program)
{
    ICS_FREES const char **texts = calloc(job->header_count + 1, sizeof *texts);
    ICS_FREES const char **names = calloc(job->header_count + 1, sizeof *names);
    if (texts == NULL || names == NULL) {
        return 1; /* out of memory */
    }
    for (size_t i = 0; i < job->header_count; ++i) {
        texts[i] = job->headers[i].text;
        names[i] = job->headers[i].name;
    }
    return nvrtc->create(program, job->source, "icestream.cu", (int)job->header_count, texts,
                         names);
}

/* Compiles. A header must not come from the working folder, because only the given headers are in
 * the cache key. An NVRTC that is too old for the option --no-source-include reads such files. */
static nvrtc_result compile_program(const ics_nvrtc *nvrtc, const ics_nvrtc_job *job,
                                    nvrtc_program *program)
{
    /* Older versions of NVRTC know only the first of these options, or none. --no-cache asks for a
     * real compilation: the driver keeps earlier results, but a result from there comes without the
     * log from which we read the names and the registers of the kernels. */
    static const char *const wishes[] = {"--no-source-include", "--no-cache"};
    enum { WISHES = sizeof wishes / sizeof *wishes };
    ICS_FREES const char **options = calloc(job->option_count + WISHES, sizeof *options);
    if (options == NULL) {
        return 1;
    }
    for (size_t i = 0; i < job->option_count; ++i) {
        options[i] = job->options[i];
    }
    memcpy(options + job->option_count, wishes, sizeof wishes);
    nvrtc_result result = NVRTC_INVALID_OPTION;
    for (int count = WISHES; count >= 0 && result == NVRTC_INVALID_OPTION; --count) {
        result = nvrtc->compile(program, (int)job->option_count + count, options);
    }
    return result;
}

typedef nvrtc_result size_function(nvrtc_program *program, size_t *size);
typedef nvrtc_result copy_function(nvrtc_program *program, char *bytes);

/* Copies a result of the compiler, with one more zero byte behind it; the caller frees *bytes. */
static nvrtc_result copy_result(nvrtc_program *program, size_function *size_of, copy_function *copy,
                                char **bytes, size_t *size)
{
    nvrtc_result result = size_of(program, size);
    if (result == 0) {
        *bytes = calloc(*size + 1, 1);
        result = *bytes != NULL ? copy(program, *bytes) : 1;
    }
    return result;
}

int ics_nvrtc_compile(const ics_nvrtc *nvrtc, const ics_nvrtc_job *job, ics_nvrtc_output *output,
                      icestream_error *error)
{
    *output = (ics_nvrtc_output){0};
    nvrtc_program *program = NULL;
    nvrtc_result result = create_program(nvrtc, job, &program);
    if (result == 0) {
        result = compile_program(nvrtc, job, program);
        size_t log_bytes;
        copy_result(program, nvrtc->log_size, nvrtc->log, &output->log, &log_bytes);
    }
    if (result == 0) {
        char *image = NULL;
        if (job->as_ptx) {
            result = copy_result(program, nvrtc->ptx_size, nvrtc->ptx, &image, &output->bytes);
        } else {
            result = copy_result(program, nvrtc->cubin_size, nvrtc->cubin, &image, &output->bytes);
        }
        output->image = image;
    }
    if (result != 0) {
        ics_error_set(error, ICESTREAM_E_CONFIG, "%s", nvrtc->error_text(result));
    }
    if (program != NULL) {
        nvrtc->destroy(&program);
    }
    return result == 0 ? ICESTREAM_OK : ICESTREAM_E_CONFIG;
}
