/* Promises of files with secrets: the owner may read them, and nobody else. Only the group of a
 * file of root may read it, because Kubernetes and systemd hand over secrets in this way. To join:
 * one more row of the table. */
#include "pipeline/photons/files/access_token.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { OTHER_USER = 65534, SECRET_SIZE = 64 };

START_TEST(test_modes)
{
    static const struct {
        mode_t mode;
        unsigned of_root, of_user; /* permissions that others must not have */
    } cases[] = {
        {0400, 0, 0},       {0600, 0, 0},       {0440, 0, 0040},    {0640, 0, 0040},
        {0444, 0004, 0044}, {0644, 0004, 0044}, {0660, 0020, 0060}, {0450, 0010, 0050},
        {0601, 0001, 0001}, {0602, 0002, 0002}, {0777, 0037, 0077},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        struct stat about = {.st_mode = S_IFREG | cases[i].mode, .st_uid = 0};
        ck_assert_uint_eq(ics_access_mode_for_others(&about), cases[i].of_root);
        about.st_uid = OTHER_USER;
        ck_assert_uint_eq(ics_access_mode_for_others(&about), cases[i].of_user);
    }
}
END_TEST

static int read_secret(const char *path, char secret[SECRET_SIZE], icestream_error *error)
{
    *error = (icestream_error){.status = ICESTREAM_OK};
    return ics_access_secret_read("key", path, secret, SECRET_SIZE, error);
}

/* As Kubernetes mounts a secret for a process with another user and with fsGroup. */
START_TEST(test_file_of_root)
{
    if (geteuid() != 0) {
        test_skip("only root can make a file of root");
        return;
    }
    char path[SCRATCH_PATH], secret[SECRET_SIZE];
    icestream_error error;
    scratch place = scratch_create();
    scratch_write(scratch_path(&place, "secret", path), "hush\n", 5);
    /* The other user may not pass the folders above this one, so the file has a relative path. */
    const int before = open(".", O_RDONLY | O_DIRECTORY);
    ck_assert_int_ge(before, 0);
    ck_assert_int_eq(chdir(place.folder), 0);
    ck_assert_int_eq(chmod(".", 0755), 0);
    ck_assert_int_eq(chown(path, 0, OTHER_USER), 0);
    ck_assert_int_eq(chmod(path, 0440), 0);
    ck_assert_int_eq(setegid(OTHER_USER), 0);
    ck_assert_int_eq(seteuid(OTHER_USER), 0);
    ck_assert_int_eq(read_secret("secret", secret, &error), ICESTREAM_OK);
    ck_assert_str_eq(secret, "hush");
    ck_assert_int_eq(seteuid(0), 0);
    ck_assert_int_eq(chmod(path, 0444), 0);
    ck_assert_int_eq(seteuid(OTHER_USER), 0);
    ck_assert_int_eq(read_secret("secret", secret, &error), ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(error.text, "found mode 0444, expected 0600 or stricter"));
    ck_assert_int_eq(seteuid(0), 0);
    ck_assert_int_eq(chown(path, OTHER_USER, OTHER_USER), 0);
    ck_assert_int_eq(chmod(path, 0440), 0);
    ck_assert_int_eq(seteuid(OTHER_USER), 0);
    ck_assert_int_eq(read_secret("secret", secret, &error), ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(error.text, "found mode 0440"));
    ck_assert_int_eq(seteuid(0), 0);
    ck_assert_int_eq(setegid(0), 0);
    ck_assert_int_eq(fchdir(before), 0);
    close(before);
    scratch_remove(&place);
}
END_TEST

ICS_TEST_MAIN("access token")
{
    TCase *tests = tcase_create("access token");
    tcase_add_test(tests, test_modes);
    tcase_add_test(tests, test_file_of_root);
    suite_add_tcase(suite, tests);
}
