/* ics_prefill: compiles the GPU kernels of configurations in advance, for the build target
 * `kernels`. The build uses this program; it is not installed.
 *
 *   ics_prefill [--architectures 80,90] [--ptx 80] DIRECTORY [CONFIG.yaml ...]
 *
 * Fills DIRECTORY with the kernels of the default configuration and of the given ones, for every
 * schedule, with fast and with portable maths: as cubins for the architectures of --architectures,
 * and as PTX of those of --ptx, which the driver compiles for later GPUs. If the ice or the
 * detector of a configuration is missing, a message says so and the configuration is left out.
 */
#include "graphs/gpu.h"
#include "pipeline/photons/devices/device.h"
#include "pipeline/photons/session/world.h"

#include <stdlib.h>
#include <string.h>

enum { ARCHITECTURES_MAX = 32 };

typedef struct target {
    int architecture;
    bool as_ptx;
} target;

typedef struct plan {
    const char *directory;
    target targets[ARCHITECTURES_MAX];
    size_t target_count;
} plan;

/* Adds the architectures of a list such as "80,86". Returns false if the text is no such list. */
static bool add_targets(plan *out, const char *list, bool as_ptx)
{
    for (const char *at = list;; ++at) {
        char *end;
        const long number = strtol(at, &end, 10);
        if (end == at || number < 50 || number > 999 || out->target_count == ARCHITECTURES_MAX) {
            return false;
        }
        out->targets[out->target_count++] = (target){(int)number, as_ptx};
        at = end;
        if (*at == 0) {
            return true;
        }
        if (*at != ',') {
            return false;
        }
    }
}

static int store_schedules(const plan *what, const char *name, ics_gpu_options options,
                           const ics_tables *tables)
{
    /* The first schedule is AUTO, which stands for the candidates that it would measure. */
    for (int schedule = 0; schedule < ICS_SCHEDULE_COUNT; ++schedule) {
        for (size_t i = 0; i < what->target_count; ++i) {
            const target *wanted = &what->targets[i];
            icestream_error error = {0};
            options.schedule = (ics_schedule)schedule;
            if (ics_gpu_store(&options, tables, wanted->architecture, wanted->as_ptx,
                              what->directory, &error) != ICESTREAM_OK) {
                fprintf(stderr, "ics_prefill: %s: %s, sm_%d: %s\n", name,
                        ics_graph_schedule_name(options.schedule), wanted->architecture,
                        error.text);
                return -1;
            }
        }
    }
    return 0;
}

/* Stores the kernels of a configuration; NULL: of the defaults. Returns -1 if they cannot be
 * compiled, and 0 also if the configuration was left out. */
static int store_config(const plan *what, const char *path)
{
    static const ics_math maths[] = {ICS_MATH_FAST, ICS_MATH_PORTABLE};
    const char *name = path != NULL ? path : "the defaults";
    icestream_error error = {0};
    icestream_config *config = NULL;
    ics_world world = {0};
    ics_gpu_options options = {0};
    int result = 0;
    if (icestream_config_load(path, NULL, 0, &config, &error) != ICESTREAM_OK ||
        ics_world_create(config, &world, &error) != ICESTREAM_OK ||
        ics_device_gpu_options_from_config(config, &options, &error) != ICESTREAM_OK) {
        fprintf(stderr, "ics_prefill: %s is left out: %s\n", name, error.text);
    } else {
        for (size_t i = 0; i < sizeof maths / sizeof *maths && result == 0; ++i) {
            options.math = maths[i];
            result = store_schedules(what, name, options, world.tables);
        }
        if (result == 0) {
            fprintf(stderr, "ics_prefill: kernels of %s\n", name);
        }
    }
    ics_world_destroy(&world);
    icestream_config_destroy(config);
    return result;
}

int main(int count, char **arguments)
{
    plan what = {0};
    int next = 1;
    bool good = true;
    for (; next + 1 < count && strncmp(arguments[next], "--", 2) == 0 && good; next += 2) {
        if (strcmp(arguments[next], "--architectures") == 0) {
            good = add_targets(&what, arguments[next + 1], false);
        } else if (strcmp(arguments[next], "--ptx") == 0) {
            good = add_targets(&what, arguments[next + 1], true);
        } else {
            good = false;
        }
    }
    if (!good || next >= count || what.target_count == 0) {
        fprintf(stderr, "usage: ics_prefill [--architectures 80,90] [--ptx 80] DIRECTORY "
                        "[CONFIG.yaml ...]\n");
        return 2;
    }
    what.directory = arguments[next++];
    int result = store_config(&what, NULL);
    for (; next < count && result == 0; ++next) {
        result = store_config(&what, arguments[next]);
    }
    return result == 0 ? 0 : 1;
}
