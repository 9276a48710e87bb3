/* Reading YAML files: the name may also be that of a folder, a pipe or a device. */
#include "base/disk.h"
#include "pipeline/photons/config/yaml/yaml.h"

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
    *out = malloc(size + 1);
    if (*out == NULL) {
        return ics_error_add(error, ICESTREAM_E_MEMORY, "%s: error: out of memory", path);
    }
    *length = ics_disk_read_at(file, *out, size, 0);
    return *length == size || errno == 0
               ? ICESTREAM_OK
               : ics_error_add(error, ICESTREAM_E_CONFIG, "%s: error: cannot read the file: %s",
                               path, strerror(errno));
}

/* Whether an open file can be read; *size: its bytes. */
static int check(int file, const char *path, size_t *size, icestream_error *error)
{
    struct stat about;
    if (fstat(file, &about) != 0) {
        return ics_error_add(error, ICESTREAM_E_CONFIG, "%s: error: cannot examine the file: %s",
                             path, strerror(errno));
    }
    if (!S_ISREG(about.st_mode)) {
        return ics_error_add(error, ICESTREAM_E_CONFIG,
                             S_ISDIR(about.st_mode)
                                 ? "%s: error: found a folder, expected a YAML file"
                                 : "%s: error: found a pipe, socket or device, expected a regular "
                                   "file",
                             path);
    }
    *size = (size_t)about.st_size;
    return about.st_size >= 0 && *size <= ICS_YAML_BYTES_MAX
               ? ICESTREAM_OK
               : ics_error_add(error, ICESTREAM_E_CONFIG,
                               "%s: error: the file has %jd bytes, expected at most %zu", path,
                               (intmax_t)about.st_size, ICS_YAML_BYTES_MAX);
}

int ics_yaml_read_file(const char *path, ics_yaml **out, icestream_error *error)
{
    /* Without O_NONBLOCK, opening a named pipe would wait for its writer. */
    ICS_CLOSES_DESCRIPTOR int file =
        TEMP_FAILURE_RETRY(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    ICS_FREES char *text = NULL;
    size_t size = 0, length = 0;
    *out = NULL;
    if (file < 0) {
        return ics_error_add(error, ICESTREAM_E_CONFIG, "%s: error: cannot open the file: %s", path,
                             strerror(errno));
    }
    ICS_TRY(check(file, path, &size, error));
    ICS_TRY(read_all(file, path, size, &text, &length, error));
    /* Editors of some systems write a byte order mark, which libyaml takes for content if the first
     * line is a comment. */
    const size_t mark = length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    return ics_yaml_read_text(path, text + mark, length - mark, out, error);
}
