/* Promises of base/own_folder.h: the folder is that of the program or of the library, without
 * links, whatever the working folder is. */
#include "base/own_folder.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The folder of a file, without links. */
static void folder_of(const char *file, char folder[PATH_MAX])
{
    ck_assert_ptr_nonnull(realpath(file, folder));
    *strrchr(folder, '/') = '\0';
}

START_TEST(of_a_program)
{
    char found[PATH_MAX], expected[PATH_MAX];
    folder_of("/proc/self/exe", expected);
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_int_eq(ics_own_folder(found, sizeof found), 0);
    ck_assert_str_eq(found, expected);
    ck_assert_int_eq(ics_own_folder(found, strlen(expected)), -1);
    ck_assert_int_eq(ics_own_folder(found, strlen(expected) + 1), 0);
}
END_TEST

START_TEST(of_a_library)
{
    char found[PATH_MAX], expected[PATH_MAX];
    int (*function)(char *path, size_t size);
    void *library = dlopen(OWN_FOLDER_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(library != NULL, "%s", dlerror());
    void *address = dlsym(library, "ics_own_folder");
    memcpy(&function, &address, sizeof function);
    folder_of(OWN_FOLDER_LIBRARY, expected);
    ck_assert_int_eq(function(found, sizeof found), 0);
    ck_assert_str_eq(found, expected);
}
END_TEST

ICS_TEST_MAIN("own folder")
{
    TCase *tests = tcase_create("own folder");
    tcase_add_test(tests, of_a_program);
    tcase_add_test(tests, of_a_library);
    suite_add_tcase(suite, tests);
}
