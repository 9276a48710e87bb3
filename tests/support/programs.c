#include "tests/support/programs.h"

#include "kernels/cuda/nvrtc.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The kernels are in the definitions, so that any embedded file can be the entry of a program. */
static const char kernels[] =
    "#include \"stages/variants.h\"\n"
    "extern \"C\" __global__ void ics_small(float *x) { x[threadIdx.x] += 1.0f; }\n"
    "extern \"C\" __global__ void ics_large(float *x)\n"
    "{\n"
    "    __shared__ float shared[100];\n"
    "    float stack[100];\n"
    "    shared[threadIdx.x] = x[threadIdx.x];\n"
    "    __syncthreads();\n"
    "    for (int i = 0; i < 100; ++i) stack[i] = shared[i];\n"
    "    for (int i = 0; i < 100; ++i) x[i] = stack[(int)x[i]];\n"
    "}\n"
    "extern \"C\" __global__ void gpu_scatter(float *x, const ice_scatter_constants *constants)\n"
    "{\n"
    "#ifdef ICE_CUSTOM_scatter\n"
    "    *x = ice_scatter(ICE_scatter_custom, constants, *x);\n"
    "#else\n"
    "    *x = ice_scatter(ICE_scatter_hg, constants, *x);\n"
    "#endif\n"
    "}\n";

const ics_program_options program_defaults = {
    .entry = "stages/variants.h", .definitions = kernels, .architecture = 90, .use_cache = true};

/* The state of the running test. It is static because fixtures have no arguments. */
static scratch place;
static char cache[SCRATCH_PATH + 16];

void program_set_up(void)
{
    char path[SCRATCH_PATH];
    place = scratch_create();
    ck_assert_int_eq(setenv("XDG_CACHE_HOME", scratch_path(&place, "cache", path), 1), 0);
    snprintf(cache, sizeof cache, "%s/icestream", path);
    ck_assert_int_eq(setenv("ICESTREAM_KERNELS", scratch_path(&place, "installed", path), 1), 0);
    ck_assert_int_eq(mkdir(path, 0777), 0);
}

void program_tear_down(void)
{
    scratch_remove(&place);
}

const scratch *program_place(void)
{
    return &place;
}

const char *program_cache(void)
{
    return cache;
}

ics_program *program_get(const ics_program_options *options)
{
    icestream_error why;
    ics_program *program = NULL;
    ck_assert_msg(ics_program_create(options, &program, &why) == ICESTREAM_OK, "%s", why.text);
    ck_assert_ptr_nonnull(program);
    return program;
}

void program_get_none(const ics_program_options *options, icestream_error *why)
{
    ics_program *program = NULL;
    ck_assert_int_eq(ics_program_create(options, &program, why), ICESTREAM_E_CONFIG);
    ck_assert_ptr_null(program);
}

void program_assert_mentions(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part) != NULL, "expected '%s' in: %s", part, text);
}

void program_assert_same(const ics_program *a, const ics_program *b)
{
    ck_assert_uint_eq(a->bytes, b->bytes);
    ck_assert_mem_eq(a->image, b->image, a->bytes);
    ck_assert_int_eq(a->is_ptx, b->is_ptx);
    ck_assert_uint_eq(a->kernel_count, b->kernel_count);
    ck_assert_mem_eq(a->kernels, b->kernels, a->kernel_count * sizeof *a->kernels);
    ck_assert_str_eq(a->key, b->key);
}

void program_entry_path(const ics_program *program, char path[2 * SCRATCH_PATH])
{
    snprintf(path, 2 * SCRATCH_PATH, "%s/%s.kernels", cache, program->key);
}

int program_count_files(const char *folder, const char *end)
{
    int count = 0;
    DIR *directory = opendir(folder);
    for (struct dirent *entry = directory != NULL ? readdir(directory) : NULL; entry != NULL;
         entry = readdir(directory)) {
        const size_t length = strlen(entry->d_name);
        if (length >= strlen(end) && strcmp(entry->d_name + length - strlen(end), end) == 0) {
            ++count;
        }
    }
    if (directory != NULL) {
        closedir(directory);
    }
    return count;
}

bool program_has_nvrtc(void)
{
    icestream_error why;
    ics_nvrtc *nvrtc = NULL;
    const bool good = ics_nvrtc_create(0, &nvrtc, &why) == ICESTREAM_OK;
    if (!good) {
        printf("skipped what compiles: %s\n", why.text);
    }
    ics_nvrtc_destroy(nvrtc);
    return good;
}
