#include "kernels/cuda/program_cache.h"

#include "base/cleanup.h"
#include "base/disk.h"
#include "base/own_folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- entries -------------------------------------------------------------------------------- */

/* The head of an entry, in front of the kernels and the image. It is written as it is in memory,
 * because all machines that share a cache are of one kind. A new layout needs a new magic. */
typedef struct entry_head {
    char magic[24];
    char digest[72]; /* SHA-256 of everything that follows */
    char key[72];
    uint64_t is_ptx, kernel_count, bytes;
} entry_head;
static const char entry_magic[24] = "icestream kernels 1\n";

static int digest_of(const entry_head *head, const void *kernels, const void *image,
                     char digest[65])
{
    const ics_cache_part parts[] = {
        {head->key, sizeof *head - offsetof(entry_head, key)},
        {kernels, (size_t)head->kernel_count * sizeof(ics_kernel_resources)},
        {image, (size_t)head->bytes},
    };
    return ics_cache_key(parts, sizeof parts / sizeof *parts, digest);
}

static int entry_path(const char *directory, const char *key, char *path, size_t size)
{
    const int length = snprintf(path, size, "%s/%s.kernels", directory, key);
    return length >= 0 && (size_t)length < size ? 0 : -1;
}

/* Whether the sizes in the head add up to the size of the file. */
static bool is_whole(const entry_head *head, size_t size)
{
    const size_t rest = size - sizeof *head;
    return head->kernel_count <= rest / sizeof(ics_kernel_resources) && head->bytes > 0 &&
           head->bytes == rest - head->kernel_count * sizeof(ics_kernel_resources);
}

int ics_program_cache_read(const char *directory, const char key[65], ics_program *program)
{
    char path[4096], digest[65];
    ICS_FREES char *text = NULL;
    size_t size = 0;
    if (entry_path(directory, key, path, sizeof path) != 0 || access(path, R_OK) != 0 ||
        ics_cache_read(path, &text, &size, NULL) != 0) {
        return -1;
    }
    entry_head head = {0};
    if (size < sizeof head) {
        return -1;
    }
    memcpy(&head, text, sizeof head);
    const char *kernels = text + sizeof head;
    const size_t kernel_bytes = (size_t)head.kernel_count * sizeof(ics_kernel_resources);
    if (memcmp(head.magic, entry_magic, sizeof entry_magic) != 0 ||
        memcmp(head.key, key, 65) != 0 || !is_whole(&head, size) ||
        digest_of(&head, kernels, kernels + kernel_bytes, digest) != 0 ||
        memcmp(digest, head.digest, sizeof digest) != 0) {
        return -1;
    }
    ICS_FREES char *image = malloc((size_t)head.bytes);
    program->kernels = image != NULL ? malloc(kernel_bytes + 1) : NULL;
    if (program->kernels == NULL) {
        return -1;
    }
    memcpy(program->kernels, kernels, kernel_bytes);
    memcpy(image, kernels + kernel_bytes, (size_t)head.bytes);
    program->image = image;
    program->kernel_count = (size_t)head.kernel_count;
    program->bytes = (size_t)head.bytes;
    program->is_ptx = head.is_ptx != 0;
    memcpy(program->key, key, 65);
    image = NULL;
    ics_cache_used(path);
    return 0;
}

int ics_program_cache_write(const char *directory, const ics_program *program)
{
    char path[4096];
    entry_head head = {
        .is_ptx = program->is_ptx, .kernel_count = program->kernel_count, .bytes = program->bytes};
    memcpy(head.magic, entry_magic, sizeof entry_magic);
    memcpy(head.key, program->key, sizeof program->key);
    char digest[65];
    if (entry_path(directory, program->key, path, sizeof path) != 0 ||
        digest_of(&head, program->kernels, program->image, digest) != 0) {
        errno = ENOMEM;
        return -1;
    }
    memcpy(head.digest, digest, sizeof digest);
    const ics_disk_part parts[] = {
        {&head, sizeof head},
        {program->kernels, program->kernel_count * sizeof *program->kernels},
        {program->image, program->bytes},
    };
    return ics_disk_write_whole(path, parts, sizeof parts / sizeof *parts);
}

/* ---- compilers ------------------------------------------------------------------------------ */

int ics_program_cache_read_compiler(const char *directory, char *text, size_t size)
{
    char path[4096];
    ICS_FREES char *content = NULL;
    size_t length = 0;
    if (snprintf(path, sizeof path, "%s/compiler", directory) >= (int)sizeof path ||
        access(path, R_OK) != 0 || ics_cache_read(path, &content, &length, NULL) != 0) {
        return -1;
    }
    const bool fits = length > 0 && length < size && strlen(content) == length;
    if (fits) {
        memcpy(text, content, length + 1);
    }
    return fits ? 0 : -1;
}

int ics_program_cache_write_compiler(const char *directory, const char *text)
{
    char path[4096], before[128];
    if (ics_program_cache_read_compiler(directory, before, sizeof before) == 0 &&
        strcmp(before, text) == 0) {
        return 0;
    }
    if (snprintf(path, sizeof path, "%s/compiler", directory) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const ics_disk_part part = {text, strlen(text)};
    return ics_disk_write_whole(path, &part, 1);
}

/* ---- the installation ----------------------------------------------------------------------- */

bool ics_program_cache_installed_directory(unsigned index, char *path, size_t size)
{
    static const char *const folders[] = {"/../share/icestream/kernels",
                                          "/share/icestream/kernels"};
    const char *chosen = getenv("ICESTREAM_KERNELS");
    if (chosen != NULL && *chosen) {
        if (index == 0) {
            return (size_t)snprintf(path, size, "%s", chosen) < size;
        }
        --index;
    }
    if (index >= sizeof folders / sizeof *folders) {
        return false;
    }
    char own[4096];
    return ics_own_folder(own, sizeof own) == 0 &&
           (size_t)snprintf(path, size, "%s%s", own, folders[index]) < size;
}
