#include "pipeline/photons/devices/options.h"

#include "base/error.h"
#include "base/memory.h"
#include "graphs/cpu.h"
#include "pipeline/photons/config/histograms.h"
#include "pipeline/photons/devices/workers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *stage, *name;
    ice_variant variant;
} known_variants[] = {
#define ICE_VARIANT(stage, name, yaml, text) {#stage, yaml, ICE_##stage##_##name},
#include "stages/registry.def"
#undef ICE_VARIANT
};

static int find_variant(const icestream_config *config, const char *stage, const char *name,
                        ice_variant *out, icestream_error *error)
{
    for (size_t i = 0; i < sizeof known_variants / sizeof *known_variants; ++i) {
        if (strcmp(known_variants[i].stage, stage) == 0 &&
            strcmp(known_variants[i].name, name) == 0) {
            *out = known_variants[i].variant;
            return ICESTREAM_OK;
        }
    }
    char key[64], place[1024];
    snprintf(key, sizeof key, "stages.%s", stage);
    return ics_error_add(
        error, ICESTREAM_E_CONFIG,
        "%s: error: %s: found %s, which is not a variant of this stage; `icestream "
        "stages` lists them",
        ics_config_place(config, key, place, sizeof place), key, name);
}

/* Finds the variants of all stages. Adds errors to `found`. */
static void find_variants(const icestream_config *config, ice_variants *out, icestream_error *found)
{
    const struct {
        const char *stage, *name, *custom;
        ice_variant custom_variant;
        ice_variant *variant;
    } stages[] = {
        {"create", config->stages.create, config->stages.custom[ICS_STAGE_CREATE],
         ICE_create_custom, &out->create},
        {"propagate", config->stages.propagate, config->stages.custom[ICS_STAGE_PROPAGATE],
         ICE_propagate_custom, &out->propagate},
        {"collide", config->stages.collide, config->stages.custom[ICS_STAGE_COLLIDE],
         ICE_collide_custom, &out->collide},
        {"scatter", config->stages.scatter, config->stages.custom[ICS_STAGE_SCATTER],
         ICE_scatter_custom, &out->scatter},
        {"compact", config->stages.compact, NULL, ICE_VARIANT_COUNT, &out->compact},
    };
    for (size_t i = 0; i < sizeof stages / sizeof *stages; ++i) {
        if (stages[i].custom != NULL) {
            *stages[i].variant = stages[i].custom_variant;
        } else {
            find_variant(config, stages[i].stage, stages[i].name, stages[i].variant, found);
        }
    }
}

/* Whether the host is to run loops, for tools that do not see into the body of a conditional node.
 */
static bool wants_host_loop(void)
{
    const char *text = getenv("ICESTREAM_GPU_HOST_LOOP");
    return text != NULL && strcmp(text, "fallback") != 0; /* graphs/cuda/loop_check.h */
}

/* Adds errors to `found`. */
static ics_gpu_options read_graph_options(const icestream_config *config, icestream_error *found)
{
    ics_gpu_options options = {.ordinal = (int)config->device.index[0],
                               .schedule = config->graph.schedule,
                               .math = config->device.math,
                               .pool = config->graph.pool,
                               .bounces_per_wave = config->graph.bounces_per_wave,
                               .block = config->graph.block,
                               .tune = config->graph.tune,
                               .refill = config->graph.refill,
                               .lanes = config->graph.lanes,
                               .join = config->graph.join,
                               .hits = config->graph.hits,
                               .batch_photons = config->graph.batch,
                               .sort = config->graph.compact.sort,
                               .when = config->graph.compact.when,
                               .every = config->graph.compact.every,
                               .memory_limit = config->device.memory_limit,
                               .light_profiles = ics_config_has_particles(config) &&
                                                 config->particles.cascades == ICS_CASCADES_PROFILE,
                               .watchdog = config->device.watchdog,
                               .check = config->device.check,
                               .host_loop = wants_host_loop(),
                               .use_cache = true};
    for (int i = 0; i < ICS_STAGES; ++i) {
        options.custom[i] = config->stages.custom[i];
    }
    find_variants(config, &options.variants, found);
    ics_config_photon_axes(config, &options.photons, &options.large);
    return options;
}

int ics_device_gpu_options_from_config(const icestream_config *config, ics_gpu_options *out,
                                       icestream_error *error)
{
    icestream_error found = {.status = ICESTREAM_OK};
    *out = read_graph_options(config, &found);
    return ics_error_copy(error, &found);
}

/* Whether this machine has an NVIDIA GPU, even if ics_gpu_count() cannot use it. A GPU that
 * CUDA_VISIBLE_DEVICES hides does not count. */
static bool gpu_is_there(void)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    bool hidden = visible != NULL && (visible[0] == '\0' || strcmp(visible, "-1") == 0);
    return !hidden && access("/proc/driver/nvidia/version", F_OK) == 0;
}

/* Finds the GPUs of device.index. A GPU that does not exist is an error here, unless
 * device.fallback is cpu: then the group leaves it out. */
static int find_gpus(const icestream_config *config, int count, ics_device_options *out,
                     icestream_error *error)
{
    const uint32_t asked = config->device.index_count;
    icestream_error found = {.status = ICESTREAM_OK};
    if (asked == 0) {
        out->gpu_count = (uint32_t)(count < ICS_CONFIG_GPUS ? count : ICS_CONFIG_GPUS);
    }
    for (uint32_t i = 0; i < out->gpu_count; ++i) {
        out->gpus[i] = (int)i;
    }
    for (uint32_t i = 0; i < asked; ++i) {
        const int ordinal = (int)config->device.index[i];
        out->gpus[out->gpu_count++] = ordinal;
        if (ordinal >= count && !out->fall_back) {
            char place[1024];
            ics_error_add(
                &found, ICESTREAM_E_DEVICE,
                "%s: error: device.index: found %d, expected 0 to %d: this machine has %d "
                "GPU%s",
                ics_config_place(config, "device.index", place, sizeof place), ordinal, count - 1,
                count, count == 1 ? "" : "s");
        }
    }
    return ics_error_copy(error, &found);
}

/* The number of GPUs of a machine; if it is 0, `why` has the reason. */
static int count_gpus(ics_device_machine machine, bool *assumed, icestream_error *why)
{
    if (machine == ICS_MACHINE_WITHOUT_GPU) {
        ics_error_set(why, ICESTREAM_E_DEVICE, "the check is for a machine without a GPU");
        return 0;
    }
    const int count = ics_gpu_count(why);
    *assumed = machine == ICS_MACHINE_WITH_GPU && count == 0;
    return *assumed ? ICS_CONFIG_GPUS : count;
}

/* Chooses the backend. If that is a choice of the program, out->reason explains it. */
static int find_backend(const icestream_config *config, ics_device_machine machine, bool *assumed,
                        ics_device_options *out, icestream_error *error)
{
    const ics_backend asked = config->device.backend;
    const char *name = asked == ICS_BACKEND_AUTO   ? "auto"
                       : asked == ICS_BACKEND_CUDA ? "cuda"
                                                   : "cuda+cpu";
    icestream_error why = {.status = ICESTREAM_OK};
    out->backend = ICS_BACKEND_CPU;
    if (asked == ICS_BACKEND_CPU) {
        return ICESTREAM_OK;
    }
    int count = count_gpus(machine, assumed, &why);
    if (count > 0) {
        out->backend = ICS_BACKEND_CUDA;
        out->cpu_too = asked == ICS_BACKEND_CUDA_CPU;
        int status = find_gpus(config, count, out, error);
        if (asked == ICS_BACKEND_AUTO && !*assumed) {
            int length =
                snprintf(out->reason, sizeof out->reason, "device.backend auto: %d GPU%s found",
                         count, count == 1 ? "" : "s");
            if (out->gpu_count < (uint32_t)count) {
                snprintf(out->reason + length, sizeof out->reason - (size_t)length,
                         ", device.index selects %u", out->gpu_count);
            }
        }
        return status;
    }
    if (asked != ICS_BACKEND_AUTO && !out->fall_back) {
        char place[1024];
        return ics_error_set(error, ICESTREAM_E_DEVICE,
                             "%s: error: device.backend: found %s, but %s; expected cpu or auto, "
                             "or device.fallback: cpu",
                             ics_config_place(config, "device.backend", place, sizeof place), name,
                             why.text);
    }
    out->warn = machine == ICS_MACHINE_HERE && (out->fall_back || gpu_is_there());
    /* The remedy, behind a semicolon, is of use where a GPU is expected. */
    const size_t length = out->warn ? strlen(why.text) : strcspn(why.text, ";");
    snprintf(out->reason, sizeof out->reason, "device.backend %s: no GPU, because %.*s", name,
             length < 900 ? (int)length : 900, why.text);
    return ICESTREAM_OK;
}

/* Reads ICESTREAM_GPU_FAIL. A wrong value is an error, so that it is not overlooked. */
static int read_simulation(ics_device_loss *out, icestream_error *error)
{
    const char *text = getenv("ICESTREAM_GPU_FAIL");
    if (text == NULL) {
        return ICESTREAM_OK;
    }
    int length = 0;
    if (sscanf(text, "%2d:%9u%n", &out->ordinal, &out->batches, &length) != 2 ||
        text[length] != '\0' || out->ordinal < 0 || out->batches == 0) {
        return ics_error_set(
            error, ICESTREAM_E_CONFIG,
            "ICESTREAM_GPU_FAIL: found '%s', expected ORDINAL:BATCHES, the GPU "
            "whose loss is simulated and the number of batches that it gets before",
            text);
    }
    return ICESTREAM_OK;
}

int ics_device_loss_check(const ics_device_loss *loss, int ordinal, uint32_t *received,
                          icestream_error *error)
{
    if (loss->batches == 0 || loss->ordinal != ordinal || ++*received <= loss->batches) {
        return ICESTREAM_OK;
    }
    return ics_error_set(error, ICESTREAM_E_FAILED,
                         "GPU %d: treated as lost after %u batches, as the environment variable "
                         "ICESTREAM_GPU_FAIL asks for",
                         loss->ordinal, loss->batches);
}

/* Appends a key and its place to the list of keys that the CPU does not use. */
static void append_unused(const icestream_config *config, const char *key, ics_device_options *out)
{
    char place[1024];
    const size_t length = strlen(out->unused);
    snprintf(out->unused + length, sizeof out->unused - length, "%s%s (%s)", length > 0 ? ", " : "",
             key, ics_config_place(config, key, place, sizeof place));
}

/* Lists the keys that only a GPU has. The pool belongs to them if there is another one: a pool that
 * was chosen for a GPU is too large for a thread of the CPU. */
static void list_unused(const icestream_config *config, ics_device_options *out)
{
    if (!ics_graph_schedule_on_cpu(config->graph.schedule)) {
        append_unused(config, "graph.schedule", out);
    }
    if (config->graph.bounces_per_wave > 1) {
        append_unused(config, "graph.bounces_per_wave", out);
    }
    const char *key;
    for (size_t k = 0; (key = ics_config_gpu_key(config, k)) != NULL; ++k) {
        append_unused(config, key, out);
    }
    if (out->unused[0] != '\0' && config->graph.pool != 0) {
        append_unused(config, "graph.pool", out);
    }
}

/* Adds an error for each key that only a GPU has. */
static void refuse_gpu_settings(const icestream_config *config, icestream_error *found)
{
    char place[1024];
    if (!ics_graph_schedule_on_cpu(config->graph.schedule)) {
        ics_error_add(found, ICESTREAM_E_CONFIG,
                      "%s: error: graph.schedule: found %s, which the CPU does not have; expected "
                      "wavefront, monolithic or auto",
                      ics_config_place(config, "graph.schedule", place, sizeof place),
                      ics_graph_schedule_name(config->graph.schedule));
    }
    if (config->graph.bounces_per_wave > 1) {
        ics_error_add(
            found, ICESTREAM_E_CONFIG,
            "%s: error: graph.bounces_per_wave: found %u, but a wave of the CPU takes one "
            "bounce; expected 1 or auto",
            ics_config_place(config, "graph.bounces_per_wave", place, sizeof place),
            config->graph.bounces_per_wave);
    }
    const char *key;
    for (size_t k = 0; (key = ics_config_gpu_key(config, k)) != NULL; ++k) {
        ics_error_add(found, ICESTREAM_E_CONFIG,
                      "%s: error: %s: this value is for a GPU, and device.backend is cpu; expected "
                      "the default",
                      ics_config_place(config, key, place, sizeof place), key);
    }
}

/* The address space (bytes) of the stack of a thread. */
static double stack_size(void)
{
    pthread_attr_t attributes;
    size_t size = 0;
    if (pthread_getattr_default_np(&attributes) == 0) {
        pthread_attr_getstacksize(&attributes, &size);
        pthread_attr_destroy(&attributes);
    }
    return (double)size;
}

/* Checks that the threads and photon slots of a CPU fit into the memory (base/memory.h).
 * ICESTREAM_E_CONFIG, with both sizes; 0 for a GPU, which has its own check. */
static int check_memory(const icestream_config *config, const ics_device_options *options,
                        icestream_error *error)
{
    const uint32_t threads = ics_workers_thread_count(options->threads);
    const uint32_t pool = options->graph.pool > 0 ? options->graph.pool : ICS_WAVE_SLOTS_DEFAULT;
    char what[128], place[1024];
    icestream_error why = {.status = ICESTREAM_OK};
    if (options->backend != ICS_BACKEND_CPU || options->graph.schedule == ICS_SCHEDULE_MONOLITHIC) {
        return ICESTREAM_OK;
    }
    snprintf(what, sizeof what, "%u threads with %u photon slots each need", threads, pool);
    if (ics_memory_check(what, (double)threads * pool * ICS_WAVE_SLOT_BYTES, threads * stack_size(),
                         &why) == ICESTREAM_OK) {
        return ICESTREAM_OK;
    }
    const char *key = options->graph.pool > 0 ? "graph.pool" : "device.threads";
    return ics_error_set(error, ICESTREAM_E_CONFIG,
                         "%s: error: %s: found too much: %s; expected "
                         "less in device.threads or graph.pool",
                         ics_config_place(config, key, place, sizeof place), key, why.text);
}

int ics_device_options_from_config(const icestream_config *config, ics_device_options *out,
                                   icestream_error *error)
{
    return ics_device_options_for_machine(config, ICS_MACHINE_HERE, out, NULL, error);
}

int ics_device_options_for_machine(const icestream_config *config, ics_device_machine machine,
                                   ics_device_options *out, bool *assumed, icestream_error *error)
{
    bool is_assumed = false;
    ics_device_options options = {.fall_back = config->device.fallback == ICS_FALLBACK_CPU,
                                  .threads = config->device.threads,
                                  .instruction_set = config->device.instruction_set};
    ICS_TRY(find_backend(config, machine, &is_assumed, &options, error));
    ICS_TRY(read_simulation(&options.simulated, error));
    icestream_error found = {.status = ICESTREAM_OK};
    if (config->device.backend == ICS_BACKEND_CPU) {
        refuse_gpu_settings(config, &found);
    } else if (options.backend == ICS_BACKEND_CPU) {
        list_unused(config, &options);
    }
    options.graph = read_graph_options(config, &found);
    if (found.status != ICESTREAM_OK) {
        return ics_error_copy(error, &found);
    }
    if (options.unused[0] != '\0' || (options.backend == ICS_BACKEND_CPU && options.fall_back)) {
        ics_device_options_for_cpu(&options); /* the configuration is for a GPU */
    }
    if (assumed != NULL) {
        *assumed = is_assumed;
    }
    ICS_TRY(check_memory(config, &options, error));
    *out = options;
    return ICESTREAM_OK;
}

void ics_device_options_for_cpu(ics_device_options *options)
{
    options->backend = ICS_BACKEND_CPU;
    options->gpu_count = 0;
    options->cpu_too = false;
    options->graph.pool = 0; /* a GPU's pool is too large for a CPU thread */
    if (!ics_graph_schedule_on_cpu(options->graph.schedule)) {
        options->graph.schedule = ICS_SCHEDULE_AUTO;
    }
}
