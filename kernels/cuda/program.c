#include "kernels/cuda/program.h"

#include "base/clock.h"
#include "base/error.h"
#include "kernels/cuda/nvrtc.h"
#include "kernels/cuda/program_cache.h"
#include "kernels/cuda/program_share.h"
#include "kernels/cuda/recipe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- resources of kernels -------------------------------------------------------------------- */

/* Returns the number of kernels in a log of the compiler. */
static size_t count_kernels(const char *log)
{
    size_t count = 0;
    for (const char *at = log; (at = strstr(at, "Compiling entry function '")) != NULL; ++at) {
        ++count;
    }
    return count;
}

/* Returns the number in front of a unit, in a line such as "Used 40 registers, 2048 bytes smem"; 0
 * if the line does not have this unit. */
static uint32_t number_before(const char *line, const char *unit)
{
    const char *at = strstr(line, unit);
    while (at != NULL && at > line && at[-1] == ' ') {
        --at;
    }
    while (at != NULL && at > line && at[-1] >= '0' && at[-1] <= '9') {
        --at;
    }
    return at != NULL ? (uint32_t)strtoul(at, NULL, 10) : 0;
}

/* Reads a line of ptxas -v. The lines of one kernel are:
 *   ptxas info    : Compiling entry function 'gpu_fly' for 'sm_90'
 *   ptxas info    : Function properties for gpu_fly
 *   ptxas         .     400 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
 *   ptxas info    : Used 40 registers, 400 bytes cumulative stack size, 96 bytes smem
 *
 * Properties of other functions may follow; the cumulative size contains their stacks. *is_own says
 * whether the last properties were those of the kernel itself. */
static void read_line(const char *line, ics_kernel_resources *kernel, bool *is_own)
{
    static const char function[] = "Function properties for ";
    const char *name = strstr(line, function);
    if (name != NULL) {
        *is_own = strcmp(name + sizeof function - 1, kernel->name) == 0;
    } else if (strstr(line, "bytes stack frame") != NULL && *is_own) {
        kernel->stack_bytes = number_before(line, "bytes stack frame");
        kernel->spill_stores = number_before(line, "bytes spill stores");
        kernel->spill_loads = number_before(line, "bytes spill loads");
    } else if (strstr(line, ": Used ") != NULL) {
        kernel->registers = number_before(line, "registers");
        kernel->shared_bytes = number_before(line, "bytes smem");
        const uint32_t deepest = number_before(line, "bytes cumulative stack size");
        if (deepest > kernel->stack_bytes) {
            kernel->stack_bytes = deepest;
        }
    }
}

/* Reads the resources of all kernels from a log, which is changed. Returns 0, or -1 if memory is
 * short. */
static int read_resources(char *log, ics_program *program)
{
    const size_t room = log != NULL ? count_kernels(log) : 0;
    program->kernels = calloc(room + 1, sizeof *program->kernels);
    if (program->kernels == NULL) {
        return -1;
    }
    ics_kernel_resources *kernel = NULL;
    bool is_own = false;
    char *rest = NULL;
    for (char *line = log != NULL ? strtok_r(log, "\n", &rest) : NULL; line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        char name[sizeof kernel->name];
        const char *entry = strstr(line, "Compiling entry function '");
        if (entry != NULL && program->kernel_count < room &&
            sscanf(entry, "Compiling entry function '%63[^']", name) == 1) {
            kernel = &program->kernels[program->kernel_count++];
            snprintf(kernel->name, sizeof kernel->name, "%s", name);
        } else if (kernel != NULL) {
            read_line(line, kernel, &is_own);
        }
    }
    return 0;
}

/* ---- compiling ------------------------------------------------------------------------------- */

/* What the compiler is asked to make. */
typedef struct target {
    int architecture;
    bool as_ptx;
} target;

/* Returns the target for an architecture: PTX for the newest one that NVRTC knows, if the
 * architecture is newer. */
static target best_target(const ics_nvrtc *nvrtc, int architecture, bool as_ptx)
{
    const int newest = ics_nvrtc_newest(nvrtc);
    if (architecture > newest) {
        return (target){newest, true};
    }
    return (target){architecture, as_ptx};
}

/* Reports that kernels do not compile, with the compiler's lines, which begin with file and line.
 */
static int report(const char *reason, const char *log, icestream_error *error)
{
    const char *lines = log != NULL ? log : "";
    size_t length = strlen(lines);
    while (length > 0 && lines[length - 1] == '\n') {
        --length;
    }
    if (length == 0) {
        return ics_error_set(error, ICESTREAM_E_CONFIG, "kernels do not compile: %s", reason);
    }
    const char *hint = strstr(lines, "could not open source file") != NULL
                           ? "\na stage header can include the headers of icestream "
                             "(\"stages/...\"), no other files"
                           : "";
    return ics_error_set(error, ICESTREAM_E_CONFIG, "kernels do not compile (%s)%s\n%.*s", reason,
                         hint, (int)length, lines);
}

static int compile(const ics_nvrtc *nvrtc, const ics_recipe *recipe, target wanted,
                   ics_program *program, icestream_error *error)
{
    char architecture[64];
    snprintf(architecture, sizeof architecture, "--gpu-architecture=%s_%d",
             wanted.as_ptx ? "compute" : "sm", wanted.architecture);
    const char *options[ICS_RECIPE_OPTIONS + 1] = {architecture};
    size_t count = 1;
    for (size_t i = 0; i < recipe->option_count; ++i) {
        options[count++] = recipe->options[i];
    }
    const ics_nvrtc_job job = {.source = recipe->source,
                               .headers = recipe->headers,
                               .header_count = recipe->header_count,
                               .options = options,
                               .option_count = count,
                               .as_ptx = wanted.as_ptx};
    ics_nvrtc_output output;
    icestream_error reason = {.status = ICESTREAM_OK};
    int status = ics_nvrtc_compile(nvrtc, &job, &output, &reason);
    if (status != ICESTREAM_OK) {
        status = report(reason.text, output.log, error);
        free(output.image);
    } else {
        program->image = output.image;
        program->bytes = output.bytes;
        program->is_ptx = wanted.as_ptx;
        program->origin = ICS_PROGRAM_COMPILED;
        snprintf(program->compiler, sizeof program->compiler, "%s", ics_nvrtc_version(nvrtc));
        if (read_resources(output.log, program) != 0 ||
            ics_recipe_key(recipe, ics_nvrtc_version(nvrtc), wanted.architecture, wanted.as_ptx,
                           program->key) != 0) {
            status = ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory");
        }
    }
    free(output.log);
    return status;
}

/* ---- looking up ------------------------------------------------------------------------------ */

/* Reads the program of a target from a folder. Returns 0, or -1 if the folder does not have it. */
static int look_up(const ics_recipe *recipe, const char *directory, const char *compiler,
                   target wanted, ics_program *program)
{
    char key[65];
    if (ics_recipe_key(recipe, compiler, wanted.architecture, wanted.as_ptx, key) != 0) {
        return -1;
    }
    return ics_program_cache_read(directory, key, program);
}

/* Reads the best program in a folder. This is the cubin for the architecture. If the folder does
 * not have it, and NVRTC does not know the architecture, it is the PTX that NVRTC would make.
 * Without NVRTC, it is PTX for this architecture or for the newest one below. */
static int look_in(const ics_recipe *recipe, const char *directory, const ics_nvrtc *nvrtc,
                   bool is_own, int architecture, ics_program *program)
{
    enum { OLDEST = 50 };
    char compiler[64];
    if (is_own && nvrtc != NULL) {
        snprintf(compiler, sizeof compiler, "%s", ics_nvrtc_version(nvrtc));
    } else if (ics_program_cache_read_compiler(directory, compiler, sizeof compiler) != 0) {
        return -1;
    }
    int found = look_up(recipe, directory, compiler, (target){architecture, false}, program);
    if (found != 0 && nvrtc != NULL) {
        const target wanted = best_target(nvrtc, architecture, false);
        if (wanted.as_ptx) {
            found = look_up(recipe, directory, compiler, wanted, program);
        }
    }
    for (int older = architecture; found != 0 && nvrtc == NULL && older >= OLDEST; --older) {
        found = look_up(recipe, directory, compiler, (target){older, true}, program);
    }
    if (found == 0) {
        snprintf(program->compiler, sizeof program->compiler, "%s", compiler);
    }
    return found;
}

/* Looks in the cache of the user, then in the installed folders. */
static int find(const ics_recipe *recipe, const ics_nvrtc *nvrtc, int architecture,
                ics_program *program)
{
    char directory[4096];
    if (ics_cache_directory(directory, sizeof directory) == 0 &&
        look_in(recipe, directory, nvrtc, true, architecture, program) == 0) {
        program->origin = ICS_PROGRAM_CACHED;
        return 0;
    }
    for (unsigned i = 0; ics_program_cache_installed_directory(i, directory, sizeof directory);
         ++i) {
        if (look_in(recipe, directory, nvrtc, false, architecture, program) == 0) {
            program->origin = ICS_PROGRAM_INSTALLED;
            return 0;
        }
    }
    return -1;
}

/* ---- programs -------------------------------------------------------------------------------- */

/* Writes the program to the cache for later runs. Returns whether the cache has it: if not, a later
 * run compiles again. */
static bool remember(const ics_nvrtc *nvrtc, const ics_program *program)
{
    char directory[4096];
    if (ics_cache_directory(directory, sizeof directory) != 0 ||
        ics_program_cache_write(directory, program) != 0) {
        return false;
    }
    ics_program_cache_write_compiler(directory, ics_nvrtc_version(nvrtc));
    return true;
}

/* Removes old entries of the cache. A run calls this even if it compiled nothing, because the
 * choices of `auto` are entries, too. */
static void prune(void)
{
    char directory[4096];
    if (ics_cache_directory(directory, sizeof directory) == 0) {
        ics_cache_prune(directory);
    }
}

/* *in_cache: whether a cache has the program afterwards. */
static int find_or_compile(const ics_program_options *options, const ics_recipe *recipe,
                           ics_program *program, bool *in_cache, icestream_error *error)
{
    ics_nvrtc *nvrtc = NULL;
    icestream_error missing = {.status = ICESTREAM_OK};
    const bool can_compile =
        ics_nvrtc_create(options->architecture, &nvrtc, &missing) == ICESTREAM_OK;
    int status = ICESTREAM_OK;
    *in_cache = options->use_cache && find(recipe, nvrtc, options->architecture, program) == 0;
    if (*in_cache) {
        prune();
    } else if (can_compile) {
        status = compile(nvrtc, recipe, best_target(nvrtc, options->architecture, false), program,
                         error);
        if (status == ICESTREAM_OK && options->use_cache) {
            *in_cache = remember(nvrtc, program);
            prune();
        }
    } else {
        status = ics_error_set(
            error, ICESTREAM_E_CONFIG,
            "cannot compile the kernels of this run for sm_%d: NVRTC cannot be loaded (%s), and "
            "%s; expected NVRTC of CUDA 12 or 13 (a part of the CUDA toolkit, packages "
            "cuda-nvrtc-...), or a configuration whose kernels were compiled when icestream was "
            "installed (target `kernels`)",
            options->architecture, missing.text,
            options->use_cache ? "no cache has them" : "caches are switched off");
    }
    ics_nvrtc_destroy(nvrtc);
    return status;
}

/* Lets one thread at a time make a program. The next one then finds it in the cache, or copies it
 * if no cache could take it. */
static int share_or_make(const ics_program_options *options, const ics_recipe *recipe,
                         ics_program *program, icestream_error *error)
{
    char key[65];
    const bool shares =
        options->use_cache &&
        ics_recipe_key(recipe, "this process", options->architecture, false, key) == 0;
    if (shares && ics_program_share_begin(key, program)) {
        return ICESTREAM_OK;
    }
    bool in_cache = false;
    const int status = find_or_compile(options, recipe, program, &in_cache, error);
    if (shares) {
        ics_program_share_end(key, status == ICESTREAM_OK && !in_cache ? program : NULL);
    }
    return status;
}

int ics_program_create(const ics_program_options *options, ics_program **out,
                       icestream_error *error)
{
    const double start = ics_clock_seconds();
    *out = NULL;
    ics_program *program = calloc(1, sizeof *program);
    if (program == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory");
    }
    ics_recipe recipe;
    int status = ics_recipe_make(options, &recipe, error);
    if (status == ICESTREAM_OK) {
        status = share_or_make(options, &recipe, program, error);
    }
    ics_recipe_free(&recipe);
    if (status != ICESTREAM_OK) {
        ics_program_destroy(program);
        return status;
    }
    program->seconds = ics_clock_seconds() - start;
    *out = program;
    return ICESTREAM_OK;
}

int ics_program_check(const ics_program_options *options, icestream_error *error)
{
    bool has_custom = false;
    for (int i = 0; options->custom != NULL && i < ICS_STAGES; ++i) {
        has_custom = has_custom || options->custom[i] != NULL;
    }
    ics_nvrtc *nvrtc = NULL;
    const bool can_compile = ics_nvrtc_create(options->architecture, &nvrtc, NULL) == ICESTREAM_OK;
    ics_nvrtc_destroy(nvrtc);
    if (can_compile && !has_custom) {
        return ICESTREAM_OK;
    }
    ics_program *program = NULL;
    const int status = ics_program_create(options, &program, error);
    ics_program_destroy(program);
    return status;
}

int ics_program_digest(const ics_program_options *options, char digest[65], icestream_error *error)
{
    ics_nvrtc *nvrtc = NULL; /* stays NULL if the library is missing */
    (void)ics_nvrtc_create(options->architecture, &nvrtc, NULL);
    ics_recipe recipe;
    int status = ics_recipe_make(options, &recipe, error);
    if (status == ICESTREAM_OK &&
        ics_recipe_key(&recipe, nvrtc != NULL ? ics_nvrtc_version(nvrtc) : "no compiler",
                       options->architecture, false, digest) != 0) {
        status = ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory");
    }
    ics_recipe_free(&recipe);
    ics_nvrtc_destroy(nvrtc);
    return status;
}

void ics_program_destroy(ics_program *program)
{
    if (program == NULL) {
        return;
    }
    free(program->image);
    free(program->kernels);
    free(program);
}

const ics_kernel_resources *ics_program_kernel(const ics_program *program, const char *name)
{
    for (size_t i = 0; i < program->kernel_count; ++i) {
        if (strcmp(program->kernels[i].name, name) == 0) {
            return &program->kernels[i];
        }
    }
    return NULL;
}

/* ---- filling a cache ------------------------------------------------------------------------- */

static int store(const ics_nvrtc *nvrtc, const ics_recipe *recipe, target wanted,
                 const char *directory, ics_program *program, icestream_error *error)
{
    if (look_up(recipe, directory, ics_nvrtc_version(nvrtc), wanted, program) == 0) {
        return ICESTREAM_OK;
    }
    ICS_TRY(compile(nvrtc, recipe, wanted, program, error));
    if (ics_program_cache_write(directory, program) != 0 ||
        ics_program_cache_write_compiler(directory, ics_nvrtc_version(nvrtc)) != 0) {
        const int cause = errno;
        return ics_error_set_cause(error, ICESTREAM_E_CONFIG, cause, "%s: cannot write: %s",
                                   directory, strerror(cause));
    }
    return ICESTREAM_OK;
}

int ics_program_store(const ics_program_options *options, bool as_ptx, const char *directory,
                      icestream_error *error)
{
    icestream_error missing = {.status = ICESTREAM_OK};
    ics_nvrtc *nvrtc;
    if (ics_nvrtc_create(options->architecture, &nvrtc, &missing) != ICESTREAM_OK) {
        return ics_error_set(error, missing.status, "NVRTC cannot be loaded: %s", missing.text);
    }
    ics_program *program = calloc(1, sizeof *program);
    ics_recipe recipe;
    int status = ics_recipe_make(options, &recipe, error);
    if (status == ICESTREAM_OK && program == NULL) {
        status = ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory");
    } else if (status == ICESTREAM_OK) {
        status = store(nvrtc, &recipe, best_target(nvrtc, options->architecture, as_ptx), directory,
                       program, error);
    }
    ics_recipe_free(&recipe);
    ics_program_destroy(program);
    ics_nvrtc_destroy(nvrtc);
    return status;
}
