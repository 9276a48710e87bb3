#include "pipeline/commands/tabulate/table_making.h"

#include "base/clock.h"
#include "base/error.h"
#include "pipeline/commands/tabulate/table_setting.h"
#include "pipeline/commands/tabulate/table_sources.h"
#include "pipeline/photons/particles/list_warnings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The bit of ics_table_facts.efficiency for the acceptance of a module. */
enum { RECEIVER = 1 };

/* ---- steps ----------------------------------------------------------------------------------- */

static int load_steps(ics_table_making *m, icestream_error *error)
{
    const icestream_config *config = m->config;
    const uint32_t spectra = (uint32_t)m->world.models->light->count;
    if (m->generates) {
        if (config->table.source == ICS_TABULATE_AUTO && ics_config_has_particles(config) &&
            ics_particle_list_is_stream(config->particles.file)) {
            char text[1024];
            const char *where = ics_config_place(config, "particles.file", text, sizeof text);
            return ics_error_set(error, ICESTREAM_E_CONFIG,
                                 "%s: error: particles.file: found '%s', which can be read only "
                                 "once, and table.source is auto; expected a file of particles, or "
                                 "table.source: step or fixed",
                                 where, config->particles.file);
        }
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
static int digest_setting(const ics_table_making *m, char text[ICS_DIGEST_TEXT],
                          icestream_error *error)
{
    ics_digest *digest = NULL;
    ICS_TRY(ics_digest_create(&digest, error));
    ics_digest_add(digest, m->origin.configuration, strlen(m->origin.configuration));
    ics_table_setting_digest(m->config, m->world.models->detector, digest);
    ics_digest_text(digest, text);
    ics_digest_destroy(digest);
    return ICESTREAM_OK;
}

/* A photon ends where the weight of its samples would round to 0 (tabulate.md 3): the sums stay the
 * same. */
static void end_spent_photons(ics_table_making *m)
{
    static const double margin = 0.01; /* above the rounding of an absorption depth */
    double largest = 0;
    for (size_t i = 0; i < m->steps.count; ++i) {
        const icestream_step *step = &m->steps.steps[i];
        largest =
            fmax(largest, (double)step->weight * ics_batch_thinning(m->world.models->light, step));
    }
    const double spent = fmax(log(largest * 0x1p33), 0) + margin;
    if (spent < (double)m->work.stage.absorption_lengths) {
        m->work.stage.absorption_lengths = (float)spent;
    }
}

static int create_table(ics_table_making *m, icestream_error *error)
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
    end_spent_photons(m);
    ICS_TRY(ics_table_sources_find(m->config, m->world.models, &m->steps, &m->work.source,
                                   &m->emitters, error));
    /* Sums are added as numbers without a sign, and stay below 2^63. */
    m->work.stage.sums = (uint64_t *)m->table->sums;
    m->work.stage.squares = (uint64_t *)m->table->squares;
    return ICESTREAM_OK;
}

static int digest_part(ics_table_making *m, icestream_error *error)
{
    ics_digest *digest = NULL;
    ICS_TRY(ics_digest_create(&digest, error));
    /* The same steps with another seed are other photons. */
    ics_digest_add(digest, &m->config->run.seed, sizeof m->config->run.seed);
    ics_digest_add(digest, m->steps.steps, m->steps.count * sizeof *m->steps.steps);
    ics_digest_text(digest, m->part);
    ics_digest_destroy(digest);
    return ICESTREAM_OK;
}

int ics_table_making_count(const ics_table_making *making, uint64_t photons, ics_table *table,
                           icestream_error *error)
{
    for (size_t i = 0; i < making->steps.count && photons > 0; ++i) {
        const icestream_step *step = &making->steps.steps[i];
        const uint64_t count = step->photons < photons ? step->photons : photons;
        const double weight =
            (double)step->weight * ics_batch_thinning(making->world.models->light, step);
        const double sum = weight * (double)count; /* below 2^15 * 2^32 */
        const ics_table_weight add = {.whole = (uint64_t)sum,
                                      .fraction = (uint32_t)((sum - floor(sum)) * 0x1p32)};
        ICS_TRY(ics_table_add_photons(table, count, add, error));
        photons -= count;
    }
    return ICESTREAM_OK;
}

/* ---- photons --------------------------------------------------------------------------------- */

/* What a watch needs. */
typedef struct watched {
    ics_table_making *making;
    bool (*stops)(void *user);
    void *user;
} watched;

static void show(void *user, const icestream_account *account)
{
    const watched *run = user;
    ics_table_making *m = run->making;
    /* Rates and remaining time are those of this process. */
    const ics_progress_state state = {.photons = m->done - m->taken_over + account->created,
                                      .photons_total = (double)(m->steps.photons - m->taken_over),
                                      .without_hits = true};
    ics_task_progress_show(&m->progress, &state);
}

static bool stop(void *user)
{
    const watched *run = user;
    return run->stops != NULL && run->stops(run->user);
}

int ics_table_making_engine(ics_table_making *making, ics_engine **out, icestream_error *error)
{
    making->options.table = &making->work;
    const ics_engine_parts parts = {.device = &making->options,
                                    .tables = making->world.tables,
                                    .models = ics_world_hit_models(&making->world),
                                    .batch_photons = making->config->graph.batch,
                                    .ahead = 1};
    return ics_engine_create(&parts, out, error);
}

int ics_table_making_fill(ics_table_making *making, ics_engine *engine, ics_step_cursor cursor,
                          bool (*stops)(void *user), void *user, ics_table_filling *out,
                          icestream_error *error)
{
    ics_engine_hits none = {0};
    watched run = {.making = making, .stops = stops, .user = user};
    const ics_engine_watch watch = {.done = show, .stops = stop, .user = &run};
    const uint64_t before = atomic_load(&making->work.samples);
    const double start = ics_clock_seconds();
    int status = ics_engine_run_steps(engine, cursor, &watch, &none, error);
    if (status == ICESTREAM_OK) {
        status = ics_device_finish_table(engine->device, error);
    }
    *out = (ics_table_filling){.samples = atomic_load(&making->work.samples) - before,
                               .account = none.account,
                               .seconds = ics_clock_seconds() - start};
    free(none.hits);
    return status;
}

/* ---- creation -------------------------------------------------------------------------------- */

static int prepare(ics_table_making *m, icestream_error *error)
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
    return digest_part(m, error);
}

void ics_table_making_destroy(ics_table_making *making)
{
    if (making != NULL) {
        ics_table_destroy(making->table);
        free(making->emitters);
        ics_step_list_free(&making->steps);
        ics_world_destroy(&making->world);
        free(making);
    }
}

int ics_table_making_create(const icestream_config *config, bool generates, FILE *progress,
                            ics_table_making **out, icestream_error *error)
{
    ICS_DESTROYS(ics_table_making_destroy) ics_table_making *m = calloc(1, sizeof *m);
    *out = NULL;
    if (m == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a table");
    }
    m->config = config;
    m->generates = generates;
    m->progress = ics_task_progress_begin(progress);
    ICS_TRY(prepare(m, error));
    *out = ICS_HAND_OVER(m);
    return ICESTREAM_OK;
}
