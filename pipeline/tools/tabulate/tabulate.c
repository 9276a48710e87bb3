#include "pipeline/tools/tabulate/tabulate.h"

#include "base/clock.h"
#include "base/error.h"
#include "pipeline/session/world.h"
#include "pipeline/table/table_file.h"
#include "pipeline/telemetry/task_progress.h"
#include "pipeline/tools/measure/step_list.h"
#include "pipeline/tools/tabulate/table_setting.h"
#include "pipeline/units/origin.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The bit of ics_table_facts.efficiency for the acceptance of a module. */
enum { RECEIVER = 1 };

/* Everything that one table is made of. */
typedef struct making {
    const icestream_config *config;
    ics_world world;
    ics_origin origin;
    ics_step_list steps;
    ics_table *table;
    ics_device_table work;
    ics_device_options options;
    ics_task_progress progress;
    bool generates; /* steps are made, and not read */
} making;

/* ---- steps ----------------------------------------------------------------------------------- */

static int load_steps(making *m, icestream_error *error)
{
    const icestream_config *config = m->config;
    const uint32_t spectra = (uint32_t)m->world.models->light->count;
    if (m->generates) {
        ICS_TRY(ics_step_list_generate(config, m->world.models, &m->steps, error));
    } else {
        ICS_TRY(ics_step_list_from_files(config, m->world.models, &m->steps, error));
    }
    if (m->steps.count == 0) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "tabulate: found no steps, expected step files of source.files, "
                             "particles or a workload");
    }
    for (size_t i = 0; i < m->steps.count; ++i) {
        if (m->steps.steps[i].spectrum >= spectra) {
            return ics_error_set(error, ICESTREAM_E_CONFIG,
                                 "tabulate: step %zu has spectrum %u, but the configuration's "
                                 "light has only %u spectra",
                                 i, m->steps.steps[i].spectrum, spectra);
        }
    }
    return ICESTREAM_OK;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* Digests what the sums depend on in addition to what hits depend on, so that only tables that were
 * made in the same way add up. */
static int digest_setting(const making *m, char text[ICS_DIGEST_TEXT], icestream_error *error)
{
    ics_digest *digest = NULL;
    ICS_TRY(ics_digest_create(&digest, error));
    ics_digest_add(digest, m->origin.configuration, strlen(m->origin.configuration));
    ics_table_setting_digest(m->config, m->world.models->detector, digest);
    ics_digest_text(digest, text);
    ics_digest_destroy(digest);
    return ICESTREAM_OK;
}

static int create_table(making *m, icestream_error *error)
{
    ics_table_axis axes[ICE_TABULATE_AXES];
    const size_t count = ics_table_setting_axes(m->config, axes);
    const double radius = m->world.models->detector->radius;
    ics_table_facts facts = {.geometry = ics_table_setting_geometry(m->config),
                             .step_length = m->config->table.step,
                             .area = M_PI * radius * radius,
                             .efficiency = m->config->table.acceptance ? RECEIVER : 0,
                             .seed = m->config->run.seed};
    ics_table_setting_indices(&m->world.tables->device, &facts.n_phase, &facts.n_group);
    ICS_TRY(digest_setting(m, facts.configuration, error));
    memcpy(facts.ice, m->origin.ice, sizeof facts.ice);
    memcpy(facts.detector, m->origin.detector, sizeof facts.detector);
    ICS_TRY(ics_table_create(axes, count, &facts, m->config->table.squares, &m->table, error));
    ICS_TRY(ics_table_setting_stage(m->config, &m->world.tables->device, m->world.models->detector,
                                    &m->work, error));
    /* Sums are added as numbers without a sign, and stay below 2^63. */
    m->work.stage.sums = (uint64_t *)m->table->sums;
    m->work.stage.squares = (uint64_t *)m->table->squares;
    return ICESTREAM_OK;
}

/* Adds what the photons are made from, and how many there are. */
static int add_origin(making *m, icestream_error *error)
{
    char part[ICS_DIGEST_TEXT];
    ics_digest *digest = NULL;
    ICS_TRY(ics_digest_create(&digest, error));
    /* The same steps with another seed are other photons. */
    ics_digest_add(digest, &m->config->run.seed, sizeof m->config->run.seed);
    ics_digest_add(digest, m->steps.steps, m->steps.count * sizeof *m->steps.steps);
    ics_digest_text(digest, part);
    ics_digest_destroy(digest);
    ICS_TRY(ics_table_add_part(m->table, part, error));
    for (size_t i = 0; i < m->steps.count; ++i) {
        const icestream_step *step = &m->steps.steps[i];
        const double weight =
            (double)step->weight * ics_batch_thinning(m->world.models->light, step);
        const double sum = weight * step->photons; /* below 2^15 * 2^32 */
        const ics_table_weight add = {.whole = (uint64_t)sum,
                                      .fraction = (uint32_t)((sum - floor(sum)) * 0x1p32)};
        ICS_TRY(ics_table_add_photons(m->table, step->photons, add, error));
    }
    return ICESTREAM_OK;
}

/* ---- photons --------------------------------------------------------------------------------- */

static void show(void *user, const icestream_account *account)
{
    making *m = user;
    const ics_progress_state state = {.photons = account->created,
                                      .photons_total = (double)m->steps.photons,
                                      .without_hits = true};
    ics_task_progress_show(&m->progress, &state);
}

/* One run of all photons. */
typedef struct filling {
    uint64_t samples;
    icestream_account account;
    double seconds; /* from the first batch to the last addition of a sum */
} filling;

static int create_device(making *m, ics_device **out, icestream_error *error)
{
    m->options.table = &m->work;
    return ics_device_create(&m->options, m->world.tables, ics_world_hit_models(&m->world),
                             (ics_post){0}, out, error);
}

static int fill_once(making *m, ics_device *device, filling *out, icestream_error *error)
{
    ics_device_hits none = {0};
    const ics_device_watch watch = {.done = show, .user = m};
    const uint64_t before = atomic_load(&m->work.samples);
    const double start = ics_clock_seconds();
    int status = ics_device_run_steps_watched(
        device, (ics_step_cursor){.steps = m->steps.steps, .count = m->steps.count},
        m->config->graph.batch, &watch, &none, error);
    if (status == ICESTREAM_OK) {
        status = ics_device_finish_table(device, error);
    }
    *out = (filling){.samples = atomic_load(&m->work.samples) - before,
                     .account = none.account,
                     .seconds = ics_clock_seconds() - start};
    free(none.hits);
    return status;
}

static int fill_table(making *m, const char *path, FILE *report, icestream_error *error)
{
    ics_device *device = NULL;
    filling filled = {0};
    ICS_TRY(create_device(m, &device, error));
    ics_task_progress_next(&m->progress, path);
    const int status = fill_once(m, device, &filled, error);
    ics_task_progress_end(&m->progress);
    if (status == ICESTREAM_OK && report != NULL) {
        char text[256];
        fprintf(report, "device     %s\n", ics_device_text(device, text, sizeof text));
        fprintf(report,
                "samples    %" PRIu64 " of %" PRIu64 " photons in %.3g s: %.3g per second\n",
                filled.samples, filled.account.created, filled.seconds,
                (double)filled.samples / fmax(filled.seconds, 1e-9));
    }
    ics_device_destroy(device);
    return status;
}

/* ---- together -------------------------------------------------------------------------------- */

static int prepare(making *m, icestream_error *error)
{
    ICS_TRY(ics_world_create(m->config, &m->world, error));
    /* The bound of stages/reach.h asks whether a photon can reach a module, and a table has none.
     * The boundaries of the world hold. */
    m->world.tables->device.reach_cull = 0;
    /* Tables of different seeds add up, so the digest of the configuration leaves the seed out. */
    icestream_config any_seed = *m->config;
    any_seed.run.seed = 0;
    ICS_TRY(ics_origin_create(&any_seed, m->world.models, &m->origin, error));
    ICS_TRY(ics_device_options_from_config(m->config, &m->options, error));
    ICS_TRY(load_steps(m, error));
    ICS_TRY(create_table(m, error));
    return add_origin(m, error);
}

static void release(making *m)
{
    ics_table_destroy(m->table);
    ics_step_list_free(&m->steps);
    ics_world_destroy(&m->world);
    free(m);
}

int ics_tabulate_make(const icestream_config *config, const char *path, bool force, FILE *report,
                      icestream_error *error)
{
    if (ics_config_tabulate(config) == ICS_TABULATE_NONE) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "stages.tabulate: found none, expected spherical or cylindrical, or "
                             "{source: path}");
    }
    making *m = calloc(1, sizeof *m);
    if (m == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a table");
    }
    m->config = config;
    m->generates = ics_config_generates(config);
    m->progress = ics_task_progress_begin(report);
    int status = prepare(m, error);
    if (status == ICESTREAM_OK) {
        status = fill_table(m, path, report, error);
    }
    if (status == ICESTREAM_OK) {
        status = ics_table_write(m->table, path, force, error);
    }
    release(m);
    return status;
}

/* ---- speed ----------------------------------------------------------------------------------- */

/* Fills the same table again and again. The best run counts; on a GPU the first one does not, in
 * which its clocks rise. */
static int measure(making *m, ics_device *device, uint32_t repeats, ics_tabulate_speed *out,
                   icestream_error *error)
{
    ics_device_facts facts;
    ics_device_facts_of(device, &facts);
    const uint32_t first = facts.is_gpu && repeats > 0 ? 1 : 0;
    const uint32_t runs = first + (repeats > 0 ? repeats : 1);
    for (uint32_t i = 0; i < runs; ++i) {
        filling filled;
        char doing[64];
        snprintf(doing, sizeof doing, "table, %" PRIu32 " of %" PRIu32, i + 1, runs);
        ics_task_progress_next(&m->progress, doing);
        ICS_TRY(fill_once(m, device, &filled, error));
        if (i == first || (i > first && filled.seconds < out->seconds)) {
            out->seconds = filled.seconds;
            out->samples = filled.samples;
            out->bounces = filled.account.bounces;
        }
    }
    out->on_gpu = facts.is_gpu;
    memcpy(out->name, facts.name, sizeof out->name);
    ics_device_text(device, out->device, sizeof out->device);
    return ICESTREAM_OK;
}

int ics_tabulate_measure(const icestream_config *config, bool files, uint32_t repeats,
                         FILE *progress, ics_tabulate_speed *out, icestream_error *error)
{
    ics_device *device = NULL;
    making *m = calloc(1, sizeof *m);
    if (m == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a table");
    }
    *out = (ics_tabulate_speed){.seconds = 0};
    m->config = config;
    m->generates = !files || ics_config_generates(config);
    m->progress = ics_task_progress_begin(progress);
    int status = prepare(m, error);
    if (status == ICESTREAM_OK) {
        status = create_device(m, &device, error);
    }
    if (status == ICESTREAM_OK) {
        memcpy(out->origin, m->steps.origin, sizeof out->origin);
        out->steps = m->steps.count;
        out->photons = m->steps.photons;
        out->cells = m->table->cells;
        status = measure(m, device, repeats, out, error);
    }
    ics_task_progress_end(&m->progress);
    ics_device_destroy(device);
    release(m);
    return status;
}
