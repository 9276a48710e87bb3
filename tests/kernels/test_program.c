/* The kernels of a run as NVRTC compiles them, with and without a header of the user. No test needs
 * a GPU. If NVRTC is missing, the tests that need it are skipped with a message.
 *
 * How to join: a new option of ics_program_options joins in
 * programs_of_different_options_are_different. */
#include "tests/support/programs.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what the compiler gives ----------------------------------------------------------------- */

START_TEST(resources_are_those_of_the_kernels)
{
    ics_program *program = program_get(&program_defaults);
    ck_assert_int_eq(program->origin, ICS_PROGRAM_COMPILED);
    ck_assert(!program->is_ptx);
    ck_assert_uint_eq(program->kernel_count, 3);
    ck_assert_uint_eq(strlen(program->key), 64);
    ck_assert(program->seconds > 0);
    ck_assert_mem_eq(program->image, "\177ELF", 4);

    const ics_kernel_resources *small = ics_program_kernel(program, "ics_small");
    ck_assert_ptr_nonnull(small);
    ck_assert_uint_gt(small->registers, 2);
    ck_assert_uint_lt(small->registers, 20);
    ck_assert_uint_eq(small->shared_bytes, 0);
    ck_assert_uint_eq(small->stack_bytes, 0);
    ck_assert_uint_eq(small->spill_stores + small->spill_loads, 0);

    const ics_kernel_resources *large = ics_program_kernel(program, "ics_large");
    ck_assert_ptr_nonnull(large);
    ck_assert_uint_gt(large->registers, small->registers);
    ck_assert_uint_eq(large->shared_bytes, 400);
    ck_assert_uint_eq(large->stack_bytes, 400);
    ck_assert_ptr_null(ics_program_kernel(program, "ics_larg"));
    ics_program_destroy(program);
}
END_TEST

/* The limit on registers is too small for the kernel. */
START_TEST(spills_are_reported)
{
    ics_program_options options = program_defaults;
    options.definitions =
        "extern \"C\" __global__ void __launch_bounds__(1024, 2) ics_spill(double *x)\n"
        "{\n"
        "    double y[32];\n"
        "    for (int i = 0; i < 32; ++i) y[i] = x[i + threadIdx.x];\n"
        "    __syncthreads();\n"
        "    for (int i = 0; i < 32; ++i) x[i + threadIdx.x] = y[31 - i] * y[(i * 7) % 32];\n"
        "}\n";
    ics_program *program = program_get(&options);
    const ics_kernel_resources *kernel = ics_program_kernel(program, "ics_spill");
    ck_assert_ptr_nonnull(kernel);
    ck_assert_uint_le(kernel->registers, 32);
    ck_assert_uint_gt(kernel->spill_stores, 0);
    ck_assert_uint_gt(kernel->spill_loads, 0);
    ics_program_destroy(program);
}
END_TEST

START_TEST(an_architecture_of_the_future_gets_ptx)
{
    ics_program_options options = program_defaults;
    options.architecture = 990;
    ics_program *program = program_get(&options);
    ck_assert(program->is_ptx);
    ck_assert_int_eq(((const char *)program->image)[program->bytes - 1], 0);
    program_assert_mentions(program->image, ".visible .entry ics_small");
    ck_assert_uint_eq(program->kernel_count, 0);
    ics_program *again = program_get(&options);
    ck_assert_int_eq(again->origin, ICS_PROGRAM_CACHED);
    program_assert_same(program, again);
    ics_program_destroy(program);
    ics_program_destroy(again);
}
END_TEST

/* Every option is a part of the key: no program may get the code of another. */
START_TEST(programs_of_different_options_are_different)
{
    ics_program_options options[5] = {program_defaults, program_defaults, program_defaults,
                                      program_defaults, program_defaults};
    options[1].fast_math = true;
    options[2].architecture = 80;
    options[3].entry = "stages/contact.h";
    options[4].definitions = "extern \"C\" __global__ void ics_small(float *x) { x[0] = 2.0f; }\n";
    ics_program *programs[5];
    for (int i = 0; i < 5; ++i) {
        programs[i] = program_get(&options[i]);
        ck_assert_int_eq(programs[i]->origin, ICS_PROGRAM_COMPILED);
        for (int j = 0; j < i; ++j) {
            ck_assert_str_ne(programs[i]->key, programs[j]->key);
        }
    }
    ck_assert_int_eq(program_count_files(program_cache(), ".kernels"), 5);
    for (int i = 0; i < 5; ++i) {
        ics_program_destroy(programs[i]);
    }
}
END_TEST

START_TEST(fast_maths_is_defined_and_used)
{
    ics_program_options options = program_defaults;
    options.definitions = "#ifdef ICE_MATH_FAST\n"
                          "extern \"C\" __global__ void ics_fast(float *x) { *x = 1 / *x; }\n"
                          "#else\n"
                          "extern \"C\" __global__ void ics_exact(float *x) { *x = 1 / *x; }\n"
                          "#endif\n";
    ics_program *exact = program_get(&options);
    options.fast_math = true;
    ics_program *fast = program_get(&options);
    ck_assert_ptr_nonnull(ics_program_kernel(exact, "ics_exact"));
    ck_assert_ptr_nonnull(ics_program_kernel(fast, "ics_fast"));
    ck_assert_uint_lt(fast->bytes, exact->bytes); /* no code for the last bit of a division */
    ics_program_destroy(exact);
    ics_program_destroy(fast);
}
END_TEST

START_TEST(an_unknown_entry_is_an_error)
{
    icestream_error why;
    ics_program_options options = program_defaults;
    options.entry = "kernels/cuda/device/nothing.h";
    program_get_none(&options, &why);
    ck_assert_str_eq(why.text, "this program has no kernels kernels/cuda/device/nothing.h");
}
END_TEST

/* ---- a user's header ------------------------------------------------------------------------- */

static const char rayleigh[] =
    "#include \"stages/scatter_hg.h\"\n"
    "/* cos from the root of a cubic is not needed here: any formula will do. */\n"
    "ICE_FN float ice_scatter_custom(const ice_scatter_constants *constants, float u)\n"
    "{\n"
    "    return 2.0f * u * ice_scatter_hg(constants, u);\n"
    "}\n";

/* The options with a header of this text for scatter. */
static ics_program_options with_header(const char *text, const char *custom[ICS_STAGES],
                                       char path[SCRATCH_PATH])
{
    scratch_write(scratch_path(program_place(), "my_scatter.h", path), text, strlen(text));
    ics_program_options options = program_defaults;
    memset(custom, 0, ICS_STAGES * sizeof *custom);
    custom[ICS_STAGE_SCATTER] = path;
    options.custom = custom;
    return options;
}

START_TEST(a_users_header_is_compiled_and_its_content_belongs_to_the_key)
{
    const char *custom[ICS_STAGES];
    char path[SCRATCH_PATH];
    ics_program_options options = with_header(rayleigh, custom, path);
    ics_program *plain = program_get(&program_defaults), *first = program_get(&options),
                *second = program_get(&options);
    ck_assert_str_ne(plain->key, first->key);
    ck_assert_int_eq(first->origin, ICS_PROGRAM_COMPILED);
    ck_assert_int_eq(second->origin, ICS_PROGRAM_CACHED);
    ck_assert(plain->bytes != first->bytes ||
              memcmp(plain->image, first->image, plain->bytes) != 0);

    /* The same text in another file gives the same code. */
    char elsewhere[SCRATCH_PATH];
    scratch_write(scratch_path(program_place(), "elsewhere.h", elsewhere), rayleigh,
                  strlen(rayleigh));
    custom[ICS_STAGE_SCATTER] = elsewhere;
    ics_program *moved = program_get(&options);
    ck_assert_int_eq(moved->origin, ICS_PROGRAM_CACHED);
    program_assert_same(first, moved);
    ics_program_destroy(moved);

    char changed[sizeof rayleigh];
    memcpy(changed, rayleigh, sizeof changed);
    strstr(changed, "2.0f")[0] = '3';
    options = with_header(changed, custom, path);
    ics_program *third = program_get(&options);
    ck_assert_int_eq(third->origin, ICS_PROGRAM_COMPILED);
    ck_assert_str_ne(third->key, first->key);
    ics_program_destroy(plain);
    ics_program_destroy(first);
    ics_program_destroy(second);
    ics_program_destroy(third);
}
END_TEST

/* One file may serve two stages. */
START_TEST(a_header_for_two_stages_is_given_once)
{
    const char *custom[ICS_STAGES];
    char path[SCRATCH_PATH], text[1024];
    snprintf(
        text, sizeof text,
        "#ifndef MINE\n#define MINE\n%s"
        "ICE_FN ice_contact ice_collide_custom(const ice_tables *t, const ice_contact_search *p)\n"
        "{ return ice_collide_brute_force(t, p); }\n#endif\n",
        rayleigh);
    ics_program_options options = with_header(text, custom, path);
    custom[ICS_STAGE_COLLIDE] = path;
    ics_program_destroy(program_get(&options));
}
END_TEST

static void fail_with_header(const char *text, const char *place_and_kind, const char *message)
{
    const char *custom[ICS_STAGES];
    icestream_error why;
    char path[SCRATCH_PATH], expected[2 * SCRATCH_PATH];
    const ics_program_options options = with_header(text, custom, path);
    program_get_none(&options, &why);
    snprintf(expected, sizeof expected, "%s%s", path, place_and_kind);
    program_assert_mentions(why.text, expected);
    program_assert_mentions(why.text, message);
    ck_assert_int_eq(program_count_files(program_cache(), ".kernels"), 0);
}

START_TEST(errors_name_the_users_file_and_line)
{
    fail_with_header("\n\nICE_FN float ice_scatter_custom(const ice_scatter_constants *constants,\n"
                     "                                float u)\n{\n    return u * asymmetry;\n}\n",
                     "(6): error: ", "\"asymmetry\" is undefined");
    fail_with_header("#include \"stages/nothing.h\"\n",
                     "(1): catastrophic error: ", "can include the headers of icestream");
}
END_TEST

/* The files next to a user's header are no part of the key, so they must not be read, in whatever
 * folder the program runs. */
START_TEST(files_next_to_a_header_are_not_read)
{
    char path[SCRATCH_PATH], text[2 * SCRATCH_PATH];
    scratch_write(scratch_path(program_place(), "neighbour.h", path), rayleigh, strlen(rayleigh));
    snprintf(text, sizeof text, "\n# include \"%s\"\n", path);
    ck_assert_int_eq(chdir(program_place()->folder), 0);
    fail_with_header("#include \"neighbour.h\"\n", "(1): catastrophic error: ", "\"neighbour.h\"");
    fail_with_header(text, "(2): error: ", "can include the headers of icestream");
    ck_assert_int_eq(chdir("/"), 0);
}
END_TEST

/* Files of the working folder do not take the place of the sources that the program carries. */
START_TEST(the_working_folder_does_not_matter)
{
    char path[SCRATCH_PATH];
    ck_assert_int_eq(mkdir(scratch_path(program_place(), "stages", path), 0777), 0);
    scratch_write(scratch_path(program_place(), "stages/photon.h", path), "#error wrong\n", 13);
    ck_assert_int_eq(chdir(program_place()->folder), 0);
    ics_program_destroy(program_get(&program_defaults));
    ck_assert_int_eq(chdir("/"), 0);
}
END_TEST

/* This test needs no NVRTC. */
START_TEST(headers_that_cannot_be_given_are_named)
{
    const char *custom[ICS_STAGES];
    icestream_error why;
    char path[SCRATCH_PATH];
    ics_program_options options = with_header("", custom, path);
    custom[ICS_STAGE_SCATTER] = "/nonexistent/my_scatter.h";
    program_get_none(&options, &why);
    program_assert_mentions(why.text, "/nonexistent/my_scatter.h: cannot open");
    custom[ICS_STAGE_SCATTER] = program_place()->folder;
    program_get_none(&options, &why);
    program_assert_mentions(why.text, "expected a file");
    custom[ICS_STAGE_SCATTER] = "my\"scatter.h";
    program_get_none(&options, &why);
    program_assert_mentions(why.text, "without quotes");
    custom[ICS_STAGE_SCATTER] = "stages/scatter_hg.h";
    program_get_none(&options, &why);
    program_assert_mentions(why.text, "icestream has itself");
    scratch_write(path, "a\0b", 3);
    custom[ICS_STAGE_SCATTER] = path;
    program_get_none(&options, &why);
    program_assert_mentions(why.text, "zero byte");
}
END_TEST

ICS_TEST_MAIN("program")
{
    TCase *always = tcase_create("always");
    tcase_add_checked_fixture(always, program_set_up, program_tear_down);
    tcase_add_test(always, an_unknown_entry_is_an_error);
    tcase_add_test(always, headers_that_cannot_be_given_are_named);
    suite_add_tcase(suite, always);

    if (program_has_nvrtc()) {
        TCase *compiler = tcase_create("with NVRTC");
        tcase_add_checked_fixture(compiler, program_set_up, program_tear_down);
        tcase_add_test(compiler, resources_are_those_of_the_kernels);
        tcase_add_test(compiler, spills_are_reported);
        tcase_add_test(compiler, an_architecture_of_the_future_gets_ptx);
        tcase_add_test(compiler, programs_of_different_options_are_different);
        tcase_add_test(compiler, fast_maths_is_defined_and_used);
        tcase_add_test(compiler, a_users_header_is_compiled_and_its_content_belongs_to_the_key);
        tcase_add_test(compiler, a_header_for_two_stages_is_given_once);
        tcase_add_test(compiler, errors_name_the_users_file_and_line);
        tcase_add_test(compiler, files_next_to_a_header_are_not_read);
        tcase_add_test(compiler, the_working_folder_does_not_matter);
        suite_add_tcase(suite, compiler);
    }
}
