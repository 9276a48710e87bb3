#include "kernels/cpu/custom.h"

#include "kernels/cache/cache.h"
#include "kernels/cpu/compiler.h"
#include "kernels/cpu/options.h"
#include "kernels/cpu/sources.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct ics_custom_kernels {
    void *object; /* of dlopen */
    const ics_cpu_kernels *kernels;
};

/* What the kernels are called in the object. */
#define SYMBOL        "ics_cpu_kernels_custom"
#define SYMBOL_OPTION "-DICS_KERNELS_SYMBOL=ics_cpu_kernels_custom"

enum { OPTIONS_MOST = 48, OPTION_SIZE = 64, KEY_DIGITS = 64, ATTEMPTS = 5 };

/* Everything that an object is made from. */
typedef struct recipe {
    const char *const *paths; /* [ICS_STAGES] of the user's headers */
    char *texts[ICS_STAGES];  /* what is in them */
    ics_compiler compiler;
    const char *options[OPTIONS_MOST]; /* without names of folders */
    size_t option_count;
    char headers[ICS_STAGES][OPTION_SIZE]; /* -DICE_CUSTOM_scatter="custom/scatter.h" */
    char name[OPTION_SIZE];                /* -DICS_KERNELS_NAME="avx2" */
    char key[KEY_DIGITS + 1];
} recipe;

static int out_of_memory(char *why, size_t why_size)
{
    snprintf(why, why_size, "out of memory for a stage header");
    return -1;
}

/* ---- the recipe ----------------------------------------------------------------------------- */

static void add_option(recipe *made, const char *option)
{
    made->options[made->option_count++] = option;
}

/* The options of cmake/CpuKernels.cmake, and what makes a shared object of them. */
static void add_options(recipe *made, const char *instruction_set)
{
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
    /* Without the second a header that lacks its function compiles, and fails when it is loaded. */
    static const char *const more[] = {"-std=gnu11",    "-Werror=implicit-function-declaration",
                                       "-D_GNU_SOURCE", SYMBOL_OPTION,
                                       "-shared",       "-fPIC",
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
}

static int make_key(recipe *made)
{
    const size_t most =
        2 * ics_cpu_source_count + OPTIONS_MOST + ICS_STAGES + made->compiler.word_count + 1;
    ics_cache_part *parts = calloc(most, sizeof *parts);
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
    const int result = ics_cache_key(parts, count, made->key);
    free(parts);
    return result;
}

static void recipe_free(recipe *made)
{
    for (int stage = 0; stage < ICS_STAGES; ++stage) {
        free(made->texts[stage]);
    }
    ics_compiler_destroy(&made->compiler);
}

static int recipe_make(const char *const paths[ICS_STAGES], const char *instruction_set,
                       recipe *made, char *why, size_t why_size)
{
    *made = (recipe){.paths = paths};
    for (int stage = 0; stage < ICS_STAGES; ++stage) {
        if (paths[stage] != NULL &&
            ics_stage_header_read(paths[stage], &made->texts[stage], why, why_size) != 0) {
            return -1;
        }
    }
    if (ics_compiler_create(&made->compiler, why, why_size) != 0) {
        return -1;
    }
    add_options(made, instruction_set);
    return make_key(made) == 0 ? 0 : out_of_memory(why, why_size);
}

/* ---- files ---------------------------------------------------------------------------------- */

static int cannot_write(const char *path, char *why, size_t why_size)
{
    snprintf(why, why_size, "%s: cannot write: %s", path, strerror(errno));
    return -1;
}

/* Writes a source below a folder, making the folders in its name. With `shown`, the compiler calls
 * it by that name. */
static int write_source(const char *folder, const char *name, const char *text, const char *shown,
                        char *why, size_t why_size)
{
    char path[PATH_MAX];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path) {
        errno = ENAMETOOLONG;
        return cannot_write(folder, why, why_size);
    }
    for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')) != NULL; ++slash) {
        *slash = 0;
        const int result = mkdir(path, 0700);
        *slash = '/';
        if (result != 0 && errno != EEXIST) {
            return cannot_write(path, why, why_size);
        }
    }
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        return cannot_write(path, why, why_size);
    }
    if (shown != NULL) {
        fputs("#line 1 \"", file);
        for (const char *c = shown; *c; ++c) {
            fprintf(file, *c == '"' || *c == '\\' ? "\\%c" : *c == '\n' ? "\\n" : "%c", *c);
        }
        fputs("\"\n", file);
    }
    const bool good = fputs(text, file) >= 0;
    return fclose(file) == 0 && good ? 0 : cannot_write(path, why, why_size);
}

/* ---- entries of the cache ------------------------------------------------------------------- */

/* An object is followed by its digest, which loading ignores: a damaged file would not fail to load
 * but end the process. */
static bool is_sound(const char *path)
{
    char why[256], key[KEY_DIGITS + 1];
    char *bytes = NULL;
    size_t size = 0;
    if (ics_cache_read(path, &bytes, &size, why, sizeof why) != 0) {
        return false;
    }
    const ics_cache_part part = {bytes, size >= KEY_DIGITS ? size - KEY_DIGITS : 0};
    const bool sound = size > KEY_DIGITS && ics_cache_key(&part, 1, key) == 0 &&
                       memcmp(bytes + part.size, key, KEY_DIGITS) == 0;
    free(bytes);
    return sound;
}

/* Appends the digest and puts the file in its place, complete even if the machine stops. */
static int store(const char *object, const char *path, char *why, size_t why_size)
{
    char key[KEY_DIGITS + 1];
    char *bytes = NULL;
    size_t size = 0;
    if (ics_cache_read(object, &bytes, &size, why, why_size) != 0) {
        return -1;
    }
    const ics_cache_part part = {bytes, size};
    const int result = ics_cache_key(&part, 1, key);
    free(bytes);
    if (result != 0) {
        return out_of_memory(why, why_size);
    }
    FILE *file = fopen(object, "a");
    if (file == NULL) {
        return cannot_write(object, why, why_size);
    }
    const bool good = fputs(key, file) >= 0 && fflush(file) == 0 && fsync(fileno(file)) == 0;
    if (fclose(file) != 0 || !good || rename(object, path) != 0) {
        return cannot_write(path, why, why_size);
    }
    return 0;
}

static int load(const char *path, ics_custom_kernels *out, char *why, size_t why_size)
{
    out->object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    out->kernels = out->object != NULL ? dlsym(out->object, SYMBOL) : NULL;
    if (out->kernels != NULL) {
        return 0;
    }
    const char *reason = dlerror();
    snprintf(why, why_size,
             "cannot load the compiled stage header: %s; XDG_CACHE_HOME can name a folder for such "
             "files",
             reason != NULL ? reason : path);
    return -1;
}

/* ---- compiling ------------------------------------------------------------------------------ */

/* Appends as much as fits; `used` stays below the size. */
static void add(char *why, size_t why_size, size_t *used, const char *text)
{
    while (*text && *used + 1 < why_size) {
        why[(*used)++] = *text++;
    }
}

/* What the compiler said, as it said it, without the way from the kernels to the user's file and
 * without the folder that they are in for the moment. */
static void report(const recipe *made, const char *output, const char *folder, char *why,
                   size_t why_size)
{
    size_t used = 0;
    const char *gap = "the compiler does not accept ";
    for (int stage = 0; stage < ICS_STAGES; ++stage) {
        if (made->paths[stage] != NULL) {
            add(why, why_size, &used, gap);
            add(why, why_size, &used, made->paths[stage]);
            gap = ", ";
        }
    }
    add(why, why_size, &used, ":");
    char inside[PATH_MAX];
    snprintf(inside, sizeof inside, "%s/", folder);
    for (const char *line = output; *line;) {
        const char *end = line + strcspn(line, "\n");
        const char *text = line + strspn(line, " ");
        const bool ics_way = strncmp(text, "In file included from ", 22) == 0 ||
                             (text > line && strncmp(text, "from ", 5) == 0);
        if (!ics_way && end > line && used + 1 < why_size) {
            why[used++] = '\n';
        }
        for (const char *c = line; c < end && !ics_way && used + 1 < why_size;) {
            if (strncmp(c, inside, strlen(inside)) == 0) {
                c += strlen(inside);
            } else {
                why[used++] = *c++;
            }
        }
        line = end + (*end == '\n');
    }
    why[used] = 0;
}

static int write_sources(const recipe *made, const char *folder, char *why, size_t why_size)
{
    for (size_t i = 0; i < ics_cpu_source_count; ++i) {
        if (write_source(folder, ics_cpu_sources[i].name, ics_cpu_sources[i].text, NULL, why,
                         why_size) != 0) {
            return -1;
        }
    }
    for (int stage = 0; stage < ICS_STAGES; ++stage) {
        char name[64];
        snprintf(name, sizeof name, "custom/%s.h", ics_stage_name((ics_stage)stage));
        if (made->texts[stage] != NULL && write_source(folder, name, made->texts[stage],
                                                       made->paths[stage], why, why_size) != 0) {
            return -1;
        }
    }
    return 0;
}

/* Compiles what was written to the folder into `object`. */
static int compile(const recipe *made, const char *folder, const char *object, char *why,
                   size_t why_size)
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
    char *output = NULL;
    const int result = ics_compiler_run(&made->compiler, arguments, count, &output, why, why_size);
    if (result != 0 && output != NULL) {
        report(made, output, folder, why, why_size);
    }
    free(output);
    return result;
}

/* Makes the cache's entry `path` in a folder of its own beside it, so that it can be moved there.
 */
static int build(const recipe *made, const char *directory, const char *path, char *why,
                 size_t why_size)
{
    /* The longest name that is put into this folder is far below the rest of PATH_MAX. */
    char folder[PATH_MAX - 128], object[PATH_MAX];
    if ((size_t)snprintf(folder, sizeof folder, "%s/build-XXXXXX", directory) >= sizeof folder) {
        errno = ENAMETOOLONG;
    } else if (mkdtemp(folder) != NULL) {
        snprintf(object, sizeof object, "%s/kernels.so", folder);
        int result = write_sources(made, folder, why, why_size);
        if (result == 0) {
            result = compile(made, folder, object, why, why_size);
        }
        if (result == 0) {
            result = store(object, path, why, why_size);
        }
        ics_cache_remove_folder(folder);
        return result;
    }
    return cannot_write(directory, why, why_size);
}

static int find_or_build(const recipe *made, ics_custom_kernels *out, char *why, size_t why_size)
{
    char directory[PATH_MAX - 256], path[PATH_MAX];
    if (ics_cache_directory_somewhere(directory, sizeof directory) != 0) {
        snprintf(why, why_size,
                 "a stage header of one's own needs a folder to compile it in: cannot write to "
                 "$XDG_CACHE_HOME, ~/.cache or $TMPDIR");
        return -1;
    }
    snprintf(path, sizeof path, "%s/%s.so", directory, made->key);
    /* Another process may prune the entry away before it is loaded. */
    int result = -1;
    for (int attempt = 0; result != 0 && attempt < ATTEMPTS; ++attempt) {
        if (is_sound(path)) {
            ics_cache_used(path);
        } else {
            if (build(made, directory, path, why, why_size) != 0) {
                return -1;
            }
            ics_cache_prune(directory);
        }
        result = load(path, out, why, why_size);
        if (result != 0 && access(path, F_OK) == 0) {
            return -1;
        }
    }
    return result;
}

/* ---- together ------------------------------------------------------------------------------- */

int ics_custom_kernels_create(const char *const custom[ICS_STAGES], const char *instruction_set,
                              ics_custom_kernels **out, char *why, size_t why_size)
{
    recipe made;
    ics_custom_kernels *kernels = calloc(1, sizeof *kernels);
    *out = NULL;
    if (kernels == NULL) {
        return out_of_memory(why, why_size);
    }
    int result = recipe_make(custom, instruction_set, &made, why, why_size);
    if (result == 0) {
        result = find_or_build(&made, kernels, why, why_size);
    }
    recipe_free(&made);
    if (result != 0) {
        ics_custom_kernels_destroy(kernels);
        return -1;
    }
    *out = kernels;
    return 0;
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
