#include "kernels/cpu/custom.h"

#include "base/cleanup.h"
#include "base/disk.h"
#include "base/error.h"
#include "kernels/cache/cache.h"
#include "kernels/cpu/compiler.h"
#include "kernels/cpu/options.h"
#include "kernels/cpu/sources.h"
#include "kernels/stage_guard.h"

#include <dlfcn.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

struct ics_custom_kernels {
    void *object; /* handle from dlopen */
    const ics_cpu_kernels *kernels;
};

/* The name of the kernels in the object. */
#define SYMBOL        "ics_cpu_kernels_custom"
#define SYMBOL_OPTION "-DICS_KERNELS_SYMBOL=ics_cpu_kernels_custom"

enum { OPTIONS_MOST = 48, OPTION_SIZE = 64, KEY_DIGITS = 64, ATTEMPTS = 5 };

/* Everything that an object is made from. */
typedef struct recipe {
    const ics_custom_wanted *wanted;
    char *texts[ICS_STAGES]; /* contents of the headers */
    ics_compiler compiler;
    const char *options[OPTIONS_MOST]; /* [option_count], without paths */
    size_t option_count;
    char headers[ICS_STAGES][OPTION_SIZE]; /* -DICE_CUSTOM_scatter="custom/scatter.h" */
    char only[5][OPTION_SIZE]; /* -DICE_ONLY_scatter(variant)=11; -DICE_ONLY_FEATURES=0x0u */
    char name[OPTION_SIZE];    /* -DICS_KERNELS_NAME="avx2" */
    char key[KEY_DIGITS + 1];
} recipe;

static int out_of_memory(icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a stage header");
}

/* ---- the recipe ----------------------------------------------------------------------------- */

static void add_option(recipe *made, const char *option)
{
    made->options[made->option_count++] = option;
}

/* Adds the variants and features that the kernels are called with. */
static void add_choices(recipe *made)
{
    const ice_variants *variants = &made->wanted->variants;
    const struct {
        const char *stage;
        ice_variant variant;
    } rows[] = {{"create", variants->create},
                {"propagate", variants->propagate},
                {"collide", variants->collide},
                {"scatter", variants->scatter}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        snprintf(made->only[i], OPTION_SIZE, "-DICE_ONLY_%s(variant)=%d", rows[i].stage,
                 (int)rows[i].variant);
        add_option(made, made->only[i]);
    }
    snprintf(made->only[4], OPTION_SIZE, "-DICE_ONLY_FEATURES=0x%xu", made->wanted->features);
    add_option(made, made->only[4]);
}

/* Adds the options of cmake/CpuKernels.cmake, and those for a shared object. */
static void add_options(recipe *made)
{
    const char *instruction_set = made->wanted->instruction_set;
    static const char *const common[] = {ICS_KERNEL_OPTIONS};
    static const struct {
        const char *name, *options[4];
    } targets[] = {ICS_KERNEL_TARGETS};
    for (size_t i = 0; i < sizeof common / sizeof *common; ++i) {
        add_option(made, common[i]);
    }
    for (size_t i = 0; i < sizeof targets / sizeof *targets; ++i) {
        for (size_t k = 0; k < 4 && !strcmp(targets[i].name, instruction_set); ++k) {
            if (targets[i].options[k] != NULL && *targets[i].options[k]) {
                add_option(made, targets[i].options[k]);
            }
        }
    }
    /* -Werror=implicit-function-declaration: without it, a header without the stage function would
     * compile, and only loading would fail. -Werror=return-type: without it, a function that ends
     * without a return would give any number. */
    static const char *const more[] = {"-std=gnu11",
                                       "-Werror=implicit-function-declaration",
                                       "-Werror=return-type",
                                       "-D_GNU_SOURCE",
                                       SYMBOL_OPTION,
                                       "-shared",
                                       "-fPIC",
                                       "-Wl,-z,defs"};
    for (size_t i = 0; i < sizeof more / sizeof *more; ++i) {
        add_option(made, more[i]);
    }
    snprintf(made->name, sizeof made->name, "-DICS_KERNELS_NAME=\"%s\"", instruction_set);
    add_option(made, made->name);
    for (int stage = 0; stage < ICS_STAGES; ++stage) {
        const char *name = ics_stage_name((ics_stage)stage);
        if (made->texts[stage] == NULL) {
            continue;
        }
        snprintf(made->headers[stage], OPTION_SIZE, "-DICE_CUSTOM_%s=\"custom/%s.h\"", name, name);
        add_option(made, made->headers[stage]);
    }
    add_choices(made);
    if (!made->wanted->tabulates) {
        add_option(made, "-DICS_KERNELS_TABULATE=0");
    }
    if (made->wanted->check) {
        add_option(made, "-DICE_CHECK");
        add_option(made, "-Og"); /* is compiled in half of the time */
    }
}

/* Machines that share a cache may be of different kinds: an object for one kind of processor is of
 * no use to another one, and one that was linked with a later C library may not load. */
static int make_key(recipe *made)
{
    struct utsname machine;
    if (uname(&machine) != 0) {
        return -1;
    }
    const size_t most =
        2 * ics_cpu_source_count + OPTIONS_MOST + ICS_STAGES + made->compiler.word_count + 3;
    ICS_FREES ics_cache_part *parts = calloc(most, sizeof *parts);
    if (parts == NULL) {
        return -1;
    }
    size_t count = 0;
    for (size_t i = 0; i < ics_cpu_source_count; ++i) {
        parts[count++] = ics_cache_text(ics_cpu_sources[i].name);
        parts[count++] = ics_cache_text(ics_cpu_sources[i].text);
    }
    for (size_t i = 0; i < made->option_count; ++i) {
        parts[count++] = ics_cache_text(made->options[i]);
    }
    for (int stage = 0; stage < ICS_STAGES; ++stage) {
        if (made->texts[stage] != NULL) {
            parts[count++] = ics_cache_text(made->texts[stage]);
        }
    }
    for (size_t i = 0; i < made->compiler.word_count; ++i) {
        parts[count++] = ics_cache_text(made->compiler.command[i]);
    }
    parts[count++] = ics_cache_text(made->compiler.version);
    parts[count++] = ics_cache_text(machine.machine);
    parts[count++] = ics_cache_text(gnu_get_libc_version());
    return ics_cache_key(parts, count, made->key);
}

static void recipe_free(recipe *made)
{
    for (int stage = 0; stage < ICS_STAGES; ++stage) {
        free(made->texts[stage]);
    }
    ics_compiler_destroy(&made->compiler);
}

static int recipe_make(const ics_custom_wanted *wanted, recipe *made, icestream_error *error)
{
    *made = (recipe){.wanted = wanted};
    for (int stage = 0; stage < ICS_STAGES; ++stage) {
        if (wanted->headers[stage] != NULL) {
            ICS_TRY(ics_stage_header_read(wanted->headers[stage], &made->texts[stage], error));
        }
    }
    ICS_TRY(ics_compiler_create(&made->compiler, error));
    add_options(made);
    return make_key(made) == 0 ? ICESTREAM_OK : out_of_memory(error);
}

/* ---- files ---------------------------------------------------------------------------------- */

static int cannot_write(const char *path, icestream_error *error)
{
    const int cause = errno;
    return ics_error_set_cause(error, ICESTREAM_E_CONFIG, cause, "%s: cannot write: %s", path,
                               strerror(cause));
}

/* Writes a source below a folder, and makes the folders in its name. `shown`: the name of the
 * source in messages of the compiler; NULL: its path. */
static int write_source(const char *folder, const char *name, const char *text, const char *shown,
                        icestream_error *error)
{
    char path[PATH_MAX];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path) {
        errno = ENAMETOOLONG;
        return cannot_write(folder, error);
    }
    char *slash = strrchr(path, '/');
    *slash = 0;
    const int result = ics_disk_make_folders(path, 0700);
    *slash = '/';
    if (result != 0) {
        return cannot_write(path, error);
    }
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        return cannot_write(path, error);
    }
    if (shown != NULL) {
        fputs("#line 1 \"", file);
        for (const char *c = shown; *c; ++c) {
            fprintf(file, *c == '"' || *c == '\\' ? "\\%c" : *c == '\n' ? "\\n" : "%c", *c);
        }
        fputs("\"\n", file);
    }
    const bool good = fputs(text, file) >= 0;
    return fclose(file) == 0 && good ? 0 : cannot_write(path, error);
}

/* ---- entries of the cache ------------------------------------------------------------------- */

/* Whether the entry at `path` is complete: an object followed by its digest, which dlopen ignores.
 * The check is needed because loading a damaged object can end the process. */
static bool is_sound(const char *path)
{
    char key[KEY_DIGITS + 1];
    ICS_FREES char *bytes = NULL;
    size_t size = 0;
    if (ics_cache_read(path, &bytes, &size, NULL) != 0) {
        return false;
    }
    const ics_cache_part part = {bytes, size >= KEY_DIGITS ? size - KEY_DIGITS : 0};
    return size > KEY_DIGITS && ics_cache_key(&part, 1, key) == 0 &&
           memcmp(bytes + part.size, key, KEY_DIGITS) == 0;
}

/* Writes the entry `path`: the object and its digest. */
static int store(const char *object, const char *path, icestream_error *error)
{
    char key[KEY_DIGITS + 1];
    ICS_FREES char *bytes = NULL;
    size_t size = 0;
    ICS_TRY(ics_cache_read(object, &bytes, &size, error));
    const ics_cache_part digested = {bytes, size};
    const ics_disk_part parts[] = {{bytes, size}, {key, KEY_DIGITS}};
    if (ics_cache_key(&digested, 1, key) != 0) {
        return out_of_memory(error);
    }
    return ics_disk_write_whole(path, parts, sizeof parts / sizeof *parts) == 0
               ? ICESTREAM_OK
               : cannot_write(path, error);
}

static int load(const char *path, ics_custom_kernels *out, icestream_error *error)
{
    out->object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    out->kernels = out->object != NULL ? dlsym(out->object, SYMBOL) : NULL;
    if (out->kernels != NULL) {
        return 0;
    }
    const char *reason = dlerror();
    return ics_error_set(error, ICESTREAM_E_CONFIG,
                         "cannot load the compiled stage header: %s; XDG_CACHE_HOME can name a "
                         "folder for such files",
                         reason != NULL ? reason : path);
}

/* ---- compiling ------------------------------------------------------------------------------ */

/* Writes a line of the compiler, without the name of the temporary folder. */
static void print_line(FILE *out, const char *line, const char *end, const char *folder)
{
    const size_t length = strlen(folder);
    fputc('\n', out);
    for (const char *c = line; c < end;) {
        if (strncmp(c, folder, length) == 0) {
            c += length;
        } else {
            fputc(*c++, out);
        }
    }
}

/* Writes what the compiler printed. Lines that only say which file includes which are left out,
 * because the user knows nothing about the files of the kernels. */
static void print_output(FILE *out, const char *output, const char *folder)
{
    char inside[PATH_MAX];
    snprintf(inside, sizeof inside, "%s/", folder);
    for (const char *line = output; *line;) {
        const char *end = line + strcspn(line, "\n");
        const char *begin = line + strspn(line, " ");
        const bool is_include_line = strncmp(begin, "In file included from ", 22) == 0 ||
                                     (begin > line && strncmp(begin, "from ", 5) == 0);
        if (!is_include_line && end > line) {
            print_line(out, line, end, inside);
        }
        line = end + (*end == '\n');
    }
}

/* Reports that the headers do not compile, with what the compiler printed. */
static int report(const recipe *made, const char *output, const char *folder,
                  icestream_error *error)
{
    ICS_FREES char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        return out_of_memory(error);
    }
    const char *gap = "the compiler does not accept ";
    for (int stage = 0; stage < ICS_STAGES; ++stage) {
        if (made->wanted->headers[stage] != NULL) {
            fprintf(out, "%s%s", gap, made->wanted->headers[stage]);
            gap = ", ";
        }
    }
    fputc(':', out);
    print_output(out, output, folder);
    return fclose(out) == 0 ? ics_error_set(error, ICESTREAM_E_CONFIG, "%s", text)
                            : out_of_memory(error);
}

static int write_sources(const recipe *made, const char *folder, icestream_error *error)
{
    for (size_t i = 0; i < ics_cpu_source_count; ++i) {
        ICS_TRY(
            write_source(folder, ics_cpu_sources[i].name, ics_cpu_sources[i].text, NULL, error));
    }
    for (int stage = 0; stage < ICS_STAGES; ++stage) {
        char name[64];
        snprintf(name, sizeof name, "custom/%s.h", ics_stage_name((ics_stage)stage));
        if (made->texts[stage] != NULL) {
            ICS_TRY(write_source(folder, name, made->texts[stage], made->wanted->headers[stage],
                                 error));
        }
    }
    return ICESTREAM_OK;
}

static void announce_compiler(const recipe *made)
{
    const ics_stage_compiling *compiling = &made->wanted->compiling;
    char names[ICS_STAGE_GUARD_TEXT], line[ICS_STAGE_GUARD_TEXT + 512];
    ics_stage_guard_names(made->wanted->headers, names);
    snprintf(line, sizeof line,
             "'%.200s' compiles the kernels%s%s%s; the next run with the same %s finds them in the "
             "cache",
             made->compiler.command[0], made->wanted->check ? " with checks" : "",
             names[0] != '\0' ? " for " : "", names, names[0] != '\0' ? "text" : "ice");
    if (compiling->compiles != NULL) {
        compiling->compiles(compiling->user, line);
    } else if (ics_stage_guard_catches()) {
        fprintf(stderr, "%s\n", line);
    }
}

/* Compiles what was written to the folder into `object`. */
static int compile(const recipe *made, const char *folder, const char *object,
                   icestream_error *error)
{
    char source[PATH_MAX];
    snprintf(source, sizeof source, "%s/kernels/cpu/isa/kernels.c", folder);
    const char *arguments[OPTIONS_MOST + 8];
    size_t count = 0;
    for (size_t i = 0; i < made->option_count; ++i) {
        arguments[count++] = made->options[i];
    }
    const char *const files[] = {"-I", folder, "-o", object, source, "-lm"};
    for (size_t i = 0; i < sizeof files / sizeof *files; ++i) {
        arguments[count++] = files[i];
    }
    ICS_FREES char *output = NULL;
    const int status = ics_compiler_run(&made->compiler, arguments, count, &output, error);
    return status != ICESTREAM_OK && output != NULL ? report(made, output, folder, error) : status;
}

/* Compiles in a temporary folder inside the cache, and makes the cache entry `path`. */
static int build(const recipe *made, const char *directory, const char *path,
                 icestream_error *error)
{
    /* 128 bytes are more than the longest name in this folder. */
    char folder[PATH_MAX - 128], object[PATH_MAX];
    if ((size_t)snprintf(folder, sizeof folder, "%s/build-XXXXXX", directory) >= sizeof folder) {
        errno = ENAMETOOLONG;
    } else if (mkdtemp(folder) != NULL) {
        snprintf(object, sizeof object, "%s/kernels.so", folder);
        int result = write_sources(made, folder, error);
        if (result == 0) {
            announce_compiler(made);
            result = compile(made, folder, object, error);
        }
        if (result == 0) {
            result = store(object, path, error);
        }
        ics_cache_remove_folder(folder);
        return result;
    }
    return cannot_write(directory, error);
}

static int find_or_build(const recipe *made, ics_custom_kernels *out, icestream_error *error)
{
    char directory[PATH_MAX - 256], path[PATH_MAX];
    if (ics_cache_directory_somewhere(directory, sizeof directory) != 0) {
        return ics_error_set(
            error, ICESTREAM_E_CONFIG,
            "a stage header of one's own or device.check needs a folder to compile "
            "in: cannot write to $XDG_CACHE_HOME, ~/.cache or $TMPDIR");
    }
    snprintf(path, sizeof path, "%s/%s.so", directory, made->key);
    /* Another process may remove the entry before it is loaded. */
    int status = ICESTREAM_E_CONFIG;
    for (int attempt = 0; status != ICESTREAM_OK && attempt < ATTEMPTS; ++attempt) {
        if (is_sound(path)) {
            ics_cache_used(path);
        } else {
            ICS_TRY(build(made, directory, path, error));
            ics_cache_prune(directory);
        }
        status = load(path, out, error);
        if (status != ICESTREAM_OK && access(path, F_OK) == 0) {
            return status;
        }
    }
    return status;
}

/* ---- together ------------------------------------------------------------------------------- */

int ics_custom_kernels_create(const ics_custom_wanted *wanted, ics_custom_kernels **out,
                              icestream_error *error)
{
    recipe made;
    ics_custom_kernels *kernels = calloc(1, sizeof *kernels);
    *out = NULL;
    if (kernels == NULL) {
        return out_of_memory(error);
    }
    int status = recipe_make(wanted, &made, error);
    if (status == ICESTREAM_OK) {
        status = find_or_build(&made, kernels, error);
    }
    recipe_free(&made);
    if (status != ICESTREAM_OK) {
        ics_custom_kernels_destroy(kernels);
        kernels = NULL;
    }
    *out = kernels;
    return status;
}

void ics_custom_kernels_destroy(ics_custom_kernels *custom)
{
    if (custom == NULL) {
        return;
    }
    if (custom->object != NULL) {
        dlclose(custom->object);
    }
    free(custom);
}

const ics_cpu_kernels *ics_custom_kernels_get(const ics_custom_kernels *custom)
{
    return custom->kernels;
}
