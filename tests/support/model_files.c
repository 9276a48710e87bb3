#include "tests/support/model_files.h"

#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

model_folder model_folder_create(void)
{
    const scratch place = scratch_create();
    model_folder folder;
    snprintf(folder.path, sizeof folder.path, "%s", place.folder);
    return folder;
}

void model_folder_remove(const model_folder *folder)
{
    scratch place;
    snprintf(place.folder, sizeof place.folder, "%s", folder->path);
    scratch_remove(&place);
}

const char *model_folder_write(const model_folder *folder, const char *name, const char *content,
                               char path[MODEL_PATH])
{
    snprintf(path, MODEL_PATH, "%s/%s", folder->path, name);
    scratch_write(path, content, strlen(content));
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
