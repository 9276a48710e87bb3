#include "kernels/cuda/nvrtc.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/own_folder.h"
#include "kernels/cuda/driver.h"

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
    int major, oldest, newest;
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
        nvrtc->newest = list[i] > nvrtc->newest ? list[i] : nvrtc->newest;
        nvrtc->oldest = i == 0 || list[i] < nvrtc->oldest ? list[i] : nvrtc->oldest;
    }
    nvrtc->major = major;
    snprintf(nvrtc->version, sizeof nvrtc->version, "nvrtc %d.%d", major, minor);
    if (!good) {
        ics_error_set(error, ICESTREAM_E_CONFIG,
                      "NVRTC %d.%d does not say which GPUs it compiles for", major, minor);
    }
    return good;
}

/* Whether the library makes kernels for an architecture (0: any), which the driver of this machine
 * can load: a driver takes no kernels of a later generation of CUDA. `driver` 0: there is none. */
static bool serves(const ics_nvrtc *nvrtc, int architecture, int driver, icestream_error *error)
{
    if (architecture != 0 && architecture < nvrtc->oldest) {
        ics_error_set(
            error, ICESTREAM_E_CONFIG,
            "%s compiles for compute capability %d.%d or later, found %d.%d; expected NVRTC "
            "of an earlier CUDA, whose library ICESTREAM_NVRTC can name",
            nvrtc->version, nvrtc->oldest / 10, nvrtc->oldest % 10, architecture / 10,
            architecture % 10);
        return false;
    }
    if (driver != 0 && nvrtc->major > driver / 1000) {
        ics_error_set(
            error, ICESTREAM_E_CONFIG,
            "the driver supports CUDA %d.%d and loads no kernels of %s; expected NVRTC of "
            "CUDA %d, whose library ICESTREAM_NVRTC can name",
            driver / 1000, driver % 1000 / 10, nvrtc->version, driver / 1000);
        return false;
    }
    return true;
}

/* Takes a library if it serves, and closes it otherwise. */
static bool try_library(ics_nvrtc *nvrtc, void *library, int architecture, int driver,
                        icestream_error *error)
{
    *nvrtc = (ics_nvrtc){.library = library};
    if (find_functions(nvrtc, error) && read_abilities(nvrtc, error) &&
        serves(nvrtc, architecture, driver, error)) {
        return true;
    }
    dlclose(library);
    nvrtc->library = NULL;
    return false;
}

/* Where a library may be, the first one first. */
static const char *const candidates[] = {
    /* Packages of PyPI next to the Python package icestream, whose program and library lie in
     * icestream/bin and icestream/lib. */
    "@/../../nvidia/cu13/lib/libnvrtc.so.13",
    "@/../../nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
    "libnvrtc.so.13",
    "libnvrtc.so.12",
    "libnvrtc.so",
    ICS_NVRTC_FOLDER "/libnvrtc.so.13",
    ICS_NVRTC_FOLDER "/libnvrtc.so.12",
    ICS_NVRTC_FOLDER "/libnvrtc.so",
    "/usr/local/cuda/lib64/libnvrtc.so.13",
    "/usr/local/cuda/lib64/libnvrtc.so.12",
    "/usr/local/cuda/lib64/libnvrtc.so",
};

/* Opens a library; @ in its name is the folder of this code. Returns NULL if it is not there. */
static void *open_candidate(const char *name)
{
    char own[2048], path[4096];
    if (name[0] != '@') {
        return open_library(name);
    }
    return ics_own_folder(own, sizeof own) == 0 &&
                   (size_t)snprintf(path, sizeof path, "%s%s", own, name + 1) < sizeof path
               ? open_library(path)
               : NULL;
}

/* Takes the first library that serves. */
static bool find_library(ics_nvrtc *nvrtc, int architecture, icestream_error *error)
{
    const char *chosen = getenv("ICESTREAM_NVRTC");
    if (chosen != NULL && *chosen) {
        void *library = open_library(chosen);
        if (library == NULL) {
            ics_error_set(error, ICESTREAM_E_CONFIG, "ICESTREAM_NVRTC: %s", dlerror());
            return false;
        }
        return try_library(nvrtc, library, architecture, 0, error);
    }
    const int driver = ics_driver_version();
    ics_error_set(error, ICESTREAM_E_CONFIG, "no library libnvrtc.so.13 or libnvrtc.so.12");
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; ++i) {
        void *library = open_candidate(candidates[i]);
        if (library != NULL && try_library(nvrtc, library, architecture, driver, error)) {
            return true;
        }
    }
    return false;
}

int ics_nvrtc_create(int architecture, ics_nvrtc **out, icestream_error *error)
{
    *out = NULL;
    ics_nvrtc *nvrtc = calloc(1, sizeof *nvrtc);
    if (nvrtc == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory");
    }
    if (!find_library(nvrtc, architecture, error)) {
        ics_nvrtc_destroy(nvrtc);
        return ICESTREAM_E_CONFIG;
    }
    if (error != NULL) {
        *error = (icestream_error){.status = ICESTREAM_OK}; /* of libraries that were passed over */
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

void ics_nvrtc_print(const ics_nvrtc *nvrtc, FILE *out)
{
    void *function;
    Dl_info where = {.dli_fname = NULL};
    memcpy(&function, &nvrtc->number, sizeof function);
    ICS_FREES char *file = dladdr(function, &where) != 0 ? realpath(where.dli_fname, NULL) : NULL;
    fprintf(out, "%s, for compute capability %d.%d to %d.%d, %s\n",
            nvrtc->version + strlen("nvrtc "), nvrtc->oldest / 10, nvrtc->oldest % 10,
            nvrtc->newest / 10, nvrtc->newest % 10, file != NULL ? file : "from an unknown file");
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
