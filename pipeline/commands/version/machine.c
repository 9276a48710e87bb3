#include "pipeline/commands/version/machine.h"

#include "base/icestream_error.h"
#include "kernels/cache/cache.h"
#include "kernels/cuda/driver.h"
#include "kernels/cuda/nvrtc.h"
#include "kernels/cuda/program_cache.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

static void print_gpus(const ics_driver *driver, FILE *out)
{
    static const char *const modes[] = {"", "", ", compute mode prohibited",
                                        ", compute mode exclusive process"};
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (visible != NULL) {
        fprintf(out, "CUDA_VISIBLE_DEVICES: \"%s\"\n", visible);
    }
    for (int i = 0; i < driver->count && i < ICS_DRIVER_GPUS; ++i) {
        const ics_driver_gpu *gpu = &driver->gpus[i];
        fprintf(out, "GPU %d: %s, compute capability %d.%d, %.1f GiB%s\n", i, gpu->name,
                gpu->architecture / 10, gpu->architecture % 10,
                (double)gpu->memory_bytes / (1 << 30),
                gpu->mode > 0 && gpu->mode < 4 ? modes[gpu->mode] : "");
    }
    if (driver->count > ICS_DRIVER_GPUS) {
        fprintf(out, "GPUs: %d, of which the first %d are above\n", driver->count, ICS_DRIVER_GPUS);
    }
    if (driver->fault[0] != '\0') {
        fprintf(out, "no GPU can be used: %s\n", driver->fault);
    }
}

/* NVRTC for the first GPU, or for any if there is none. */
static void print_nvrtc(const ics_driver *driver, FILE *out)
{
    ics_nvrtc *nvrtc = NULL;
    icestream_error missing = {.status = ICESTREAM_OK};
    fprintf(out, "NVRTC: ");
    if (ics_nvrtc_create(driver->count > 0 ? driver->gpus[0].architecture : 0, &nvrtc, &missing) ==
        ICESTREAM_OK) {
        ics_nvrtc_print(nvrtc, out);
    } else {
        fprintf(out, "none (%s)\n", missing.text);
    }
    ics_nvrtc_destroy(nvrtc);
}

static void print_folders(FILE *out)
{
    char path[4096], compiler[64];
    bool found = false;
    for (unsigned i = 0; ics_program_cache_installed_directory(i, path, sizeof path); ++i) {
        if (ics_program_cache_read_compiler(path, compiler, sizeof compiler) == 0) {
            fprintf(out, "installed kernels: by %s, %s\n", compiler, path);
            found = true;
        }
    }
    if (!found) {
        fprintf(out, "installed kernels: none\n");
    }
    if (ics_cache_directory(path, sizeof path) == 0) {
        fprintf(out, "cache: %s\n", path);
    } else {
        fprintf(
            out,
            "cache: none (neither XDG_CACHE_HOME nor HOME gives a folder that can be written)\n");
    }
}

void ics_machine_print(FILE *out)
{
    ics_driver driver;
    ics_driver_look(&driver);
    if (driver.version > 0) {
        fprintf(out, "driver: %s, supports CUDA %d.%d\n",
                driver.release[0] != '\0' ? driver.release : "of unknown release",
                driver.version / 1000, driver.version % 1000 / 10);
    } else {
        fprintf(out, "driver: none\n");
    }
    print_gpus(&driver, out);
    print_nvrtc(&driver, out);
    print_folders(out);
    cpu_set_t mine;
    fprintf(out, "cores: %ld", sysconf(_SC_NPROCESSORS_ONLN));
    if (sched_getaffinity(0, sizeof mine, &mine) == 0) {
        fprintf(out, ", this process may use %d", CPU_COUNT(&mine));
    }
    fprintf(out, "\n");
}
