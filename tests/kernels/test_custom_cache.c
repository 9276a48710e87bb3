/* The cache of compiled stages on the CPU: compiled objects are kept and found again, and damaged
 * objects are made again. test_cache.c has the limits of the cache, also with several processes.
 *
 * How to join: add one test for each promise of kernels/cache/cache.h that stages depend on. */
#include "kernels/cache/cache.h"
#include "kernels/cpu/custom.h"
#include "tests/kernels/custom_stages.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

static const char *machine = "x86_64";
static const char *c_library = "2.36";

/* These take the place of the C library's functions. */
int uname(struct utsname *out)
{
    *out = (struct utsname){.sysname = "Linux"};
    snprintf(out->machine, sizeof out->machine, "%s", machine);
    return 0;
}

const char *gnu_get_libc_version(void);
const char *gnu_get_libc_version(void)
{
    return c_library;
}

/* Makes CC a script that writes one line for every call and then runs the compiler. It compiles
 * without optimisation, because the cache does not depend on it, and it takes half of the time. */
static void use_quick_compiler(const scratch *place)
{
    char path[SCRATCH_PATH], script[4 * SCRATCH_PATH];
    const char *compiler = getenv("CC");
    snprintf(script, sizeof script, "#!/bin/sh\necho call >>'%s/calls'\nexec %s \"$@\" -O0\n",
             place->folder, compiler != NULL && *compiler ? compiler : "cc");
    custom_write(place, "compiler.sh", script, path);
    snprintf(script, sizeof script, "sh %s", path);
    setenv("CC", script, 1);
}

static size_t calls(const scratch *place)
{
    char path[SCRATCH_PATH];
    size_t size = 0;
    unsigned char *text = scratch_read(scratch_path(place, "calls", path), &size);
    free(text);
    return size / strlen("call\n");
}

/* custom_start with that compiler. */
static scratch start(void)
{
    const scratch place = custom_start();
    use_quick_compiler(&place);
    return place;
}

START_TEST(objects_are_kept)
{
    const scratch place = start();
    char path[SCRATCH_PATH];
    const char *text = "#include \"stages/tables.h\"\n"
                       "ICE_FN float ice_scatter_custom(const ice_scatter_constants *c, float u)\n"
                       "{ (void)c; return u; }\n";
    custom_write(&place, "one.h", text, path);
    ics_custom_kernels_destroy(custom_create_scatter(path));
    ck_assert_uint_eq(calls(&place), 2); /* one for its version, one for the header */
    ck_assert_uint_eq(custom_cached(&place, "*"), 1);
    ck_assert_uint_eq(custom_cached(&place, "*.so"), 1);
    ics_custom_kernels_destroy(custom_create_scatter(path));
    ck_assert_uint_eq(calls(&place), 3); /* one for its version */

    /* A file with another name and the same content needs no new object. A file with another
     * content does. */
    custom_write(&place, "two.h", text, path);
    ics_custom_kernels_destroy(custom_create_scatter(path));
    ck_assert_uint_eq(calls(&place), 4);
    custom_write(&place, "two.h",
                 "#include \"stages/tables.h\"\n#define ice_scatter_custom "
                 "ice_scatter_isotropic\n",
                 path);
    ics_custom_kernels_destroy(custom_create_scatter(path));
    ck_assert_uint_eq(calls(&place), 6);
    ck_assert_uint_eq(custom_cached(&place, "*.so"), 2);
    scratch_remove(&place);
}
END_TEST

START_TEST(machines_of_different_kinds_share_a_cache)
{
    const scratch place = start();
    ics_custom_kernels_destroy(custom_create_scatter(CUSTOM_RAYLEIGH));
    machine = "aarch64";
    ics_custom_kernels_destroy(custom_create_scatter(CUSTOM_RAYLEIGH));
    ck_assert_uint_eq(custom_cached(&place, "*.so"), 2);
    c_library = "2.31";
    ics_custom_kernels_destroy(custom_create_scatter(CUSTOM_RAYLEIGH));
    ck_assert_uint_eq(custom_cached(&place, "*.so"), 3);
    ics_custom_kernels_destroy(custom_create_scatter(CUSTOM_RAYLEIGH));
    ck_assert_uint_eq(custom_cached(&place, "*.so"), 3);
    scratch_remove(&place);
}
END_TEST

START_TEST(damaged_objects_are_made_again)
{
    const scratch place = start();
    ics_custom_kernels_destroy(custom_create_scatter(CUSTOM_RAYLEIGH));
    char pattern[SCRATCH_PATH];
    glob_t found = {0};
    ck_assert_int_eq(glob(scratch_path(&place, "icestream/*.so", pattern), 0, NULL, &found), 0);
    const char *object = found.gl_pathv[0];
    size_t size = 0;
    unsigned char *bytes = scratch_read(object, &size);
    const size_t sizes[] = {0, 10, size / 2, size - 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        scratch_write(object, bytes, sizes[i]);
        ics_custom_kernels_destroy(custom_create_scatter(CUSTOM_RAYLEIGH));
    }
    unsigned char *again = scratch_read(object, &size);
    ck_assert_mem_eq(again, bytes, size);
    free(bytes);
    free(again);
    globfree(&found);
    scratch_remove(&place);
}
END_TEST

START_TEST(without_a_cache_the_temporary_folder_is_used)
{
    const scratch place = scratch_create();
    char file[SCRATCH_PATH], pattern[SCRATCH_PATH];
    use_quick_compiler(&place);
    custom_write(&place, "file", "", file);
    setenv("XDG_CACHE_HOME", file, 1); /* no folder can be made in a file */
    setenv("TMPDIR", place.folder, 1);
    ics_custom_kernels_destroy(custom_create_scatter(CUSTOM_RAYLEIGH));
    glob_t found = {0};
    ck_assert_int_eq(glob(scratch_path(&place, "icestream-*/*.so", pattern), 0, NULL, &found), 0);
    ck_assert_uint_eq(found.gl_pathc, 1);
    globfree(&found);
    setenv("TMPDIR", file, 1);
    custom_expect_refusal(CUSTOM_RAYLEIGH, (const char *[]){"needs a folder to compile "}, 1);
    scratch_remove(&place);
}
END_TEST

ICS_TEST_MAIN("custom cache")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, objects_are_kept);
    tcase_add_test(all, machines_of_different_kinds_share_a_cache);
    tcase_add_test(all, damaged_objects_are_made_again);
    tcase_add_test(all, without_a_cache_the_temporary_folder_is_used);
    suite_add_tcase(suite, all);
}
