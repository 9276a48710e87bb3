/* Promises: a table of GPUs has the bytes of that of the CPU, however often its checkpoint is
 * written; if a GPU is lost, the command ends with an error, and the next call continues from the
 * checkpoint and makes the same bytes.
 *
 * Uses a fake GPU. How to join: another way to lose a GPU is a row of `losses`. */
#include "pipeline/commands/tabulate/tabulate.h"
#include "tests/devices/fake_gpu_table.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

static scratch folder;
static char path[SCRATCH_PATH];
static unsigned char *whole; /* the table of the CPU */
static size_t whole_size;

/* Makes the table with these settings in addition; `text` receives the report. */
static int make(const char *const sets[4], char text[2048], icestream_error *error)
{
    const char *all[16] = {"stages.tabulate=spherical",
                           "ice.model=uniform",
                           "workload.kind=point",
                           "workload.steps=15",
                           "workload.photons_per_step=1000",
                           "graph.batch=500",
                           "table.squares=true",
                           "table.step=4",
                           "table.outside=end",
                           "device.threads=2",
                           ("table.axes=[{name: r, from: 0, to: 100, bins: 10}, {name: cosine, "
                            "from: -1, to: 1, bins: 5}]")};
    size_t count = 11;
    char *report_text = NULL;
    size_t size = 0;
    icestream_config *config = NULL;
    for (size_t i = 0; i < 4 && sets[i] != NULL; ++i) {
        all[count++] = sets[i];
    }
    *error = (icestream_error){.status = ICESTREAM_OK};
    ck_assert_msg(icestream_config_load(NULL, all, count, &config, error) == ICESTREAM_OK, "%s",
                  error->text);
    FILE *report = open_memstream(&report_text, &size);
    ck_assert_ptr_nonnull(report);
    const int status = ics_tabulate_make(config, path, false, report, error);
    ck_assert_int_eq(fclose(report), 0);
    snprintf(text, 2048, "%s", report_text);
    free(report_text);
    icestream_config_destroy(config);
    return status;
}

/* The table is complete, and its checkpoint is gone. */
static void check_table(const char *name)
{
    size_t size = 0;
    unsigned char *bytes = scratch_read(path, &size);
    ck_assert_msg(size == whole_size && memcmp(bytes, whole, size) == 0, "%s: other bytes", name);
    free(bytes);
    ck_assert(!scratch_exists(&folder, "a.npy.checkpoint"));
    ck_assert(!scratch_exists(&folder, "a.npy.part"));
    ck_assert_int_eq(unlink(path), 0);
}

static void begin(void)
{
    static const char *const sets[4] = {"device.backend=cpu", "table.checkpoint=off"};
    char text[2048];
    icestream_error error;
    folder = scratch_create();
    scratch_path(&folder, "a.npy", path);
    reset_fake();
    fake_table.faulty = -1;
    ck_assert_msg(make(sets, text, &error) == ICESTREAM_OK, "%s", error.text);
    whole = scratch_read(path, &whole_size);
    ck_assert_int_eq(unlink(path), 0);
}

static void end(void)
{
    free(whole);
    scratch_remove(&folder);
}

static const struct {
    int gpus;
    const char *backend;
} groups[] = {
    {1, "device.backend=cuda"}, {3, "device.backend=cuda"}, {2, "device.backend=cuda+cpu"}};

START_TEST(gpus_fill_the_table_of_the_cpu)
{
    const char *const sets[4] = {groups[_i].backend, "device.math=portable", "device.index=all",
                                 "table.checkpoint=0.001"};
    char text[2048];
    icestream_error error;
    fake.count = groups[_i].gpus;
    ck_assert_msg(make(sets, text, &error) == ICESTREAM_OK, "%s", error.text);
    ck_assert_uint_gt(atomic_load(&fake_table.filled), 1);
    /* At least once in the middle, and at the end. */
    ck_assert_int_ge((int)atomic_load(&fake_table.collected), 2 * groups[_i].gpus);
    ck_assert_ptr_nonnull(strstr(text, "checkpoint "));
    ck_assert_ptr_null(strstr(text, "continues"));
    check_table(groups[_i].backend);
}
END_TEST

static const struct {
    int gpus;
    bool fails_to_collect;
    uint32_t good_calls;
    const char *backend, *fallback, *says;
} losses[] = {
    {1, false, 12, "device.backend=cuda", NULL, "cudaLaunchKernel: unspecified launch failure"},
    {1, true, 2, "device.backend=cuda", NULL, "cudaMemcpy: an illegal memory access"},
    {1, false, 12, "device.backend=cuda", "device.fallback=cpu",
     "GPU 0 was lost, and with it the part of the table"},
    {2, false, 5, "device.backend=cuda", NULL, "GPU 0 was lost, and with it the part of the table"},
    {2, true, 1, "device.backend=cuda+cpu", NULL, "cudaMemcpy: an illegal memory access"},
};

/* A GPU is lost after a checkpoint; the next call has other devices. */
START_TEST(the_next_call_continues_after_a_lost_gpu)
{
    const char *const lost[4] = {
        losses[_i].backend, "device.math=portable", "table.checkpoint=0.001",
        losses[_i].fallback != NULL ? losses[_i].fallback : "device.index=all"};
    const char *const next[2][4] = {{"device.backend=cpu"},
                                    {"device.backend=cuda", "graph.batch=700"}};
    char text[2048], expected[2 * SCRATCH_PATH];
    icestream_error error;
    fake.count = losses[_i].gpus;
    fake_table.faulty = 0;
    fake_table.good_calls = losses[_i].good_calls;
    fake_table.fails_to_collect = losses[_i].fails_to_collect;
    ck_assert_int_eq(make(lost, text, &error), ICESTREAM_E_FAILED);
    ck_assert_msg(strstr(error.text, losses[_i].says) != NULL, "%s", error.text);
    ck_assert_ptr_nonnull(strstr(error.text, " of 15000 photons: the same command continues"));
    ck_assert(scratch_exists(&folder, "a.npy.checkpoint"));
    ck_assert(!scratch_exists(&folder, "a.npy"));
    ck_assert_uint_eq(atomic_load(&fake_table.wrong), 0);
    fake_table.faulty = -1;
    ck_assert_msg(make(next[_i % 2], text, &error) == ICESTREAM_OK, "%s", error.text);
    snprintf(expected, sizeof expected, " of 15000 photons, which %s.checkpoint has", path);
    ck_assert_msg(strstr(text, expected) != NULL, "%s", text);
    check_table(losses[_i].says);
}
END_TEST

/* The way to lose a GPU on a real machine. */
START_TEST(a_simulated_loss_is_one)
{
    const char *const sets[4] = {"device.backend=cuda", "table.checkpoint=0.001"};
    const char *const next[4] = {"device.backend=cpu"};
    char text[2048];
    icestream_error error;
    setenv("ICESTREAM_GPU_FAIL", "0:12", 1);
    ck_assert_int_eq(make(sets, text, &error), ICESTREAM_E_FAILED);
    unsetenv("ICESTREAM_GPU_FAIL");
    ck_assert_ptr_nonnull(strstr(error.text, "GPU 0: treated as lost after 12 batches"));
    ck_assert_uint_eq(atomic_load(&fake_table.filled), 12);
    ck_assert_msg(make(next, text, &error) == ICESTREAM_OK, "%s", error.text);
    ck_assert_ptr_nonnull(strstr(text, "continues  after "));
    check_table("a simulated loss");
}
END_TEST

/* Without a checkpoint the next call begins again. */
START_TEST(a_gpu_that_is_lost_at_once_leaves_nothing)
{
    const char *const sets[4] = {"device.backend=cuda", "table.checkpoint=0.001"};
    char text[2048];
    icestream_error error;
    fake_table.faulty = 0;
    fake_table.good_calls = 0;
    fake_table.fails_to_collect = false;
    ck_assert_int_eq(make(sets, text, &error), ICESTREAM_E_FAILED);
    ck_assert_ptr_null(strstr(error.text, "continues"));
    ck_assert(!scratch_exists(&folder, "a.npy.checkpoint"));
    ck_assert(!scratch_exists(&folder, "a.npy.part"));
    fake_table.faulty = -1;
    ck_assert_int_eq(make(sets, text, &error), ICESTREAM_OK);
    ck_assert_ptr_null(strstr(text, "continues"));
    check_table("a GPU that is lost at once");
}
END_TEST

ICS_TEST_MAIN("tabulate gpus")
{
    TCase *all = tcase_create("all");
    tcase_add_checked_fixture(all, begin, end);
    tcase_add_loop_test(all, gpus_fill_the_table_of_the_cpu, 0, COUNT(groups));
    tcase_add_loop_test(all, the_next_call_continues_after_a_lost_gpu, 0, COUNT(losses));
    tcase_add_test(all, a_simulated_loss_is_one);
    tcase_add_test(all, a_gpu_that_is_lost_at_once_leaves_nothing);
    suite_add_tcase(suite, all);
}
