#include "bench/lab/roofline/ncu.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool try_folder(const char *folder, size_t length, const char *rest, char *path, size_t size)
{
    const int written = snprintf(path, size, "%.*s%s/ncu", (int)length, folder, rest);
    struct stat about;
    return length > 0 && written > 0 && (size_t)written < size && stat(path, &about) == 0 &&
           S_ISREG(about.st_mode) && access(path, X_OK) == 0;
}

int ics_ncu_find(char *path, size_t size, icestream_error *error)
{
    const char *folders = getenv("PATH");
    while (folders != NULL && *folders != '\0') {
        const size_t length = strcspn(folders, ":");
        if (try_folder(folders, length, "", path, size)) {
            return ICESTREAM_OK;
        }
        folders += length + (folders[length] == ':');
    }
    const char *const roots[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
    for (size_t i = 0; i < sizeof roots / sizeof *roots; ++i) {
        if (roots[i] != NULL && try_folder(roots[i], strlen(roots[i]), "/bin", path, size)) {
            return ICESTREAM_OK;
        }
    }
    return ics_error_set(
        error, ICESTREAM_E_FAILED,
        "the program ncu is missing: found it neither in PATH nor in the folder bin "
        "of $CUDA_HOME, $CUDA_PATH or /usr/local/cuda; it is part of the CUDA "
        "toolkit (NVIDIA Nsight Compute) and counts what kernels do on a GPU");
}
