/* The kernels of a run: compiled by NVRTC, cached on disk, taken from an installation. Nothing here
 * needs a GPU; what needs NVRTC is skipped with a message where it is missing. */
#include "kernels/cuda/cache.h"
#include "kernels/cuda/nvrtc.h"
#include "kernels/cuda/program.h"
#include "tests/support/scratch_files.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Kernels that stand in the definitions: any embedded file serves as the entry then. `is_scatter`
 * calls the user's header where there is one. */
static const char kernels[] =
    "#include \"stages/variants.h\"\n"
    "extern \"C\" __global__ void is_small(float *x) { x[threadIdx.x] += 1.0f; }\n"
    "extern \"C\" __global__ void is_large(float *x)\n"
    "{\n"
    "    __shared__ float shared[100];\n"
    "    float stack[100];\n"
    "    shared[threadIdx.x] = x[threadIdx.x];\n"
    "    __syncthreads();\n"
    "    for (int i = 0; i < 100; ++i) stack[i] = shared[i];\n"
    "    for (int i = 0; i < 100; ++i) x[i] = stack[(int)x[i]];\n"
    "}\n"
    "extern \"C\" __global__ void is_scatter(float *x, const ice_scatter_constants *constants)\n"
    "{\n"
    "#ifdef ICE_CUSTOM_scatter\n"
    "    *x = ice_scatter(ICE_scatter_custom, constants, *x);\n"
    "#else\n"
    "    *x = ice_scatter(ICE_scatter_hg, constants, *x);\n"
    "#endif\n"
    "}\n";

static const is_program_options defaults = {
    .entry = "stages/variants.h", .definitions = kernels, .architecture = 90, .use_cache = true};

static scratch place;
static char cache[SCRATCH_PATH + 16];

static void set_up(void)
{
    char path[SCRATCH_PATH];
    place = scratch_create();
    ck_assert_int_eq(setenv("XDG_CACHE_HOME", scratch_path(&place, "cache", path), 1), 0);
    ck_assert_int_eq(setenv("ICESTREAM_KERNELS", scratch_path(&place, "installed", path), 1), 0);
    ck_assert_int_eq(mkdir(path, 0777), 0);
    snprintf(cache, sizeof cache, "%s/icestream", scratch_path(&place, "cache", path));
}

static void tear_down(void)
{
    scratch_remove(&place);
}

static is_program *get(const is_program_options *options)
{
    char why[4096] = "";
    is_program *program = NULL;
    ck_assert_msg(is_program_create(options, &program, why, sizeof why) == 0, "%s", why);
    ck_assert_ptr_nonnull(program);
    return program;
}

/* The message of a program that cannot be had. */
static void get_none(const is_program_options *options, char *why, size_t size)
{
    is_program *program = NULL;
    why[0] = 0;
    ck_assert_int_eq(is_program_create(options, &program, why, size), -1);
    ck_assert_ptr_null(program);
}

static void assert_mentions(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part) != NULL, "expected '%s' in: %s", part, text);
}

static void assert_same_code(const is_program *a, const is_program *b)
{
    ck_assert_uint_eq(a->bytes, b->bytes);
    ck_assert_mem_eq(a->image, b->image, a->bytes);
    ck_assert_int_eq(a->is_ptx, b->is_ptx);
    ck_assert_uint_eq(a->kernel_count, b->kernel_count);
    ck_assert_mem_eq(a->kernels, b->kernels, a->kernel_count * sizeof *a->kernels);
    ck_assert_str_eq(a->key, b->key);
}

static void entry_path(const is_program *program, char path[2 * SCRATCH_PATH])
{
    snprintf(path, 2 * SCRATCH_PATH, "%s/%s.kernels", cache, program->key);
}

/* Files of a folder that end so. */
static int count_files(const char *folder, const char *end)
{
    int count = 0;
    DIR *directory = opendir(folder);
    for (struct dirent *entry = directory ? readdir(directory) : NULL; entry;
         entry = readdir(directory)) {
        const size_t length = strlen(entry->d_name);
        if (length >= strlen(end) && strcmp(entry->d_name + length - strlen(end), end) == 0)
            ++count;
    }
    if (directory)
        closedir(directory);
    return count;
}

static bool has_nvrtc(void)
{
    char why[256];
    is_nvrtc *nvrtc = NULL;
    const bool good = is_nvrtc_create(&nvrtc, why, sizeof why) == 0;
    if (!good)
        printf("skipped what compiles: %s\n", why);
    is_nvrtc_destroy(nvrtc);
    return good;
}

/* ---- what the compiler gives ----------------------------------------------------------------- */

START_TEST(resources_are_those_of_the_kernels)
{
    is_program *program = get(&defaults);
    ck_assert_int_eq(program->origin, IS_PROGRAM_COMPILED);
    ck_assert(!program->is_ptx);
    ck_assert_uint_eq(program->kernel_count, 3);
    ck_assert_uint_eq(strlen(program->key), 64);
    ck_assert(program->seconds > 0);
    ck_assert_mem_eq(program->image, "\177ELF", 4);

    const is_kernel_resources *small = is_program_kernel(program, "is_small");
    ck_assert_ptr_nonnull(small);
    ck_assert_uint_gt(small->registers, 2);
    ck_assert_uint_lt(small->registers, 20);
    ck_assert_uint_eq(small->shared_bytes, 0);
    ck_assert_uint_eq(small->stack_bytes, 0);
    ck_assert_uint_eq(small->spill_stores + small->spill_loads, 0);

    const is_kernel_resources *large = is_program_kernel(program, "is_large");
    ck_assert_ptr_nonnull(large);
    ck_assert_uint_gt(large->registers, small->registers);
    ck_assert_uint_eq(large->shared_bytes, 400);
    ck_assert_uint_eq(large->stack_bytes, 400);
    ck_assert_ptr_null(is_program_kernel(program, "is_larg"));
    is_program_destroy(program);
}
END_TEST

/* A limit on registers that the kernel cannot keep. */
START_TEST(spills_are_told)
{
    is_program_options options = defaults;
    options.definitions =
        "extern \"C\" __global__ void __launch_bounds__(1024, 2) is_spill(double *x)\n"
        "{\n"
        "    double y[32];\n"
        "    for (int i = 0; i < 32; ++i) y[i] = x[i + threadIdx.x];\n"
        "    __syncthreads();\n"
        "    for (int i = 0; i < 32; ++i) x[i + threadIdx.x] = y[31 - i] * y[(i * 7) % 32];\n"
        "}\n";
    is_program *program = get(&options);
    const is_kernel_resources *kernel = is_program_kernel(program, "is_spill");
    ck_assert_ptr_nonnull(kernel);
    ck_assert_uint_le(kernel->registers, 32);
    ck_assert_uint_gt(kernel->spill_stores, 0);
    ck_assert_uint_gt(kernel->spill_loads, 0);
    is_program_destroy(program);
}
END_TEST

START_TEST(an_architecture_of_the_future_gets_ptx)
{
    is_program_options options = defaults;
    options.architecture = 990;
    is_program *program = get(&options);
    ck_assert(program->is_ptx);
    ck_assert_int_eq(((const char *)program->image)[program->bytes - 1], 0);
    assert_mentions(program->image, ".visible .entry is_small");
    ck_assert_uint_eq(program->kernel_count, 0);
    is_program *again = get(&options);
    ck_assert_int_eq(again->origin, IS_PROGRAM_CACHED);
    assert_same_code(program, again);
    is_program_destroy(program);
    is_program_destroy(again);
}
END_TEST

/* Every ingredient is a part of the key: none of these may get the code of another. */
START_TEST(programs_of_different_options_are_different)
{
    is_program_options options[5] = {defaults, defaults, defaults, defaults, defaults};
    options[1].fast_math = true;
    options[2].architecture = 80;
    options[3].entry = "stages/contact.h";
    options[4].definitions = "extern \"C\" __global__ void is_small(float *x) { x[0] = 2.0f; }\n";
    is_program *programs[5];
    for (int i = 0; i < 5; ++i) {
        programs[i] = get(&options[i]);
        ck_assert_int_eq(programs[i]->origin, IS_PROGRAM_COMPILED);
        for (int j = 0; j < i; ++j)
            ck_assert_str_ne(programs[i]->key, programs[j]->key);
    }
    ck_assert_int_eq(count_files(cache, ".kernels"), 5);
    for (int i = 0; i < 5; ++i)
        is_program_destroy(programs[i]);
}
END_TEST

START_TEST(fast_maths_is_defined_and_used)
{
    is_program_options options = defaults;
    options.definitions = "#ifdef ICE_MATH_FAST\n"
                          "extern \"C\" __global__ void is_fast(float *x) { *x = 1 / *x; }\n"
                          "#else\n"
                          "extern \"C\" __global__ void is_exact(float *x) { *x = 1 / *x; }\n"
                          "#endif\n";
    is_program *exact = get(&options);
    options.fast_math = true;
    is_program *fast = get(&options);
    ck_assert_ptr_nonnull(is_program_kernel(exact, "is_exact"));
    ck_assert_ptr_nonnull(is_program_kernel(fast, "is_fast"));
    ck_assert_uint_lt(fast->bytes, exact->bytes); /* no code for the last bit of a division */
    is_program_destroy(exact);
    is_program_destroy(fast);
}
END_TEST

/* ---- the cache ------------------------------------------------------------------------------- */

START_TEST(the_second_time_it_is_cached)
{
    is_program *first = get(&defaults);
    is_program *second = get(&defaults);
    ck_assert_int_eq(first->origin, IS_PROGRAM_COMPILED);
    ck_assert_int_eq(second->origin, IS_PROGRAM_CACHED);
    assert_same_code(first, second);
    ck_assert_int_eq(count_files(cache, ".kernels"), 1);
    ck_assert_int_eq(count_files(cache, ".part"), 0);
    is_program_destroy(first);
    is_program_destroy(second);
}
END_TEST

/* Entries of a folder that nobody has used since. */
static void fill_cache(unsigned count)
{
    const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    for (unsigned i = 0; i < count; ++i) {
        char path[2 * SCRATCH_PATH];
        snprintf(path, sizeof path, "%s/%064x.kernels", cache, i);
        scratch_write(path, "", 0);
        ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
    }
}

/* A program stays as long as it is used, and a full cache takes new ones. */
START_TEST(a_full_cache_forgets_what_is_not_used)
{
    is_program *first = get(&defaults);
    char path[2 * SCRATCH_PATH];
    entry_path(first, path);
    const struct timespec long_ago[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    ck_assert_int_eq(utimensat(AT_FDCWD, path, long_ago, 0), 0);
    fill_cache(IS_CACHE_FILES + 5);
    is_program *used = get(&defaults);
    ck_assert_int_eq(used->origin, IS_PROGRAM_CACHED);
    ck_assert_int_eq(count_files(cache, ".kernels"), IS_CACHE_FILES);
    is_program_options fast = defaults;
    fast.fast_math = true;
    is_program_destroy(get(&fast));
    ck_assert_int_eq(count_files(cache, ".kernels"), IS_CACHE_FILES);
    is_program *both[] = {get(&defaults), get(&fast)};
    for (int i = 0; i < 2; ++i) {
        ck_assert_int_eq(both[i]->origin, IS_PROGRAM_CACHED);
        is_program_destroy(both[i]);
    }
    is_program_destroy(first);
    is_program_destroy(used);
}
END_TEST

START_TEST(without_the_cache_nothing_is_written)
{
    is_program_options options = defaults;
    options.use_cache = false;
    is_program_destroy(get(&options));
    is_program *second = get(&options);
    ck_assert_int_eq(second->origin, IS_PROGRAM_COMPILED);
    ck_assert_int_eq(count_files(cache, ".kernels"), 0);
    is_program_destroy(second);
}
END_TEST

static void change_byte(const char *path, long from_end)
{
    size_t size = 0;
    unsigned char *bytes = scratch_read(path, &size);
    bytes[from_end < 0 ? (size_t)(-from_end) : size - (size_t)from_end] ^= 1;
    scratch_write(path, bytes, size);
    free(bytes);
}

/* Wherever the damage is: in the code, the resources, the digest, the sizes, or at the end. */
START_TEST(a_damaged_entry_is_compiled_again)
{
    is_program *first = get(&defaults);
    char path[2 * SCRATCH_PATH];
    entry_path(first, path);
    for (int damage = 0; damage < 8; ++damage) {
        size_t size = 0;
        unsigned char *bytes = scratch_read(path, &size);
        switch (damage) {
        case 0:
            change_byte(path, 1);
            break;
        case 1:
            change_byte(path, (long)size / 2);
            break;
        case 2:
            change_byte(path, -30); /* the digest */
            break;
        case 3:
            change_byte(path, -110); /* the key */
            break;
        case 4:
            change_byte(path, -190); /* the sizes */
            break;
        case 5:
            scratch_write(path, bytes, size - 1);
            break;
        case 6:
            scratch_write(path, bytes, 100);
            break;
        default:
            scratch_write(path, "", 0);
        }
        free(bytes);
        is_program *again = get(&defaults);
        ck_assert_msg(again->origin == IS_PROGRAM_COMPILED, "damage %d was not seen", damage);
        assert_same_code(first, again);
        is_program_destroy(again);
        is_program *healed = get(&defaults);
        ck_assert_int_eq(healed->origin, IS_PROGRAM_CACHED);
        is_program_destroy(healed);
    }
    is_program_destroy(first);
}
END_TEST

/* An entry under another's name is sound in itself, but not what was asked for. */
START_TEST(a_misnamed_entry_is_not_taken)
{
    is_program_options fast = defaults;
    fast.fast_math = true;
    is_program *exact = get(&defaults), *other = get(&fast);
    char from[2 * SCRATCH_PATH], to[2 * SCRATCH_PATH];
    entry_path(other, from);
    entry_path(exact, to);
    ck_assert_int_eq(rename(from, to), 0);
    is_program *again = get(&defaults);
    ck_assert_int_eq(again->origin, IS_PROGRAM_COMPILED);
    assert_same_code(exact, again);
    is_program_destroy(exact);
    is_program_destroy(other);
    is_program_destroy(again);
}
END_TEST

START_TEST(a_cache_that_cannot_be_made_is_no_error)
{
    char path[SCRATCH_PATH];
    scratch_write(scratch_path(&place, "file", path), "x", 1);
    /* Below a file; nowhere at all; relative, which counts as not given. */
    ck_assert_int_eq(setenv("XDG_CACHE_HOME", path, 1), 0);
    is_program *program = get(&defaults);
    ck_assert_int_eq(program->origin, IS_PROGRAM_COMPILED);
    is_program_destroy(program);
    ck_assert_int_eq(setenv("XDG_CACHE_HOME", "relative", 1), 0);
    ck_assert_int_eq(unsetenv("HOME"), 0);
    program = get(&defaults);
    ck_assert_int_eq(program->origin, IS_PROGRAM_COMPILED);
    is_program_destroy(program);
}
END_TEST

/* A folder in the place of the entry: rename fails, as it does on a full disk. */
START_TEST(an_entry_that_cannot_be_written_is_no_error)
{
    is_program *first = get(&defaults);
    char path[2 * SCRATCH_PATH];
    entry_path(first, path);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(mkdir(path, 0777), 0);
    is_program *second = get(&defaults);
    ck_assert_int_eq(second->origin, IS_PROGRAM_COMPILED);
    assert_same_code(first, second);
    ck_assert_int_eq(count_files(cache, ".part"), 0);
    is_program_destroy(first);
    is_program_destroy(second);
}
END_TEST

/* Eight processes want the same two programs at the same time, each several times over, while the
 * entries appear and are damaged. Each must get whole programs, and one sound entry of each stays.
 */
START_TEST(processes_share_a_cache)
{
    enum { PROCESSES = 8, TURNS = 6 };
    is_program_options options[2] = {defaults, defaults};
    options[1].fast_math = true;
    is_program *expected[2];
    for (int i = 0; i < 2; ++i) {
        options[i].use_cache = false;
        expected[i] = get(&options[i]);
        options[i].use_cache = true;
    }
    pid_t children[PROCESSES];
    for (int child = 0; child < PROCESSES; ++child) {
        children[child] = fork();
        ck_assert_int_ge(children[child], 0);
        if (children[child] != 0)
            continue;
        int failures = 0;
        for (int turn = 0; turn < TURNS; ++turn) {
            const int which = (child + turn) % 2;
            char why[1024], path[2 * SCRATCH_PATH];
            is_program *program = NULL;
            if (is_program_create(&options[which], &program, why, sizeof why) != 0 ||
                program->bytes != expected[which]->bytes ||
                memcmp(program->image, expected[which]->image, program->bytes) != 0)
                ++failures;
            entry_path(expected[which], path);
            if (child == 0 && turn % 2 == 0 && truncate(path, 1000) != 0)
                ++failures;
            is_program_destroy(program);
        }
        _exit(failures);
    }
    for (int child = 0; child < PROCESSES; ++child) {
        int status = -1;
        ck_assert_int_eq(waitpid(children[child], &status, 0), children[child]);
        ck_assert_int_eq(status, 0);
    }
    ck_assert_int_eq(count_files(cache, ".kernels"), 2);
    ck_assert_int_eq(count_files(cache, ".part"), 0);
    for (int i = 0; i < 2; ++i) {
        is_program_destroy(get(&options[i]));
        is_program *last = get(&options[i]);
        ck_assert_int_eq(last->origin, IS_PROGRAM_CACHED);
        assert_same_code(last, expected[i]);
        is_program_destroy(last);
        is_program_destroy(expected[i]);
    }
}
END_TEST

/* ---- the installed cache, and life without NVRTC --------------------------------------------- */

static void store(const is_program_options *options, bool as_ptx)
{
    char why[1024] = "", path[SCRATCH_PATH];
    ck_assert_msg(is_program_store(options, as_ptx, scratch_path(&place, "installed", path), why,
                                   sizeof why) == 0,
                  "%s", why);
}

static void hide_nvrtc(void)
{
    ck_assert_int_eq(setenv("ICESTREAM_NVRTC", "/nonexistent/libnvrtc.so", 1), 0);
}

START_TEST(an_installed_program_is_found)
{
    char path[SCRATCH_PATH];
    store(&defaults, false);
    ck_assert_int_eq(count_files(scratch_path(&place, "installed", path), ".kernels"), 1);
    is_program *with = get(&defaults);
    ck_assert_int_eq(with->origin, IS_PROGRAM_INSTALLED);
    hide_nvrtc();
    is_program *without = get(&defaults);
    ck_assert_int_eq(without->origin, IS_PROGRAM_INSTALLED);
    assert_same_code(with, without);
    ck_assert_ptr_nonnull(is_program_kernel(without, "is_large"));
    is_program_destroy(with);
    is_program_destroy(without);

    is_program_options other = defaults;
    char why[1024];
    other.architecture = 89;
    get_none(&other, why, sizeof why);
}
END_TEST

START_TEST(installed_ptx_serves_every_later_gpu_without_nvrtc)
{
    is_program_options options = defaults;
    options.architecture = 80;
    store(&options, true);
    const is_program_options later = defaults;
    is_program *compiled = get(&later);
    ck_assert_int_eq(compiled->origin,
                     IS_PROGRAM_COMPILED); /* better than PTX where it can be had */
    is_program_destroy(compiled);

    char path[SCRATCH_PATH];
    ck_assert_int_eq(setenv("XDG_CACHE_HOME", scratch_path(&place, "other", path), 1), 0);
    hide_nvrtc();
    is_program *program = get(&later);
    ck_assert_int_eq(program->origin, IS_PROGRAM_INSTALLED);
    ck_assert(program->is_ptx);
    assert_mentions(program->image, ".target sm_80");
    is_program_destroy(program);
    char why[1024];
    options.architecture = 75;
    get_none(&options, why, sizeof why);
}
END_TEST

START_TEST(a_users_cache_serves_without_nvrtc)
{
    is_program *first = get(&defaults);
    hide_nvrtc();
    is_program *second = get(&defaults);
    ck_assert_int_eq(second->origin, IS_PROGRAM_CACHED);
    assert_same_code(first, second);
    is_program_destroy(first);
    is_program_destroy(second);
}
END_TEST

START_TEST(a_store_that_cannot_be_written_is_an_error)
{
    char why[1024] = "";
    ck_assert_int_eq(is_program_store(&defaults, false, "/nonexistent/folder", why, sizeof why),
                     -1);
    assert_mentions(why, "/nonexistent/folder");
    assert_mentions(why, "No such file");
}
END_TEST

/* Runs everywhere. */
START_TEST(without_nvrtc_and_cache_the_message_says_what_to_do)
{
    char why[1024];
    hide_nvrtc();
    get_none(&defaults, why, sizeof why);
    assert_mentions(why, "sm_90");
    assert_mentions(why, "/nonexistent/libnvrtc.so");
    assert_mentions(why, "expected NVRTC of CUDA 12 or 13");
    assert_mentions(why, "no cache has them");
    ck_assert_int_eq(is_program_store(&defaults, false, place.folder, why, sizeof why), -1);
    assert_mentions(why, "/nonexistent/libnvrtc.so");
    /* A library, but another one. */
    ck_assert_int_eq(setenv("ICESTREAM_NVRTC", "libm.so.6", 1), 0);
    get_none(&defaults, why, sizeof why);
    assert_mentions(why, "nvrtcVersion is missing");
}
END_TEST

START_TEST(an_unknown_entry_is_an_error)
{
    char why[1024];
    is_program_options options = defaults;
    options.entry = "kernels/cuda/device/nothing.h";
    get_none(&options, why, sizeof why);
    ck_assert_str_eq(why, "this program has no kernels kernels/cuda/device/nothing.h");
}
END_TEST

/* ---- a user's header ------------------------------------------------------------------------- */

static const char rayleigh[] =
    "#include \"stages/scatter_hg.h\"\n"
    "/* cos from the root of a cubic is not needed here: any formula will do. */\n"
    "ICE_FN float ice_scatter_custom(const ice_scatter_constants *constants, float u)\n"
    "{\n"
    "    return 2.0f * u * ice_scatter_hg(constants, u);\n"
    "}\n";

/* The options with a header of this text for scatter. */
static is_program_options with_header(const char *text, const char *custom[IS_STAGES],
                                      char path[SCRATCH_PATH])
{
    scratch_write(scratch_path(&place, "my_scatter.h", path), text, strlen(text));
    is_program_options options = defaults;
    memset(custom, 0, IS_STAGES * sizeof *custom);
    custom[IS_STAGE_SCATTER] = path;
    options.custom = custom;
    return options;
}

START_TEST(a_users_header_is_compiled_and_its_content_belongs_to_the_key)
{
    const char *custom[IS_STAGES];
    char path[SCRATCH_PATH];
    is_program_options options = with_header(rayleigh, custom, path);
    is_program *plain = get(&defaults), *first = get(&options), *second = get(&options);
    ck_assert_str_ne(plain->key, first->key);
    ck_assert_int_eq(first->origin, IS_PROGRAM_COMPILED);
    ck_assert_int_eq(second->origin, IS_PROGRAM_CACHED);
    ck_assert(plain->bytes != first->bytes ||
              memcmp(plain->image, first->image, plain->bytes) != 0);

    /* The same text elsewhere gives the same code. */
    char elsewhere[SCRATCH_PATH];
    scratch_write(scratch_path(&place, "elsewhere.h", elsewhere), rayleigh, strlen(rayleigh));
    custom[IS_STAGE_SCATTER] = elsewhere;
    is_program *moved = get(&options);
    ck_assert_int_eq(moved->origin, IS_PROGRAM_CACHED);
    assert_same_code(first, moved);
    is_program_destroy(moved);

    char changed[sizeof rayleigh];
    memcpy(changed, rayleigh, sizeof changed);
    strstr(changed, "2.0f")[0] = '3';
    options = with_header(changed, custom, path);
    is_program *third = get(&options);
    ck_assert_int_eq(third->origin, IS_PROGRAM_COMPILED);
    ck_assert_str_ne(third->key, first->key);
    is_program_destroy(plain);
    is_program_destroy(first);
    is_program_destroy(second);
    is_program_destroy(third);
}
END_TEST

/* One file may serve two stages. */
START_TEST(a_header_for_two_stages_is_given_once)
{
    const char *custom[IS_STAGES];
    char path[SCRATCH_PATH], text[1024];
    snprintf(text, sizeof text,
             "#ifndef MINE\n#define MINE\n%s"
             "ICE_FN ice_contact ice_collide_custom(const ice_tables *t, const ice_probe *p)\n"
             "{ return ice_collide_brute_force(t, p); }\n#endif\n",
             rayleigh);
    is_program_options options = with_header(text, custom, path);
    custom[IS_STAGE_COLLIDE] = path;
    is_program_destroy(get(&options));
}
END_TEST

static void fail_with_header(const char *text, const char *place_and_kind, const char *message)
{
    const char *custom[IS_STAGES];
    char path[SCRATCH_PATH], why[4096], expected[2 * SCRATCH_PATH];
    const is_program_options options = with_header(text, custom, path);
    get_none(&options, why, sizeof why);
    snprintf(expected, sizeof expected, "%s%s", path, place_and_kind);
    assert_mentions(why, expected);
    assert_mentions(why, message);
    ck_assert_int_eq(count_files(cache, ".kernels"), 0);
}

START_TEST(errors_name_the_users_file_and_line)
{
    fail_with_header("\n\nICE_FN float ice_scatter_custom(const ice_scatter_constants *constants,\n"
                     "                                float u)\n{\n    return u * asymmetry;\n}\n",
                     "(6): error: ", "\"asymmetry\" is undefined");
    fail_with_header("#include \"stages/nothing.h\"\n",
                     "(1): catastrophic error: ", "can include the headers of icestream");
}
END_TEST

/* Its own neighbours are no part of the key, so they must not be read, wherever the program runs.
 */
START_TEST(files_beside_a_header_are_not_read)
{
    char path[SCRATCH_PATH], text[2 * SCRATCH_PATH];
    scratch_write(scratch_path(&place, "beside.h", path), rayleigh, strlen(rayleigh));
    snprintf(text, sizeof text, "\n# include \"%s\"\n", path);
    ck_assert_int_eq(chdir(place.folder), 0);
    fail_with_header("#include \"beside.h\"\n", "(1): catastrophic error: ", "\"beside.h\"");
    fail_with_header(text, "(2): error: ", "can include the headers of icestream");
    ck_assert_int_eq(chdir("/"), 0);
}
END_TEST

/* Files of the working folder do not take the place of the sources that the program carries. */
START_TEST(the_working_folder_does_not_matter)
{
    char path[SCRATCH_PATH];
    ck_assert_int_eq(mkdir(scratch_path(&place, "stages", path), 0777), 0);
    scratch_write(scratch_path(&place, "stages/photon.h", path), "#error wrong\n", 13);
    ck_assert_int_eq(chdir(place.folder), 0);
    is_program_destroy(get(&defaults));
    ck_assert_int_eq(chdir("/"), 0);
}
END_TEST

/* Runs everywhere. */
START_TEST(headers_that_cannot_be_given_are_named)
{
    const char *custom[IS_STAGES];
    char path[SCRATCH_PATH], why[1024];
    is_program_options options = with_header("", custom, path);
    custom[IS_STAGE_SCATTER] = "/nonexistent/my_scatter.h";
    get_none(&options, why, sizeof why);
    assert_mentions(why, "/nonexistent/my_scatter.h: cannot open");
    custom[IS_STAGE_SCATTER] = place.folder;
    get_none(&options, why, sizeof why);
    assert_mentions(why, "expected a file");
    custom[IS_STAGE_SCATTER] = "my\"scatter.h";
    get_none(&options, why, sizeof why);
    assert_mentions(why, "without quotes");
    custom[IS_STAGE_SCATTER] = "stages/scatter_hg.h";
    get_none(&options, why, sizeof why);
    assert_mentions(why, "icestream has itself");
    scratch_write(path, "a\0b", 3);
    custom[IS_STAGE_SCATTER] = path;
    get_none(&options, why, sizeof why);
    assert_mentions(why, "zero byte");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("program");
    TCase *always = tcase_create("always");
    tcase_add_checked_fixture(always, set_up, tear_down);
    tcase_add_test(always, without_nvrtc_and_cache_the_message_says_what_to_do);
    tcase_add_test(always, an_unknown_entry_is_an_error);
    tcase_add_test(always, headers_that_cannot_be_given_are_named);
    suite_add_tcase(suite, always);

    if (has_nvrtc()) {
        TCase *compiler = tcase_create("with NVRTC");
        tcase_add_checked_fixture(compiler, set_up, tear_down);
        tcase_set_timeout(compiler, 300);
        tcase_add_test(compiler, resources_are_those_of_the_kernels);
        tcase_add_test(compiler, spills_are_told);
        tcase_add_test(compiler, an_architecture_of_the_future_gets_ptx);
        tcase_add_test(compiler, programs_of_different_options_are_different);
        tcase_add_test(compiler, fast_maths_is_defined_and_used);
        tcase_add_test(compiler, the_second_time_it_is_cached);
        tcase_add_test(compiler, a_full_cache_forgets_what_is_not_used);
        tcase_add_test(compiler, without_the_cache_nothing_is_written);
        tcase_add_test(compiler, a_damaged_entry_is_compiled_again);
        tcase_add_test(compiler, a_misnamed_entry_is_not_taken);
        tcase_add_test(compiler, a_cache_that_cannot_be_made_is_no_error);
        tcase_add_test(compiler, an_entry_that_cannot_be_written_is_no_error);
        tcase_add_test(compiler, processes_share_a_cache);
        tcase_add_test(compiler, an_installed_program_is_found);
        tcase_add_test(compiler, installed_ptx_serves_every_later_gpu_without_nvrtc);
        tcase_add_test(compiler, a_users_cache_serves_without_nvrtc);
        tcase_add_test(compiler, a_store_that_cannot_be_written_is_an_error);
        tcase_add_test(compiler, a_users_header_is_compiled_and_its_content_belongs_to_the_key);
        tcase_add_test(compiler, a_header_for_two_stages_is_given_once);
        tcase_add_test(compiler, errors_name_the_users_file_and_line);
        tcase_add_test(compiler, files_beside_a_header_are_not_read);
        tcase_add_test(compiler, the_working_folder_does_not_matter);
        suite_add_tcase(suite, compiler);
    }
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
