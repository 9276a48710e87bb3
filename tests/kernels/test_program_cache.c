/* Where compiled kernels come from: the compiler NVRTC, the user's cache (also shared with other
 * processes, or damaged) or an installation. No test needs a GPU. If NVRTC is missing, the tests
 * that need it are skipped with a message.
 *
 * How to join: add one test for each new origin of a program, and for each new kind of damage a
 * case in a_damaged_entry_is_compiled_again. */
#include "kernels/cache/cache.h"
#include "tests/support/programs.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the cache ------------------------------------------------------------------------------- */

START_TEST(the_second_time_it_is_cached)
{
    ics_program *first = program_get(&program_defaults);
    ics_program *second = program_get(&program_defaults);
    ck_assert_int_eq(first->origin, ICS_PROGRAM_COMPILED);
    ck_assert_int_eq(second->origin, ICS_PROGRAM_CACHED);
    program_assert_same(first, second);
    ck_assert_int_eq(program_count_files(program_cache(), ".kernels"), 1);
    ck_assert_int_eq(program_count_files(program_cache(), ".part"), 0);
    ics_program_destroy(first);
    ics_program_destroy(second);
}
END_TEST

START_TEST(without_the_cache_nothing_is_written)
{
    ics_program_options options = program_defaults;
    options.use_cache = false;
    ics_program_destroy(program_get(&options));
    ics_program *second = program_get(&options);
    ck_assert_int_eq(second->origin, ICS_PROGRAM_COMPILED);
    ck_assert_int_eq(program_count_files(program_cache(), ".kernels"), 0);
    ics_program_destroy(second);
}
END_TEST

static void change_byte(const char *path, long from_end)
{
    size_t size = 0;
    unsigned char *bytes = scratch_read(path, &size);
    bytes[from_end < 0 ? (size_t)(-from_end) : size - (size_t)from_end] ^= 1;
    scratch_write(path, bytes, size);
    free(bytes);
}

/* The damage may be in the code, the resources, the digest, the sizes, or at the end. */
START_TEST(a_damaged_entry_is_compiled_again)
{
    ics_program *first = program_get(&program_defaults);
    char path[2 * SCRATCH_PATH];
    program_entry_path(first, path);
    for (int damage = 0; damage < 8; ++damage) {
        size_t size = 0;
        unsigned char *bytes = scratch_read(path, &size);
        switch (damage) {
        case 0:
            change_byte(path, 1);
            break;
        case 1:
            change_byte(path, (long)size / 2);
            break;
        case 2:
            change_byte(path, -30); /* the digest */
            break;
        case 3:
            change_byte(path, -110); /* the key */
            break;
        case 4:
            change_byte(path, -190); /* the sizes */
            break;
        case 5:
            scratch_write(path, bytes, size - 1);
            break;
        case 6:
            scratch_write(path, bytes, 100);
            break;
        default:
            scratch_write(path, "", 0);
        }
        free(bytes);
        ics_program *again = program_get(&program_defaults);
        ck_assert_msg(again->origin == ICS_PROGRAM_COMPILED, "damage %d was not seen", damage);
        program_assert_same(first, again);
        ics_program_destroy(again);
        ics_program *healed = program_get(&program_defaults);
        ck_assert_int_eq(healed->origin, ICS_PROGRAM_CACHED);
        ics_program_destroy(healed);
    }
    ics_program_destroy(first);
}
END_TEST

/* An entry under the name of another is undamaged, but it is the wrong program. */
START_TEST(a_misnamed_entry_is_not_taken)
{
    ics_program_options fast = program_defaults;
    fast.fast_math = true;
    ics_program *exact = program_get(&program_defaults), *other = program_get(&fast);
    char from[2 * SCRATCH_PATH], to[2 * SCRATCH_PATH];
    program_entry_path(other, from);
    program_entry_path(exact, to);
    ck_assert_int_eq(rename(from, to), 0);
    ics_program *again = program_get(&program_defaults);
    ck_assert_int_eq(again->origin, ICS_PROGRAM_COMPILED);
    program_assert_same(exact, again);
    ics_program_destroy(exact);
    ics_program_destroy(other);
    ics_program_destroy(again);
}
END_TEST

START_TEST(a_cache_that_cannot_be_made_is_no_error)
{
    char path[SCRATCH_PATH];
    scratch_write(scratch_path(program_place(), "file", path), "x", 1);
    /* First the cache would be below a file. Then there is no folder for it: a relative path counts
     * as not given, and HOME is not set. */
    ck_assert_int_eq(setenv("XDG_CACHE_HOME", path, 1), 0);
    ics_program *program = program_get(&program_defaults);
    ck_assert_int_eq(program->origin, ICS_PROGRAM_COMPILED);
    ics_program_destroy(program);
    ck_assert_int_eq(setenv("XDG_CACHE_HOME", "relative", 1), 0);
    ck_assert_int_eq(unsetenv("HOME"), 0);
    program = program_get(&program_defaults);
    ck_assert_int_eq(program->origin, ICS_PROGRAM_COMPILED);
    ics_program_destroy(program);
}
END_TEST

/* A folder has the name of the entry, so that rename() fails as on a full disk. */
START_TEST(an_entry_that_cannot_be_written_is_no_error)
{
    ics_program *first = program_get(&program_defaults);
    char path[2 * SCRATCH_PATH];
    program_entry_path(first, path);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(mkdir(path, 0777), 0);
    ics_program *second = program_get(&program_defaults);
    ck_assert_int_eq(second->origin, ICS_PROGRAM_COMPILED);
    program_assert_same(first, second);
    ck_assert_int_eq(program_count_files(program_cache(), ".part"), 0);
    ics_program_destroy(first);
    ics_program_destroy(second);
}
END_TEST

/* Eight processes ask for the same two programs at the same time, each several times, while the
 * entries appear and are damaged. Every process must get complete programs, and one undamaged entry
 * of each program stays. */
START_TEST(processes_share_a_cache)
{
    enum { PROCESSES = 8, TURNS = 6 };
    ics_program_options options[2] = {program_defaults, program_defaults};
    options[1].fast_math = true;
    ics_program *expected[2];
    for (int i = 0; i < 2; ++i) {
        options[i].use_cache = false;
        expected[i] = program_get(&options[i]);
        options[i].use_cache = true;
    }
    pid_t children[PROCESSES];
    for (int child = 0; child < PROCESSES; ++child) {
        children[child] = fork();
        ck_assert_int_ge(children[child], 0);
        if (children[child] != 0) {
            continue;
        }
        int failures = 0;
        for (int turn = 0; turn < TURNS; ++turn) {
            const int which = (child + turn) % 2;
            icestream_error why;
            char path[2 * SCRATCH_PATH];
            ics_program *program = NULL;
            if (ics_program_create(&options[which], &program, &why) != 0 ||
                program->bytes != expected[which]->bytes ||
                memcmp(program->image, expected[which]->image, program->bytes) != 0) {
                ++failures;
            }
            program_entry_path(expected[which], path);
            if (child == 0 && turn % 2 == 0 && truncate(path, 1000) != 0) {
                ++failures;
            }
            ics_program_destroy(program);
        }
        _exit(failures);
    }
    for (int child = 0; child < PROCESSES; ++child) {
        int status = -1;
        ck_assert_int_eq(waitpid(children[child], &status, 0), children[child]);
        ck_assert_int_eq(status, 0);
    }
    ck_assert_int_eq(program_count_files(program_cache(), ".kernels"), 2);
    ck_assert_int_eq(program_count_files(program_cache(), ".part"), 0);
    for (int i = 0; i < 2; ++i) {
        ics_program_destroy(program_get(&options[i]));
        ics_program *last = program_get(&options[i]);
        ck_assert_int_eq(last->origin, ICS_PROGRAM_CACHED);
        program_assert_same(last, expected[i]);
        ics_program_destroy(last);
        ics_program_destroy(expected[i]);
    }
}
END_TEST

/* ---- installed programs, and no NVRTC -------------------------------------------------------- */

static void store(const ics_program_options *options, bool as_ptx)
{
    icestream_error why;
    char path[SCRATCH_PATH];
    ck_assert_msg(ics_program_store(options, as_ptx,
                                    scratch_path(program_place(), "installed", path), &why) == 0,
                  "%s", why.text);
}

static void hide_nvrtc(void)
{
    ck_assert_int_eq(setenv("ICESTREAM_NVRTC", "/nonexistent/libnvrtc.so", 1), 0);
}

START_TEST(an_installed_program_is_found)
{
    char path[SCRATCH_PATH];
    store(&program_defaults, false);
    ck_assert_int_eq(
        program_count_files(scratch_path(program_place(), "installed", path), ".kernels"), 1);
    ics_program *with = program_get(&program_defaults);
    ck_assert_int_eq(with->origin, ICS_PROGRAM_INSTALLED);
    hide_nvrtc();
    ics_program *without = program_get(&program_defaults);
    ck_assert_int_eq(without->origin, ICS_PROGRAM_INSTALLED);
    program_assert_same(with, without);
    ck_assert_ptr_nonnull(ics_program_kernel(without, "ics_large"));
    ics_program_destroy(with);
    ics_program_destroy(without);

    ics_program_options other = program_defaults;
    icestream_error why;
    other.architecture = 89;
    program_get_none(&other, &why);
}
END_TEST

START_TEST(installed_ptx_serves_every_later_gpu_without_nvrtc)
{
    ics_program_options options = program_defaults;
    options.architecture = 80;
    store(&options, true);
    const ics_program_options later = program_defaults;
    ics_program *compiled = program_get(&later);
    /* Compiled code is better than PTX, so NVRTC is used if it is there. */
    ck_assert_int_eq(compiled->origin, ICS_PROGRAM_COMPILED);
    ics_program_destroy(compiled);

    char path[SCRATCH_PATH];
    ck_assert_int_eq(setenv("XDG_CACHE_HOME", scratch_path(program_place(), "other", path), 1), 0);
    hide_nvrtc();
    ics_program *program = program_get(&later);
    ck_assert_int_eq(program->origin, ICS_PROGRAM_INSTALLED);
    ck_assert(program->is_ptx);
    program_assert_mentions(program->image, ".target sm_80");
    ics_program_destroy(program);
    icestream_error why;
    options.architecture = 75;
    program_get_none(&options, &why);
}
END_TEST

START_TEST(a_users_cache_serves_without_nvrtc)
{
    ics_program *first = program_get(&program_defaults);
    hide_nvrtc();
    ics_program *second = program_get(&program_defaults);
    ck_assert_int_eq(second->origin, ICS_PROGRAM_CACHED);
    program_assert_same(first, second);
    ics_program_destroy(first);
    ics_program_destroy(second);
}
END_TEST

START_TEST(a_store_that_cannot_be_written_is_an_error)
{
    icestream_error why;
    ck_assert_int_eq(ics_program_store(&program_defaults, false, "/nonexistent/folder", &why),
                     ICESTREAM_E_CONFIG);
    program_assert_mentions(why.text, "/nonexistent/folder");
    program_assert_mentions(why.text, "No such file");
}
END_TEST

/* This test needs no NVRTC. */
START_TEST(without_nvrtc_and_cache_the_message_says_what_to_do)
{
    icestream_error why;
    hide_nvrtc();
    program_get_none(&program_defaults, &why);
    program_assert_mentions(why.text, "sm_90");
    program_assert_mentions(why.text, "/nonexistent/libnvrtc.so");
    program_assert_mentions(why.text, "expected NVRTC of CUDA 12 or 13");
    program_assert_mentions(why.text, "no cache has them");
    ck_assert_int_eq(ics_program_store(&program_defaults, false, program_place()->folder, &why),
                     ICESTREAM_E_CONFIG);
    program_assert_mentions(why.text, "/nonexistent/libnvrtc.so");
    /* The library exists, but it is another one. */
    ck_assert_int_eq(setenv("ICESTREAM_NVRTC", "libm.so.6", 1), 0);
    program_get_none(&program_defaults, &why);
    program_assert_mentions(why.text, "nvrtcVersion is missing");
}
END_TEST

ICS_TEST_MAIN("program_cache")
{
    TCase *always = tcase_create("always");
    tcase_add_checked_fixture(always, program_set_up, program_tear_down);
    tcase_add_test(always, without_nvrtc_and_cache_the_message_says_what_to_do);
    suite_add_tcase(suite, always);

    if (program_has_nvrtc()) {
        TCase *compiler = tcase_create("with NVRTC");
        tcase_add_checked_fixture(compiler, program_set_up, program_tear_down);
        tcase_add_test(compiler, the_second_time_it_is_cached);
        tcase_add_test(compiler, without_the_cache_nothing_is_written);
        tcase_add_test(compiler, a_damaged_entry_is_compiled_again);
        tcase_add_test(compiler, a_misnamed_entry_is_not_taken);
        tcase_add_test(compiler, a_cache_that_cannot_be_made_is_no_error);
        tcase_add_test(compiler, an_entry_that_cannot_be_written_is_no_error);
        tcase_add_test(compiler, processes_share_a_cache);
        tcase_add_test(compiler, an_installed_program_is_found);
        tcase_add_test(compiler, installed_ptx_serves_every_later_gpu_without_nvrtc);
        tcase_add_test(compiler, a_users_cache_serves_without_nvrtc);
        tcase_add_test(compiler, a_store_that_cannot_be_written_is_an_error);
        suite_add_tcase(suite, compiler);
    }
}
