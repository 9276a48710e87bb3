/* The key graph.tune: a mapping of kernels to their settings, or a file that `icestream-lab
 * sweep --json` wrote, in which the key `tune` has such a mapping. JSON is read as YAML. */
#include "graphs/schedule.h"
#include "pipeline/photons/config/config.h"
#include "pipeline/photons/config/fields.h"
#include "pipeline/photons/config/schema/kinds.def"
#include "pipeline/photons/config/schema/value.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const ics_schema_field tune_fields[] = {
    MEMBER(ics_kernel_tune, "threads", threads,
           MULTIPLE(ICS_TUNE_THREADS_MIN, ICS_TUNE_THREADS_MIN, ICS_TUNE_THREADS_MAX),
           "number of threads in a block"),
    MEMBER(ics_kernel_tune, "blocks_per_multiprocessor", blocks, WHOLE(1, ICS_TUNE_BLOCKS_MAX),
           "number of blocks that a multiprocessor runs at the same time"),
    MEMBER(ics_kernel_tune, "registers", registers,
           WHOLE(ICS_TUNE_REGISTERS_MIN, ICS_TUNE_REGISTERS_MAX),
           "largest number of registers of a thread")};
enum { TUNE_FIELDS = sizeof tune_fields / sizeof *tune_fields };

/* Writes the names of all kernels, with commas between them. */
static void list_kernels(char *text, size_t size)
{
    size_t used = 0;
    for (int i = 0; i < ICS_TUNED_COUNT && used < size; ++i) {
        used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? ", " : "",
                                 ics_tune_word((ics_tuned_kernel)i));
    }
}

/* Reads the settings of one kernel. Whether they fit a default that they do not have is checked
 * later, because graph.block may follow (check.c). */
static int read_kernel(const ics_yaml_node *key, const ics_yaml_node *value, ics_tune *tune,
                       icestream_error *error)
{
    ics_tuned_kernel kernel;
    char text[256];
    if (strncmp(key->text, "gpu_", 4) == 0 || !ics_tune_find(key->text, &kernel)) {
        list_kernels(text, sizeof text);
        return ics_yaml_error(error, key,
                              "graph.tune: found the kernel '%.40s', expected one of %s", key->text,
                              text);
    }
    ics_kernel_tune one = {0};
    if (value->kind != ICS_YAML_MAPPING || value->count == 0) {
        snprintf(text, sizeof text, "graph.tune.%s", key->text);
        return ics_yaml_unexpected(
            error, value, text, "a mapping with threads, blocks_per_multiprocessor or registers");
    }
    ICS_TRY(ics_schema_read(value, tune_fields, TUNE_FIELDS, &one, NULL, error));
    if (one.threads != 0 && !ics_tune_fits(kernel, &one, one.threads, text, sizeof text)) {
        return ics_yaml_error(error, value, "graph.tune.%s: %s", key->text, text);
    }
    tune->kernels[kernel] = one;
    return ICESTREAM_OK;
}

static int read_kernels(const ics_yaml_node *node, ics_tune *tune, icestream_error *error)
{
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < node->count; ++i) {
        const int result = read_kernel(node->entries[i].key, node->entries[i].value, tune, error);
        status = status ? status : result;
    }
    ICS_TRY(status);
    const uint64_t multiple = ics_tune_common_multiple(tune);
    if (multiple > ICS_TUNE_MULTIPLE_MAX) {
        return ics_yaml_error(error, node,
                              "graph.tune: found sizes of blocks whose least common multiple is "
                              "%llu threads, expected at most %d, because a pool is a whole "
                              "number of blocks of every kernel",
                              (unsigned long long)multiple, ICS_TUNE_MULTIPLE_MAX);
    }
    return ICESTREAM_OK;
}

/* Reads the settings that a sweep found. `node`: the name of its file. */
static int read_sweep(const ics_yaml_node *node, ics_tune *tune, icestream_error *error)
{
    char found[128];
    icestream_error why = {.status = ICESTREAM_OK};
    ICS_DESTROYS(ics_yaml_destroy) ics_yaml *document = NULL;
    ICS_FREES char *path = ics_schema_join(node->source->folder, node->text, false);
    const int status =
        path != NULL ? ics_yaml_read_file(path, &document, &why) : ICESTREAM_E_MEMORY;
    if (status != ICESTREAM_OK) {
        return status == ICESTREAM_E_MEMORY
                   ? ics_yaml_no_memory(error, node)
                   : ics_yaml_error(error, node, "graph.tune: %.*s", (int)strcspn(why.text, "\n"),
                                    why.text);
    }
    const ics_yaml_node *root = ics_yaml_root(document), *kernels = ics_yaml_find(root, "tune");
    return kernels != NULL && kernels->kind == ICS_YAML_MAPPING
               ? read_kernels(kernels, tune, error)
               : ics_yaml_error(error, kernels != NULL ? kernels : root,
                                "graph.tune: found %s, expected a key tune with a mapping, as "
                                "`icestream-lab sweep --json` writes it",
                                kernels != NULL ? ics_yaml_describe(kernels, found, sizeof found)
                                                : "no key tune");
}

static int read_tune(const ics_yaml_node *node, void *target, icestream_error *error)
{
    icestream_config *config = target;
    ics_tune tune = {0};
    if (node->kind == ICS_YAML_LIST || (node->kind == ICS_YAML_SCALAR && node->text[0] == 0)) {
        return ics_yaml_unexpected(error, node, "graph.tune", "%s", ics_config_tune.expected);
    }
    ICS_TRY(node->kind == ICS_YAML_SCALAR ? read_sweep(node, &tune, error)
                                          : read_kernels(node, &tune, error));
    config->graph.tune = tune;
    return ICESTREAM_OK;
}

bool ics_config_tune_fits(const icestream_config *config, char *reason, size_t size)
{
    for (int i = 0; i < ICS_TUNED_COUNT; ++i) {
        const ics_tuned_kernel kernel = (ics_tuned_kernel)i;
        const ics_kernel_tune *one = &config->graph.tune.kernels[i];
        const uint32_t block =
            config->graph.block != 0 ? config->graph.block : ics_schedule_block_of(kernel);
        char text[256];
        if (ics_tune_is_given(one) && one->threads == 0 &&
            !ics_tune_fits(kernel, one, block, text, sizeof text)) {
            snprintf(reason, size, "%s: %s", ics_tune_word(kernel), text);
            return false;
        }
    }
    return true;
}

static void print_tune(const void *target, FILE *out)
{
    const ics_tune *tune = &((const icestream_config *)target)->graph.tune;
    const char *between = "";
    fputc('{', out);
    for (int i = 0; i < ICS_TUNED_COUNT; ++i) {
        if (ics_tune_is_given(&tune->kernels[i])) {
            fprintf(out, "%s%s: ", between, ics_tune_word((ics_tuned_kernel)i));
            ics_schema_print_members(tune_fields, TUNE_FIELDS, &tune->kernels[i], out);
            between = ", ";
        }
    }
    fputc('}', out);
}

static void clear_tune(void *target)
{
    ((icestream_config *)target)->graph.tune = (ics_tune){0};
}

/* A mapping of kernels, or the name of a file. */
static json_t *tune_shape(void)
{
    json_t *kernel = ics_schema_members_shape(tune_fields, TUNE_FIELDS), *words = json_array();
    for (int i = 0; i < ICS_TUNED_COUNT; ++i) {
        json_array_append_new(words, json_string(ics_tune_word((ics_tuned_kernel)i)));
    }
    json_object_set_new(kernel, "minProperties", json_integer(1));
    return json_pack("{s:[{s:s, s:i}, {s:s, s:{s:o}, s:o}]}", "anyOf", "type", "string",
                     "minLength", 1, "type", "object", "propertyNames", "enum", words,
                     "additionalProperties", kernel);
}

const ics_schema_custom ics_config_tune = {
    .expected = "a mapping of kernels to threads, blocks_per_multiprocessor and registers, or a "
                "file of icestream-lab sweep --json",
    .example = "{monolithic: {threads: 256, blocks_per_multiprocessor: 3, registers: 80}}",
    .shape = tune_shape,
    .read = read_tune,
    .print = print_tune,
    .clear = clear_tune};
