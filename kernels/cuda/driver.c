#include "kernels/cuda/driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The oldest driver that this build can use, as a version of CUDA: 13000 for 13.0. A build without
 * CUDA says what one with the oldest toolkit needs. */
#ifndef ICS_DRIVER_OLDEST
#define ICS_DRIVER_OLDEST 12040
#endif

/* Declarations as in cuda.h, which have not changed since CUDA 11. */
typedef int cu_result;
typedef int cu_device;
enum { CU_NO_DEVICE = 100, CU_COMPUTE_MODE = 20, CU_MAJOR = 75, CU_MINOR = 76 };

typedef struct driver_calls {
    cu_result (*version)(int *version);
    cu_result (*init)(unsigned flags);
    cu_result (*count)(int *count);
    cu_result (*get)(cu_device *device, int ordinal);
    cu_result (*name)(char *name, int size, cu_device device);
    cu_result (*attribute)(int *value, int attribute, cu_device device);
    cu_result (*memory)(size_t *bytes, cu_device device);
    cu_result (*error_text)(cu_result result, const char **text);
} driver_calls;

/* Finds the functions of the library. Returns NULL, or what is missing. */
static const char *load(driver_calls *calls)
{
    const struct {
        const char *name;
        void *function;
    } wanted[] = {
        {"cuDriverGetVersion", &calls->version}, {"cuInit", &calls->init},
        {"cuDeviceGetCount", &calls->count},     {"cuDeviceGet", &calls->get},
        {"cuDeviceGetName", &calls->name},       {"cuDeviceGetAttribute", &calls->attribute},
        {"cuDeviceTotalMem_v2", &calls->memory}, {"cuGetErrorString", &calls->error_text},
    };
    /* It stays loaded, because the CUDA runtime uses it as well. */
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == NULL) {
        return "libcuda.so.1";
    }
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; ++i) {
        void *address = dlsym(library, wanted[i].name);
        if (address == NULL) {
            return wanted[i].name;
        }
        memcpy(wanted[i].function, &address, sizeof address);
    }
    return NULL;
}

int ics_driver_version(void)
{
    driver_calls calls;
    int version = 0;
    return load(&calls) == NULL && calls.version(&version) == 0 ? version : 0;
}

/* Reads the release of the kernel's module: the first word with a digit in front and a dot. */
static void read_release(char *release, size_t size)
{
    char line[256];
    FILE *file = fopen("/proc/driver/nvidia/version", "r");
    if (file == NULL) {
        return;
    }
    char *rest = NULL;
    char *word = fgets(line, sizeof line, file) != NULL ? strtok_r(line, " \t\n", &rest) : NULL;
    fclose(file);
    for (; word != NULL; word = strtok_r(NULL, " \t\n", &rest)) {
        if (*word >= '0' && *word <= '9' && strchr(word, '.') != NULL) {
            snprintf(release, size, "%s", word);
            return;
        }
    }
}

static void explain_missing(const char *missing, ics_driver *out)
{
    if (strcmp(missing, "libcuda.so.1") != 0) {
        snprintf(
            out->fault, sizeof out->fault,
            "libcuda.so.1 of this machine is no NVIDIA driver for CUDA 11 or later: %s is missing",
            missing);
    } else if (out->release[0] != '\0') {
        snprintf(
            out->fault, sizeof out->fault,
            "the kernel has the NVIDIA driver %s, but its library libcuda.so.1 cannot be loaded; "
            "a container gets it with `--gpus all` (docker, podman) or `--nv` (apptainer)",
            out->release);
    } else {
        snprintf(out->fault, sizeof out->fault,
                 "this machine has no NVIDIA driver; install one that supports CUDA %d.%d, or use "
                 "device.backend: cpu",
                 ICS_DRIVER_OLDEST / 1000, ICS_DRIVER_OLDEST % 1000 / 10);
    }
}

/* Explains why the driver does not start, or starts and has no GPU. */
static void explain_none(const driver_calls *calls, cu_result result, ics_driver *out)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    const char *text = NULL;
    if (result != 0 && result != CU_NO_DEVICE) {
        (void)calls->error_text(result, &text);
        snprintf(out->fault, sizeof out->fault, "the NVIDIA driver does not start: %s (%d)",
                 text != NULL ? text : "an error without a text", result);
    } else if (visible != NULL) {
        snprintf(
            out->fault, sizeof out->fault,
            "CUDA_VISIBLE_DEVICES: found \"%s\", which lets this process see no GPU; expected the "
            "number of a GPU, or no such variable",
            visible);
    } else if (access("/dev/nvidiactl", R_OK | W_OK) != 0) {
        snprintf(out->fault, sizeof out->fault,
                 "the NVIDIA driver finds no GPU, and this process cannot use /dev/nvidiactl; a "
                 "container gets the devices with `--gpus all` (docker, podman) or `--nv` "
                 "(apptainer)");
    } else {
        snprintf(out->fault, sizeof out->fault, "the NVIDIA driver finds no GPU");
    }
}

static void describe(const driver_calls *calls, int ordinal, ics_driver_gpu *gpu)
{
    cu_device device = 0;
    int major = 0, minor = 0;
    size_t bytes = 0;
    if (calls->get(&device, ordinal) != 0) {
        return;
    }
    (void)calls->name(gpu->name, sizeof gpu->name, device);
    (void)calls->attribute(&major, CU_MAJOR, device);
    (void)calls->attribute(&minor, CU_MINOR, device);
    (void)calls->attribute(&gpu->mode, CU_COMPUTE_MODE, device);
    (void)calls->memory(&bytes, device);
    gpu->architecture = major * 10 + minor;
    gpu->memory_bytes = bytes;
}

/* Explains why the only GPU, or the first of several, cannot be used if no other one can. */
static void explain_unusable(ics_driver *out)
{
    for (int i = 0; i < out->count && i < ICS_DRIVER_GPUS; ++i) {
        if (out->gpus[i].architecture >= ICS_GPU_OLDEST &&
            out->gpus[i].mode != ICS_COMPUTE_PROHIBITED) {
            return;
        }
    }
    const ics_driver_gpu *gpu = &out->gpus[0];
    if (out->count > ICS_DRIVER_GPUS) {
        return;
    }
    if (gpu->architecture < ICS_GPU_OLDEST) {
        snprintf(out->fault, sizeof out->fault,
                 "GPU 0 (%s): found compute capability %d.%d, expected %d.%d or later", gpu->name,
                 gpu->architecture / 10, gpu->architecture % 10, ICS_GPU_OLDEST / 10,
                 ICS_GPU_OLDEST % 10);
    } else {
        snprintf(
            out->fault, sizeof out->fault,
            "GPU 0 (%s): found compute mode prohibited, expected default or exclusive process; its "
            "administrator sets it with `nvidia-smi -c 0`",
            gpu->name);
    }
}

void ics_driver_look(ics_driver *out)
{
    *out = (ics_driver){.version = 0};
    read_release(out->release, sizeof out->release);
    driver_calls calls;
    const char *missing = load(&calls);
    if (missing != NULL) {
        explain_missing(missing, out);
        return;
    }
    (void)calls.version(&out->version);
    if (out->version < ICS_DRIVER_OLDEST) {
        snprintf(out->fault, sizeof out->fault,
                 "the NVIDIA driver %s%ssupports CUDA %d.%d, expected %d.%d or later; update the "
                 "driver, or use device.backend: cpu",
                 out->release, out->release[0] != '\0' ? " " : "", out->version / 1000,
                 out->version % 1000 / 10, ICS_DRIVER_OLDEST / 1000, ICS_DRIVER_OLDEST % 1000 / 10);
        return;
    }
    cu_result result = calls.init(0);
    if (result == 0) {
        result = calls.count(&out->count);
    }
    if (result != 0 || out->count <= 0) {
        out->count = 0;
        explain_none(&calls, result, out);
        return;
    }
    for (int i = 0; i < out->count && i < ICS_DRIVER_GPUS; ++i) {
        describe(&calls, i, &out->gpus[i]);
    }
    explain_unusable(out);
}
