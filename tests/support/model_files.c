#include "tests/support/model_files.h"

#include "tests/support/test_main.h"

#include <check.h>
#include <dirent.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

model_folder model_folder_create(void)
{
    const char *root = getenv("TMPDIR");
    model_folder folder;
    snprintf(folder.path, sizeof folder.path, "%s/icestream-models-XXXXXX",
             root != NULL ? root : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(folder.path));
    return folder;
}

void model_folder_remove(const model_folder *folder)
{
    DIR *entries = opendir(folder->path);
    ck_assert_ptr_nonnull(entries);
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            ck_assert_int_eq(unlinkat(dirfd(entries), entry->d_name, 0), 0);
        }
    }
    closedir(entries);
    ck_assert_int_eq(rmdir(folder->path), 0);
}

const char *model_folder_write(const model_folder *folder, const char *name, const char *content,
                               char path[MODEL_PATH])
{
    snprintf(path, MODEL_PATH, "%s/%s", folder->path, name);
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(content, 1, strlen(content), file), strlen(content));
    ck_assert_int_eq(fclose(file), 0);
    return path;
}

icestream_config *model_config(const char *first, ...)
{
    const char *sets[16];
    size_t count = 0;
    va_list arguments;
    va_start(arguments, first);
    for (const char *set = first; set != NULL; set = va_arg(arguments, const char *)) {
        ck_assert_uint_lt(count, 16);
        sets[count++] = set;
    }
    va_end(arguments);
    icestream_config *config = NULL;
    icestream_error error = {0};
    int status = icestream_config_load(NULL, sets, count, &config, &error);
    ck_assert_msg(status == ICESTREAM_OK, "%s", error.text);
    return config;
}

const char *model_shared(const char *name, char path[MODEL_PATH])
{
    const char *root = getenv("ICESTREAM_SHARED");
    snprintf(path, MODEL_PATH, "%s/%s", root != NULL ? root : ICS_SHARED_DIRECTORY, name);
    if (access(path, R_OK) == 0) {
        return path;
    }
    test_skip("%s is not there", path);
    return NULL;
}
