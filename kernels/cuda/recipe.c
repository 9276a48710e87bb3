#include "kernels/cuda/recipe.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "kernels/cuda/sources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int out_of_memory(icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory");
}

/* ---- the user's headers --------------------------------------------------------------------- */

static int add_custom(ics_recipe *recipe, ics_stage stage, const char *path, icestream_error *error)
{
    if (strpbrk(path, "\"\n") != NULL) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "%s: expected a name without quotes and line breaks", path);
    }
    for (size_t i = 0; i < recipe->header_count; ++i) {
        if (strcmp(recipe->headers[i].name, path) != 0) {
            continue;
        }
        if (i >= ics_embedded_source_count) {
            return ICESTREAM_OK; /* one file for two stages */
        }
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "%s: is the name of a header that icestream has itself; expected "
                             "another one, or an absolute path",
                             path);
    }
    ICS_TRY(ics_stage_header_read(path, &recipe->custom[stage], error));
    recipe->headers[recipe->header_count++] =
        (ics_embedded_source){.name = path, .text = recipe->custom[stage]};
    return 0;
}

/* ---- the main file -------------------------------------------------------------------------- */

static int write_source(const ics_program_options *options, ics_recipe *recipe)
{
    size_t bytes;
    FILE *file = open_memstream(&recipe->source, &bytes);
    if (file == NULL) {
        return -1;
    }
    for (int stage = 0; stage < ICS_STAGES && options->custom != NULL; ++stage) {
        if (options->custom[stage] != NULL) {
            fprintf(file, "#define ICE_CUSTOM_%s \"%s\"\n", ics_stage_name((ics_stage)stage),
                    options->custom[stage]);
        }
    }
    fprintf(file, "%s#include \"%s\"\n", options->definitions, options->entry);
    const bool good = !ferror(file);
    return fclose(file) == 0 && good ? 0 : -1;
}

static void add_options(ics_recipe *recipe, bool fast_math)
{
    const char *const options[] = {
        "-std=c++17",
        "--fmad=false", /* every schedule must give the same bits */
        "--disable-warnings",
        "--diag-error=940", /* a function that ends without a return would give any number */
        fast_math ? "--ftz=true" : "--ftz=false",
        fast_math ? "--prec-div=false" : "--prec-div=true",
        fast_math ? "--prec-sqrt=false" : "--prec-sqrt=true",
        "--ptxas-options=-v", /* reports registers and spills */
        fast_math ? "-DICE_MATH_FAST" : NULL,
    };
    for (size_t i = 0; i < sizeof options / sizeof *options && options[i] != NULL; ++i) {
        recipe->options[recipe->option_count++] = options[i];
    }
}

static const char *text_of(const ics_recipe *recipe, const char *name)
{
    for (size_t i = 0; i < recipe->header_count; ++i) {
        if (strcmp(recipe->headers[i].name, name) == 0) {
            return recipe->headers[i].text;
        }
    }
    return "";
}

/* Computes the digest. It covers the contents of the user's headers and not their paths: a path
 * does not change the code, and a program that an installation compiled from another folder must be
 * found. */
static int make_digest(const ics_program_options *options, ics_recipe *recipe)
{
    const size_t count = 2 + 2 * (ics_embedded_source_count + ICS_STAGES) + recipe->option_count;
    ICS_FREES ics_cache_part *parts = calloc(count, sizeof *parts);
    if (parts == NULL) {
        return -1;
    }
    size_t part = 0;
    parts[part++] = ics_cache_text(options->definitions);
    parts[part++] = ics_cache_text(options->entry);
    for (size_t i = 0; i < ics_embedded_source_count; ++i) {
        parts[part++] = ics_cache_text(ics_embedded_sources[i].name);
        parts[part++] = ics_cache_text(ics_embedded_sources[i].text);
    }
    for (int stage = 0; stage < ICS_STAGES && options->custom != NULL; ++stage) {
        if (options->custom[stage] != NULL) {
            parts[part++] = ics_cache_text(ics_stage_name((ics_stage)stage));
            parts[part++] = ics_cache_text(text_of(recipe, options->custom[stage]));
        }
    }
    for (size_t i = 0; i < recipe->option_count; ++i) {
        parts[part++] = ics_cache_text(recipe->options[i]);
    }
    return ics_cache_key(parts, part, recipe->digest);
}

/* ---- together ------------------------------------------------------------------------------- */

static bool is_embedded(const char *name)
{
    for (size_t i = 0; i < ics_embedded_source_count; ++i) {
        if (strcmp(ics_embedded_sources[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

int ics_recipe_make(const ics_program_options *options, ics_recipe *recipe, icestream_error *error)
{
    *recipe = (ics_recipe){0};
    if (!is_embedded(options->entry)) {
        return ics_error_set(error, ICESTREAM_E_CONFIG, "this program has no kernels %s",
                             options->entry);
    }
    recipe->headers = calloc(ics_embedded_source_count + ICS_STAGES, sizeof *recipe->headers);
    if (recipe->headers == NULL) {
        return out_of_memory(error);
    }
    recipe->header_count = ics_embedded_source_count;
    memcpy(recipe->headers, ics_embedded_sources,
           ics_embedded_source_count * sizeof *recipe->headers);
    for (int stage = 0; stage < ICS_STAGES && options->custom != NULL; ++stage) {
        if (options->custom[stage] != NULL) {
            ICS_TRY(add_custom(recipe, (ics_stage)stage, options->custom[stage], error));
        }
    }
    add_options(recipe, options->fast_math);
    if (write_source(options, recipe) != 0 || make_digest(options, recipe) != 0) {
        return out_of_memory(error);
    }
    return 0;
}

void ics_recipe_free(ics_recipe *recipe)
{
    free(recipe->source);
    free(recipe->headers);
    for (int stage = 0; stage < ICS_STAGES; ++stage) {
        free(recipe->custom[stage]);
    }
    *recipe = (ics_recipe){0};
}

int ics_recipe_key(const ics_recipe *recipe, const char *compiler, int architecture, bool as_ptx,
                   char key[65])
{
    char target[32];
    snprintf(target, sizeof target, "%s_%d", as_ptx ? "compute" : "sm", architecture);
    const ics_cache_part parts[] = {ics_cache_text(recipe->digest), ics_cache_text(compiler),
                                    ics_cache_text(target)};
    return ics_cache_key(parts, sizeof parts / sizeof *parts, key);
}
