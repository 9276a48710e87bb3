/* Reading YAML files: the name may also be that of a folder, a pipe or a device. */
#include "pipeline/config/yaml/yaml.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads an open file of `size` bytes. If it has become shorter since, `*length` is smaller; bytes
 * that were appended are not read. */
static int read_all(int file, const char *path, size_t size, char **out, size_t *length,
                    icestream_error *error)
{
    char *text = malloc(size + 1);
    if (text == NULL) {
        return ics_error_add(error, ICESTREAM_E_MEMORY, "%s: error: out of memory", path);
    }
    size_t used = 0;
    while (used < size) {
        ssize_t got = read(file, text + used, size - used);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            free(text);
            return ics_error_add(error, ICESTREAM_E_CONFIG, "%s: error: cannot read the file: %s",
                                 path, strerror(errno));
        }
        if (got == 0) {
            break;
        }
        used += (size_t)got;
    }
    *out = text;
    *length = used;
    return ICESTREAM_OK;
}

int ics_yaml_read_file(const char *path, ics_yaml **out, icestream_error *error)
{
    *out = NULL;
    /* Without O_NONBLOCK, opening a named pipe would wait for its writer. */
    int file = TEMP_FAILURE_RETRY(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file < 0) {
        return ics_error_add(error, ICESTREAM_E_CONFIG, "%s: error: cannot open the file: %s", path,
                             strerror(errno));
    }
    struct stat about;
    int status = ICESTREAM_OK;
    char *text = NULL;
    size_t length = 0;
    if (fstat(file, &about) != 0) {
        status = ics_error_add(error, ICESTREAM_E_CONFIG, "%s: error: cannot examine the file: %s",
                               path, strerror(errno));
    } else if (S_ISDIR(about.st_mode)) {
        status = ics_error_add(error, ICESTREAM_E_CONFIG,
                               "%s: error: found a folder, expected a YAML file", path);
    } else if (!S_ISREG(about.st_mode)) {
        status = ics_error_add(error, ICESTREAM_E_CONFIG,
                               "%s: error: found a pipe, socket or device, expected a regular file",
                               path);
    } else if (about.st_size < 0 || (uintmax_t)about.st_size > ICS_YAML_BYTES_MAX) {
        status = ics_error_add(error, ICESTREAM_E_CONFIG,
                               "%s: error: the file has %jd bytes, expected at most %zu", path,
                               (intmax_t)about.st_size, ICS_YAML_BYTES_MAX);
    } else {
        status = read_all(file, path, (size_t)about.st_size, &text, &length, error);
    }
    close(file);
    if (status == ICESTREAM_OK) {
        /* Editors of some systems write a byte order mark, which libyaml takes for content if the
         * first line is a comment. */
        const size_t mark = length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
        status = ics_yaml_read_text(path, text + mark, length - mark, out, error);
    }
    free(text);
    return status;
}
