/* Workloads and the files that `generate` writes. Expected numbers are the check values of the
 * clsim reference's README; those of other steps were made there by the same formulas. */
#include "pipeline/config/config.h"
#include "pipeline/files/step_reader.h"
#include "pipeline/tools/measure/workload.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 1048576 };

static icestream_config make_config(ics_workload_kind kind, uint32_t steps)
{
    icestream_config config = {0};
    config.workload.kind = kind;
    config.workload.steps = steps;
    config.workload.photons_per_step = 200;
    return config;
}

static ics_workload *make_workload(const icestream_config *config)
{
    icestream_error error = {0};
    ics_workload *workload = NULL;
    ck_assert_msg(ics_workload_create(config, &workload, &error) == ICESTREAM_OK, "%s", error.text);
    return workload;
}

static icestream_step make_step(const ics_workload *workload, uint64_t number)
{
    icestream_step step;
    ics_workload_fill(workload, number, 1, &step);
    return step;
}

static double theta(const icestream_step *step)
{
    return atan2(hypot(step->dx, step->dy), step->dz);
}

static double phi(const icestream_step *step)
{
    double angle = atan2(step->dy, step->dx);
    return angle < 0 ? angle + 2 * M_PI : angle;
}

/* Single precision of z = -407 is 3e-5, of t = 23 is 2e-6; of a direction 6e-8, and phi of a
 * direction that is 0.1 away from the axis 1e-6. */
START_TEST(cascade_check_values)
{
    icestream_config config = make_config(ICS_WORKLOAD_CASCADE, N);
    ics_workload *workload = make_workload(&config);
    icestream_step step = make_step(workload, 0);
    ck_assert_double_eq_tol(step.z, -406.882782, 3e-5);
    ck_assert_double_eq_tol(step.t, 22.9585209, 2e-6);
    ck_assert_double_eq_tol(theta(&step), 3.04439712, 2e-7);
    ck_assert_double_eq_tol(phi(&step), 4.98882771, 2e-6);
    ck_assert_double_eq(step.x, 0);
    ck_assert_double_eq(step.y, 0);
    ck_assert_double_eq_tol(step.length, 0.001, 1e-10);
    ck_assert_double_eq(step.beta, 1);
    ck_assert_double_eq(step.weight, 1);
    ck_assert_uint_eq(step.photons, 200);
    ck_assert_uint_eq(step.kind, ICESTREAM_KIND_CASCADE);
    ck_assert_uint_eq(step.spectrum, 0);
    ck_assert_uint_eq(step.flags, 0);
    step = make_step(workload, 1);
    ck_assert_double_eq_tol(step.z, -404.300232, 3e-5);
    ck_assert_double_eq_tol(theta(&step), 3.04367256, 2e-7);
    ck_assert_double_eq_tol(phi(&step), 0.300972015, 2e-6);
    ck_assert_uint_eq(step.step_id, 1);
    ics_workload_destroy(workload);
}
END_TEST

START_TEST(uniform_check_values)
{
    icestream_config config = make_config(ICS_WORKLOAD_UNIFORM, N);
    ics_workload *workload = make_workload(&config);
    icestream_step step = make_step(workload, 0);
    ck_assert_double_eq_tol(step.x, 66.5615768, 8e-6);
    ck_assert_double_eq_tol(step.y, 245.781754, 2e-5);
    ck_assert_double_eq_tol(step.z, 471.002747, 4e-5);
    ck_assert_double_eq(step.t, 0);
    ck_assert_double_eq_tol(theta(&step), 1.68230891, 2e-7);
    ck_assert_double_eq_tol(phi(&step), 2.79139733, 2e-7);
    step = make_step(workload, N - 1);
    ck_assert_uint_eq(step.step_id, N - 1);
    ck_assert_uint_eq(step.source_id, N - 1);
    ics_workload_destroy(workload);
}
END_TEST

START_TEST(shuffled_check_values)
{
    icestream_config config = make_config(ICS_WORKLOAD_CASCADE, N);
    config.workload.counts = ICS_COUNTS_SHUFFLED;
    ics_workload *workload = make_workload(&config);
    ck_assert_uint_eq(make_step(workload, 0).photons, 246);
    ck_assert_uint_eq(make_step(workload, 1).photons, 113);
    ck_assert_uint_eq(make_step(workload, N - 1).photons, 224);
    icestream_step *steps = calloc(N, sizeof *steps);
    ck_assert_ptr_nonnull(steps);
    ics_workload_fill(workload, 0, N, steps);
    uint64_t sums[2] = {0, 0};
    uint32_t least[2] = {UINT32_MAX, UINT32_MAX};
    uint32_t most[2] = {0, 0};
    for (size_t i = 0; i < N; ++i) {
        size_t half = i / (N / 2);
        sums[half] += steps[i].photons;
        least[half] = steps[i].photons < least[half] ? steps[i].photons : least[half];
        most[half] = steps[i].photons > most[half] ? steps[i].photons : most[half];
    }
    ck_assert_uint_eq(sums[0], 104696641);
    ck_assert_uint_eq(sums[0] + sums[1], 209715200);
    ck_assert_uint_eq(ics_workload_photons(workload), 209715200);
    ck_assert_uint_eq(least[0], 20);
    ck_assert_uint_eq(most[0], 379);
    ck_assert_uint_eq(least[1], 21); /* 400 less those of the first half */
    ck_assert_uint_eq(most[1], 380);
    free(steps);
    ics_workload_destroy(workload);
}
END_TEST

START_TEST(shuffled_odd_and_large)
{
    /* Five steps: two pairs, and a last one that keeps its share; the total stays, even where
     * counts are as large as they get. */
    icestream_config config = make_config(ICS_WORKLOAD_UNIFORM, 5);
    config.workload.counts = ICS_COUNTS_SHUFFLED;
    config.workload.photons_per_step = 1000000000;
    ics_workload *workload = make_workload(&config);
    icestream_step steps[5];
    ics_workload_fill(workload, 0, 5, steps);
    uint64_t sum = 0;
    for (int i = 0; i < 5; ++i) {
        sum += steps[i].photons;
    }
    ck_assert_uint_eq(sum, UINT64_C(5000000000));
    ck_assert_uint_eq(steps[4].photons, 1000000000);
    ck_assert_uint_eq((uint64_t)steps[1].photons + steps[3].photons, 2000000000);
    ics_workload_destroy(workload);
}
END_TEST

START_TEST(blocks_do_not_matter)
{
    icestream_config config = make_config(ICS_WORKLOAD_CASCADE, 1000);
    config.workload.counts = ICS_COUNTS_SHUFFLED;
    ics_workload *workload = make_workload(&config);
    icestream_step whole[1000];
    icestream_step pieces[1000];
    ics_workload_fill(workload, 0, 1000, whole);
    for (size_t first = 0; first < 1000; first += 8) {
        ics_workload_fill(workload, first, 8, pieces + first);
    }
    ck_assert_mem_eq(whole, pieces, sizeof whole);
    ics_workload_destroy(workload);
}
END_TEST

START_TEST(point)
{
    icestream_config config = make_config(ICS_WORKLOAD_POINT, 3);
    config.workload.position[0] = 1.5;
    config.workload.position[1] = -2.5;
    config.workload.position[2] = 300;
    config.workload.time = 12.5;
    config.workload.event = UINT64_MAX;
    config.workload.spectrum = 3;
    config.workload.isotropic = true;
    ics_workload *workload = make_workload(&config);
    icestream_step step = make_step(workload, 2);
    icestream_step expected = {.x = 1.5F,
                               .y = -2.5F,
                               .z = 300,
                               .t = 12.5F,
                               .dz = 1,
                               .beta = 1,
                               .weight = 1,
                               .photons = 200,
                               .event_id = UINT64_MAX,
                               .step_id = 2,
                               .kind = ICESTREAM_KIND_POINT,
                               .spectrum = 3,
                               .flags = ICESTREAM_STEP_ISOTROPIC};
    ck_assert_mem_eq(&step, &expected, sizeof step);
    ics_workload_destroy(workload);

    config.workload.surface_radius = 0.1651;
    workload = make_workload(&config);
    step = make_step(workload, 2);
    expected.length = 0.1651F;
    expected.kind = ICESTREAM_KIND_FLASHER;
    ck_assert_mem_eq(&step, &expected, sizeof step);
    ics_workload_destroy(workload);

    /* Directed light has no sphere to start from, and its direction is normalised. */
    config.workload.isotropic = false;
    config.workload.direction[0] = 3;
    config.workload.direction[2] = -4;
    workload = make_workload(&config);
    step = make_step(workload, 2);
    ck_assert_float_eq(step.dx, 0.6F);
    ck_assert_float_eq(step.dy, 0);
    ck_assert_float_eq(step.dz, -0.8F);
    ck_assert_float_eq(step.length, 0);
    ck_assert_uint_eq(step.flags, 0);
    ics_workload_destroy(workload);
}
END_TEST

START_TEST(point_without_direction)
{
    icestream_config config = make_config(ICS_WORKLOAD_POINT, 1);
    icestream_error error = {0};
    ics_workload *workload = NULL;
    ck_assert_int_eq(ics_workload_create(&config, &workload, &error), ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(error.text, "workload.direction: found [0, 0, 0]"));
    ck_assert_ptr_null(workload);
}
END_TEST

/* ---- files --------------------------------------------------------------------------------- */

static char folder[] = "/tmp/icestream-generate-XXXXXX";

static const char *in_folder(const char *name, char path[256])
{
    snprintf(path, 256, "%s/%s", folder, name);
    return path;
}

static void make_folder(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void)
{
    static const char *const names[] = {"a.steps.npy", "b.steps.npy", "stream"};
    char path[256];
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        unlink(in_folder(names[i], path));
    }
    ck_assert_int_eq(rmdir(folder), 0); /* nothing else was left behind */
}

static void generate(const icestream_config *config, const char *path, bool force)
{
    icestream_error error = {0};
    ck_assert_msg(icestream_generate(config, path, force, &error) == ICESTREAM_OK, "%s",
                  error.text);
}

static size_t read_bytes(const char *path, unsigned char **bytes)
{
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    *bytes = malloc(size + 1);
    ck_assert_ptr_nonnull(*bytes);
    ck_assert_uint_eq(fread(*bytes, 1, size, file), size);
    fclose(file);
    return size;
}

static icestream_step *read_all(ics_step_reader *reader, size_t expected)
{
    icestream_error error = {0};
    icestream_step *steps = calloc(expected + 1, sizeof *steps);
    ck_assert_ptr_nonnull(steps);
    size_t count = 0;
    size_t got = 0;
    do {
        ck_assert_msg(ics_step_reader_read(reader, steps + count, expected + 1 - count, &got,
                                           &error) == ICESTREAM_OK,
                      "%s", error.text);
        count += got;
    } while (got > 0 && count <= expected);
    ck_assert_uint_eq(count, expected);
    return steps;
}

START_TEST(file_reads_back)
{
    /* More than one block. */
    enum { STEPS = 70001 };
    char path[256];
    icestream_error error = {0};
    icestream_config config = make_config(ICS_WORKLOAD_CASCADE, STEPS);
    config.workload.counts = ICS_COUNTS_SHUFFLED;
    generate(&config, in_folder("a.steps.npy", path), false);

    ics_step_reader *reader = NULL;
    ics_step_summary summary;
    ck_assert_msg(ics_step_reader_open(path, 1, &reader, &error) == ICESTREAM_OK, "%s", error.text);
    ck_assert_msg(ics_step_reader_check(reader, &summary, NULL, &error) == ICESTREAM_OK, "%s",
                  error.text);
    ck_assert_uint_eq(summary.rows, STEPS);
    ck_assert_uint_eq(summary.photons, UINT64_C(200) * STEPS);
    ck_assert(summary.ascending);
    icestream_step *steps = read_all(reader, STEPS);
    ics_step_reader_destroy(reader);
    ics_workload *workload = make_workload(&config);
    for (size_t i = 0; i < STEPS; i += 7) {
        icestream_step expected = make_step(workload, i);
        ck_assert_uint_eq(steps[i].photons, expected.photons);
        ck_assert_uint_eq(steps[i].step_id, i);
        ck_assert_float_eq(steps[i].z, expected.z);
        ck_assert_float_eq(steps[i].t, expected.t);
        ck_assert_float_eq_tol(steps[i].dx, expected.dx, 1e-7);
    }
    ics_workload_destroy(workload);
    free(steps);
}
END_TEST

START_TEST(equal_runs_equal_files)
{
    char a[256];
    char b[256];
    icestream_config config = make_config(ICS_WORKLOAD_UNIFORM, 1000);
    generate(&config, in_folder("a.steps.npy", a), false);
    generate(&config, in_folder("b.steps.npy", b), false);
    unsigned char *in_a;
    unsigned char *in_b;
    size_t size = read_bytes(a, &in_a);
    ck_assert_uint_eq(read_bytes(b, &in_b), size);
    ck_assert_mem_eq(in_a, in_b, size);
    /* The trailer says what the file is. */
    ck_assert_ptr_nonnull(memmem(in_a, size, "\"uniform\"", 9));
    ck_assert_ptr_nonnull(
        memmem(in_a, size, "icestream " ICESTREAM_VERSION, 10 + strlen(ICESTREAM_VERSION)));
    free(in_a);
    free(in_b);
}
END_TEST

START_TEST(force)
{
    char path[256];
    icestream_error error = {0};
    icestream_config config = make_config(ICS_WORKLOAD_UNIFORM, 10);
    generate(&config, in_folder("a.steps.npy", path), false);
    config.workload.steps = 20;
    ck_assert_int_eq(icestream_generate(&config, path, false, &error), ICESTREAM_E_OUTPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "a.steps.npy"));
    unsigned char *bytes;
    size_t before = read_bytes(path, &bytes);
    free(bytes);
    generate(&config, path, true);
    ck_assert_uint_eq(read_bytes(path, &bytes) - before >= 640, 1);
    free(bytes);
}
END_TEST

START_TEST(no_such_folder)
{
    char path[256];
    icestream_error error = {0};
    icestream_config config = make_config(ICS_WORKLOAD_UNIFORM, 10);
    ck_assert_int_eq(
        icestream_generate(&config, in_folder("none/a.steps.npy", path), false, &error),
        ICESTREAM_E_OUTPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "none/a.steps.npy"));
}
END_TEST

/* Generates to standard output, which is a file here, in a process of its own. */
static void generate_stream(const icestream_config *config, const char *path)
{
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (descriptor < 0 || dup2(descriptor, STDOUT_FILENO) < 0) {
            _exit(9);
        }
        icestream_error error = {0};
        _exit(-icestream_generate(config, "-", false, &error));
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}

START_TEST(stream_reads_back)
{
    /* Two messages, and one without steps. */
    static const uint32_t counts[] = {65537, 0};
    for (size_t i = 0; i < 2; ++i) {
        char path[256];
        icestream_error error = {0};
        icestream_config config = make_config(ICS_WORKLOAD_UNIFORM, counts[i]);
        generate_stream(&config, in_folder("stream", path));
        int descriptor = open(path, O_RDONLY);
        ck_assert_int_ge(descriptor, 0);
        ics_step_reader *reader = NULL;
        ck_assert_msg(ics_step_reader_open_stream(descriptor, "stream", 1, -1, &reader, &error) ==
                          ICESTREAM_OK,
                      "%s", error.text);
        uint32_t left = counts[i];
        bool found = false;
        do {
            uint32_t expected = left < 65536 ? left : 65536;
            ck_assert_msg(ics_step_reader_next(reader, &found, &error) == ICESTREAM_OK, "%s",
                          error.text);
            ck_assert(found);
            free(read_all(reader, expected));
            left -= expected;
        } while (left > 0);
        ck_assert_msg(ics_step_reader_next(reader, &found, &error) == ICESTREAM_OK, "%s",
                      error.text);
        ck_assert(!found);
        ics_step_reader_destroy(reader);
        close(descriptor);
    }
}
END_TEST

ICS_TEST_MAIN("generate")
{
    TCase *formulas = tcase_create("workloads");
    tcase_add_test(formulas, cascade_check_values);
    tcase_add_test(formulas, uniform_check_values);
    tcase_add_test(formulas, shuffled_check_values);
    tcase_add_test(formulas, shuffled_odd_and_large);
    tcase_add_test(formulas, blocks_do_not_matter);
    tcase_add_test(formulas, point);
    tcase_add_test(formulas, point_without_direction);
    suite_add_tcase(suite, formulas);
    TCase *files = tcase_create("files");
    tcase_add_checked_fixture(files, make_folder, remove_folder);
    tcase_add_test(files, file_reads_back);
    tcase_add_test(files, equal_runs_equal_files);
    tcase_add_test(files, force);
    tcase_add_test(files, no_such_folder);
    tcase_add_test(files, stream_reads_back);
    suite_add_tcase(suite, files);
}
