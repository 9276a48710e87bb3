/* Several devices in one process give the hits of one: all GPUs of the machine, with and without
 * the CPU, also if one GPU fails during the run. With one GPU, the CPU is the other device.
 *
 * How to join: a new combination of devices joins in hits_are_those_of_the_cpu. */
#include "pipeline/photons/engine/engine.h"
#include "pipeline/photons/models/models.h"
#include "tests/gpu/gpu_world.h"
#include "tests/support/run_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 1000, PHOTONS = 2000, LEAST = 100, BATCHES = 40 };

typedef struct world {
    icestream_config *config;
    ics_models *models;
    ics_tables *tables;
    ics_engine *engine;
} world;

/* Creates the engine of a configuration. `sets` are overrides "path=value", NULL after the last;
 * batch: photons of a batch. */
static world open_world(const char *const *sets, uint64_t batch, const ics_device_loss *loss)
{
    world made = {0};
    icestream_error error = {0};
    size_t count = 0;
    while (sets[count] != NULL) {
        ++count;
    }
    ck_assert_msg(icestream_config_load(NULL, sets, count, &made.config, &error) == ICESTREAM_OK,
                  "%s", error.text);
    ck_assert_int_eq(ics_models_create(made.config, &made.models, &error), ICESTREAM_OK);
    const ics_table_options table_options = {.seed = 1, .bounce_limit = 10000, .reach_cull = true};
    ck_assert_int_eq(ics_tables_create(made.models->medium, made.models->detector,
                                       made.models->light, &table_options, &made.tables, &error),
                     ICESTREAM_OK);
    ics_device_options options;
    ck_assert_msg(ics_device_options_from_config(made.config, &options, &error) == ICESTREAM_OK,
                  "%s", error.text);
    options.graph.host_loop = gpu_host_loop();
    if (loss != NULL) {
        options.simulated = *loss;
    }
    const ics_hit_models models = {.tables = &made.tables->device,
                                   .detector = made.models->detector,
                                   .light = made.models->light};
    const ics_engine_parts parts = {
        .device = &options, .tables = made.tables, .models = models, .batch_photons = batch};
    ck_assert_msg(ics_engine_create(&parts, &made.engine, &error) == ICESTREAM_OK, "%s",
                  error.text);
    return made;
}

static void close_world(world *made)
{
    ics_engine_destroy(made->engine);
    ics_tables_destroy(made->tables);
    ics_models_destroy(made->models);
    icestream_config_destroy(made->config);
}

typedef struct outcome {
    icestream_hit *hits;
    size_t count;
    icestream_account account;
    ics_device_notes notes;
    uint32_t members, alive, at_work;
} outcome;

/* Photons of a step. */
static uint32_t few(void)
{
    return (uint32_t)gpu_scaled(PHOTONS, LEAST);
}

static outcome carry(const char *const *sets, uint32_t photons, const ics_device_loss *loss)
{
    static icestream_step steps[STEPS];
    for (uint32_t i = 0; i < STEPS; ++i) {
        steps[i] = run_folder_bright(i, photons);
    }
    const uint64_t batch = (uint64_t)STEPS * photons / BATCHES;
    world here = open_world(sets, batch, loss);
    icestream_error error = {0};
    outcome made = {0};
    ics_engine_hits computed;
    const ics_step_cursor cursor = {.steps = steps, .count = STEPS};
    ck_assert_msg(ics_engine_run_steps(here.engine, cursor, NULL, &computed, &error) ==
                      ICESTREAM_OK,
                  "%s", error.text);
    made.hits = computed.hits;
    made.count = computed.count;
    made.account = computed.account;
    ck_assert_uint_eq(made.account.created, (uint64_t)STEPS * photons);
    ck_assert_uint_gt(made.count, 0);
    ics_device_notes_of(here.engine->device, &made.notes);
    ics_device_member_facts facts;
    char text[512];
    printf("%s\n", ics_device_text(here.engine->device, text, sizeof text));
    for (; ics_device_member_facts_of(here.engine->device, made.members, &facts); ++made.members) {
        printf("  %s %d: %llu batches in %.3g s, %s\n", facts.name, facts.ordinal,
               (unsigned long long)facts.batches, facts.seconds, facts.alive ? "alive" : "lost");
        made.alive += facts.alive;
        made.at_work += facts.batches > 0;
    }
    close_world(&here);
    return made;
}

static void expect_same(outcome *found, const outcome *expected)
{
    ck_assert_uint_eq(found->count, expected->count);
    ck_assert_int_eq(memcmp(found->hits, expected->hits, found->count * sizeof(icestream_hit)), 0);
    ck_assert_uint_eq(found->account.bounces, expected->account.bounces);
    ck_assert_uint_eq(found->account.absorbed, expected->account.absorbed);
    free(found->hits);
}

static outcome carry_on_cpu(uint32_t photons)
{
    return carry((const char *[]){"device.backend=cpu", NULL}, photons, NULL);
}

START_TEST(hits_are_those_of_the_cpu)
{
    static const char *const schedules[] = {"graph.schedule=event-wavefront",
                                            "graph.schedule=monolithic", "graph.schedule=auto"};
    outcome expected = carry_on_cpu(few());
    outcome found =
        carry((const char *[]){"device.backend=cuda", "device.index=all", "device.math=portable",
                               "graph.hits=32768", schedules[_i], NULL},
              few(), NULL);
    ck_assert_int_eq((int)found.members, ics_gpu_count(NULL));
    ck_assert_uint_eq(found.alive, found.members);
    expect_same(&found, &expected);
    found = carry((const char *[]){"device.backend=cuda+cpu", "device.index=all",
                                   "device.math=portable", "graph.hits=32768", schedules[_i], NULL},
                  few(), NULL);
    ck_assert_int_eq((int)found.members, ics_gpu_count(NULL) + 1);
    expect_same(&found, &expected);
    free(expected.hits);
}
END_TEST

START_TEST(fast_is_the_same_on_any_number)
{
    if (ics_gpu_count(NULL) < 2) {
        printf("skipped: one GPU only\n");
        return;
    }
    const char *sets[] = {
        "device.backend=cuda", "device.math=fast", "graph.schedule=event-wavefront",
        "graph.hits=32768",    "device.index=0",   NULL};
    outcome expected = carry(sets, few(), NULL);
    sets[4] = "device.index=all";
    outcome found = carry(sets, few(), NULL);
    ck_assert_uint_gt(found.at_work, 1);
    expect_same(&found, &expected);
    free(expected.hits);
}
END_TEST

/* GPU 0 gets one batch before the speeds of the devices are known, and is lost with a later one. So
 * the photons are many at any scale: all other devices together must not have them done first. */
START_TEST(one_is_lost)
{
    const ics_device_loss loss = {.ordinal = 0, .batches = 1 + (uint32_t)_i};
    outcome expected = carry_on_cpu(PHOTONS);
    outcome found = carry((const char *[]){"device.backend=cuda+cpu", "device.index=all",
                                           "device.math=portable", "graph.schedule=event-wavefront",
                                           "graph.hits=32768", NULL},
                          PHOTONS, &loss);
    ck_assert_msg(found.alive == found.members - 1,
                  "%u of %u devices are alive: GPU 0 got no more than %u batches", found.alive,
                  found.members, loss.batches);
    ck_assert_msg(strstr(found.notes.warnings, "GPU 0 is given up; its unfinished batches start "
                                               "again on the other devices") != NULL,
                  "%s", found.notes.warnings);
    expect_same(&found, &expected);
    free(expected.hits);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gpu group");
    TCase *tests = tcase_create("group");
    tcase_add_loop_test(tests, hits_are_those_of_the_cpu, 0, 3);
    tcase_add_test(tests, fast_is_the_same_on_any_number);
    tcase_add_loop_test(tests, one_is_lost, 0, 3);
    suite_add_tcase(suite, tests);
    return gpu_suite_run(suite);
}
