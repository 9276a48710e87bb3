#include "kernels/cache/cache.h"

#include "base/cleanup.h"
#include "base/disk.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the folder ----------------------------------------------------------------------------- */

/* Whether only this user can write to the folder. */
static bool is_own(const char *path, const struct stat *status)
{
    return S_ISDIR(status->st_mode) && status->st_uid == geteuid() &&
           (status->st_mode & (S_IWGRP | S_IWOTH)) == 0 && access(path, R_OK | W_OK | X_OK) == 0;
}

int ics_cache_directory(char *path, size_t size)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length = -1;
    /* The XDG Base Directory Specification says that relative paths are ignored. */
    if (cache != NULL && *cache == '/') {
        length = snprintf(path, size, "%s/icestream", cache);
    } else if (home != NULL && *home == '/') {
        length = snprintf(path, size, "%s/.cache/icestream", home);
    }
    if (length < 0 || (size_t)length >= size || ics_disk_make_folders(path, 0700) != 0) {
        return -1;
    }
    struct stat status;
    return stat(path, &status) == 0 && is_own(path, &status) ? 0 : -1;
}

int ics_cache_directory_somewhere(char *path, size_t size)
{
    if (ics_cache_directory(path, size) == 0) {
        return 0;
    }
    const char *parent = getenv("TMPDIR");
    if (parent == NULL || *parent != '/') {
        parent = "/tmp";
    }
    const int length = snprintf(path, size, "%s/icestream-%lu", parent, (unsigned long)geteuid());
    if (length < 0 || (size_t)length >= size || ics_disk_make_folder(path, 0700) != 0) {
        return -1;
    }
    /* lstat, because any user may put a symbolic link there. */
    struct stat status;
    return lstat(path, &status) == 0 && is_own(path, &status) ? 0 : -1;
}

/* ---- names of entries ----------------------------------------------------------------------- */

ics_cache_part ics_cache_text(const char *text)
{
    return (ics_cache_part){text, strlen(text)};
}

int ics_cache_key(const ics_cache_part *parts, size_t count, char key[65])
{
    unsigned char digest[EVP_MAX_MD_SIZE] = {0};
    EVP_MD_CTX *state = EVP_MD_CTX_new();
    bool good = state != NULL && EVP_DigestInit_ex(state, EVP_sha256(), NULL) == 1;
    for (size_t i = 0; i < count && good; ++i) {
        /* With the size in front, the end of a part cannot be read as the start of the next. */
        const uint64_t size = parts[i].size;
        good = EVP_DigestUpdate(state, &size, sizeof size) == 1 &&
               EVP_DigestUpdate(state, parts[i].bytes, parts[i].size) == 1;
    }
    good = good && EVP_DigestFinal_ex(state, digest, NULL) == 1;
    EVP_MD_CTX_free(state);
    for (size_t i = 0; i < 32; ++i) {
        snprintf(key + 2 * i, 3, "%02x", digest[i]);
    }
    return good ? 0 : -1;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* No header is longer. A longer file was named by mistake: a device, or a file of data. */
enum { BYTES_MOST = 16 << 20 };

int ics_cache_read(const char *path, char **text, size_t *size, icestream_error *error)
{
    /* O_NONBLOCK: opening a pipe that nobody writes to does not wait. */
    const int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    ICS_CLOSES FILE *file = descriptor >= 0 ? fdopen(descriptor, "rb") : NULL;
    struct stat status;
    if (file == NULL || fstat(descriptor, &status) != 0) {
        const int cause = errno;
        if (file == NULL && descriptor >= 0) {
            close(descriptor);
        }
        return ics_error_set_cause(error, ICESTREAM_E_CONFIG, cause, "%s: cannot open the file: %s",
                                   path, strerror(cause));
    }
    if (!S_ISREG(status.st_mode) || status.st_size > BYTES_MOST) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "%s: found %s, expected a file of at most %d MiB", path,
                             S_ISREG(status.st_mode)   ? "a larger file"
                             : S_ISDIR(status.st_mode) ? "a folder"
                                                       : "a device or pipe",
                             BYTES_MOST >> 20);
    }
    ICS_FREES char *bytes = malloc((size_t)status.st_size + 1);
    if (bytes == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", path);
    }
    const size_t count = fread(bytes, 1, (size_t)status.st_size, file);
    if (ferror(file)) {
        return ics_error_set(error, ICESTREAM_E_CONFIG, "%s: cannot read the file", path);
    }
    bytes[count] = 0;
    *text = bytes;
    *size = count;
    bytes = NULL;
    return ICESTREAM_OK;
}
