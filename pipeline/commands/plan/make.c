/* icestream_plan: reports what a run would need, without running photons. */
#include "base/cleanup.h"
#include "base/error.h"
#include "graphs/gpu_table.h"
#include "pipeline/commands/measure/schedules.h"
#include "pipeline/commands/plan/plan.h"
#include "pipeline/commands/tabulate/table_setting.h"
#include "pipeline/photons/devices/device.h"
#include "pipeline/photons/session/world.h"

enum { ARCHITECTURE_DEFAULT = 90 };

static int plan_cpu(const icestream_config *config, const ics_world *world, ics_plan_on_cpu *out,
                    icestream_error *error)
{
    ics_device_options options;
    ICS_TRY(ics_device_options_from_config(config, &options, error));
    ics_device *device = NULL;
    ICS_TRY(ics_device_create(&options, world->tables, ics_world_hit_models(world), (ics_post){0},
                              &device, error));
    ics_device_facts facts;
    ics_device_facts_of(device, &facts);
    *out = (ics_plan_on_cpu){.wanted = true,
                             .schedule = facts.schedule,
                             .threads = facts.threads,
                             .pool = facts.pool,
                             .table_bytes = world->tables->bytes};
    snprintf(out->instruction_set, sizeof out->instruction_set, "%s", facts.instruction_set);
    ics_device_destroy(device);

    /* The size of a slot does not depend on the stages, so they are left out here. */
    ics_graph_options graph_options = {.schedule = options.graph.schedule,
                                       .pool = options.graph.pool,
                                       .instruction_set = options.instruction_set};
    ics_graph *graph = NULL;
    ICS_TRY(ics_graph_create(&graph_options, world->tables, &graph, error));
    out->slot_bytes = ics_graph_slot_bytes(graph);
    ics_graph_destroy(graph);
    return ICESTREAM_OK;
}

/* Finds the GPU to plan for. A given architecture wins over the GPU of this machine. */
static void find_device(const icestream_config *config, int architecture, ics_plan_on_gpu *out)
{
    if (architecture != 0) {
        out->architecture = architecture;
    } else if (ics_gpu_describe((int)config->device.index[0], &out->device, &out->absent) ==
               ICESTREAM_OK) {
        out->architecture = out->device.architecture;
    } else {
        out->device.name[0] = '\0';
        out->architecture = ARCHITECTURE_DEFAULT;
        out->assumed = true;
    }
}

static int plan_schedule(const icestream_config *config, const ics_world *world,
                         ics_schedule schedule, int architecture, ics_plan_on_gpu *out,
                         icestream_error *error)
{
    ics_gpu_options options;
    ICS_TRY(ics_device_gpu_options_from_config(config, &options, error));
    options.schedule = schedule;
    const ics_hit_models models = ics_world_hit_models(world);
    const ics_hit_sum_rule rule = ics_device_gpu_sums_rule(&models);
    options.sums = out->makes_sums ? &rule : NULL;
    const int status = ics_gpu_plan_create(&options, world->tables, architecture,
                                           &out->schedules[out->count], error);
    /* The configuration is right. What is missing, for example NVRTC, belongs to the machine. */
    if (status == ICESTREAM_E_CONFIG) {
        if (error != NULL) {
            error->status = ICESTREAM_E_DEVICE;
        }
        return ICESTREAM_E_DEVICE;
    }
    ICS_TRY(status);
    out->count++;
    return ICESTREAM_OK;
}

/* Plans the kernel that fills the table of the configuration, if it makes one. */
static int plan_table(const icestream_config *config, const ics_world *world, int architecture,
                      ics_plan_table *out, icestream_error *error)
{
    ics_gpu_options options;
    ics_device_table table = {.samples = 0};
    out->wanted = ics_config_tabulate(config) != ICS_TABULATE_NONE;
    if (!out->wanted) {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_device_gpu_options_from_config(config, &options, error));
    ICS_TRY(ics_table_setting_stage(config, &world->tables->device, world->models->detector, &table,
                                    error));
    options.light_profiles = true; /* as when the table is made */
    table.stage.squares =
        config->table.squares ? &out->cells : NULL; /* only whether there are any */
    out->cells = ics_gpu_table_cells(&table.stage);
    out->bytes = out->cells * sizeof(uint64_t) * (config->table.squares ? 2 : 1);
    const int status = ics_gpu_table_plan(&options, world->tables, &table.stage, architecture,
                                          &out->kernel, error);
    if (status == ICESTREAM_E_CONFIG && error != NULL) { /* as above */
        error->status = ICESTREAM_E_DEVICE;
    }
    return status == ICESTREAM_E_CONFIG ? ICESTREAM_E_DEVICE : status;
}

static int plan_gpu(const icestream_config *config, const ics_world *world, int architecture,
                    ics_plan_on_gpu *out, icestream_error *error)
{
    out->wanted = true;
    find_device(config, architecture, out);
    const ics_hit_models models = ics_world_hit_models(world);
    if (models.bins.width > 0) {
        ics_device_gpu_sums_text(&models, out->sums);
        out->makes_sums = ics_device_gpu_sums_wanted(&models);
    }
    ics_schedule_list list = ics_schedules_of_device(true);
    if (config->graph.schedule != ICS_SCHEDULE_AUTO) {
        list = (ics_schedule_list){.items = {config->graph.schedule}, .count = 1};
    }
    int status = ICESTREAM_OK;
    for (size_t i = 0; status == ICESTREAM_OK && i < list.count; ++i) {
        if (list.items[i] != ICS_SCHEDULE_AUTO) {
            status = plan_schedule(config, world, list.items[i],
                                   out->device.name[0] != '\0' ? 0 : out->architecture, out, error);
        }
    }
    if (status == ICESTREAM_OK) {
        status = plan_table(config, world, out->architecture, &out->table, error);
    }
    /* If the configuration does not ask for a GPU, a missing plan is a part of the report and no
     * error. */
    if (status == ICESTREAM_E_DEVICE && config->device.backend == ICS_BACKEND_AUTO &&
        architecture == 0) {
        snprintf(out->missing, sizeof out->missing, "%s", error != NULL ? error->text : "no plan");
        return ics_error_set(error, ICESTREAM_OK, "%s", "");
    }
    return status;
}

static int make(const icestream_config *config, int architecture, ics_plan *out,
                icestream_error *error)
{
    ics_world world;
    ICS_TRY(ics_world_create(config, &world, error));
    int status = ICESTREAM_OK;
    world.sums = config;
    ics_backend backend = config->device.backend;
    if (backend != ICS_BACKEND_CPU || architecture != 0) {
        status = plan_gpu(config, &world, architecture, &out->gpu, error);
    }
    bool gpu_here = out->gpu.wanted && out->gpu.device.name[0] != '\0';
    bool cpu_alone = backend == ICS_BACKEND_CPU || backend == ICS_BACKEND_AUTO;
    if (status == ICESTREAM_OK && cpu_alone && !gpu_here) {
        status = plan_cpu(config, &world, &out->cpu, error);
    }
    /* Settings that only a GPU has are no error here, because the plan is also for a machine with a
     * GPU. */
    if (status == ICESTREAM_E_CONFIG && backend == ICS_BACKEND_AUTO && out->gpu.count > 0) {
        status = ics_error_set(error, ICESTREAM_OK, "%s", "");
    }
    ics_world_destroy(&world);
    return status;
}

int icestream_plan(const icestream_config *config, const icestream_plan_options *options, FILE *out,
                   icestream_error *error)
{
    ICS_FREES ics_plan *plan = calloc(1, sizeof *plan);
    if (plan == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "plan: out of memory");
    }
    int status = make(config, options->architecture, plan, error);
    if (status == ICESTREAM_OK) {
        status = options->json ? ics_plan_print_json(plan, out, error)
                               : ics_plan_print_text(plan, out, error);
    }
    for (size_t i = 0; i < plan->gpu.count; ++i) {
        ics_gpu_plan_destroy(plan->gpu.schedules[i]);
    }
    return status;
}
