#include "pipeline/commands/merge/merged_inputs.h"

#include "base/error.h"
#include "pipeline/photons/files/format/parts_digest.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

/* The hit files of a merge may be 100,000, so each keeps only what messages and the output
 * need. */
typedef struct merged_step_file {
    enum {
        OF_THIS_OUTPUT, /* the output that grows now */
        OF_THIS_CALL,   /* an output that this call of the program has finished */
        OF_EARLIER_CALL
    } state;
    char digest[ICS_PARTS_DIGEST_TEXT];
    char file[]; /* the hit file that the hits came from */
} merged_step_file;

static int compare(const void *a, const void *b)
{
    const merged_step_file *left = a, *right = b;
    return strcmp(left->digest, right->digest);
}

static merged_step_file *find(const ics_merged_inputs *inputs, const char *digest)
{
    merged_step_file key = {.state = OF_THIS_OUTPUT};
    snprintf(key.digest, sizeof key.digest, "%s", digest);
    void *const *node = tfind(&key, &inputs->tree, compare);
    return node != NULL ? *node : NULL;
}

/* How many step files the metadata name. */
static size_t count_in(const json_t *metadata)
{
    const json_t *many = json_object_get(metadata, "inputs");
    const json_t *one = json_object_get(json_object_get(metadata, "digests"), "input");
    return json_is_array(many) ? json_array_size(many) : json_is_string(one) ? 1 : 0;
}

/* Returns the digest of a step file, NULL if it is none. */
static const char *digest_in(const json_t *metadata, size_t i)
{
    const json_t *many = json_object_get(metadata, "inputs");
    const json_t *one = json_object_get(json_object_get(metadata, "digests"), "input");
    const char *text = json_string_value(json_is_array(many) ? json_array_get(many, i) : one);
    return text != NULL && ics_parts_digest_is_text(text, strlen(text)) ? text : NULL;
}

/* Adds a step file, of which no other hit file may have the hits. */
static int insert(ics_merged_inputs *inputs, const char *digest, const char *file, int state,
                  icestream_error *error)
{
    const merged_step_file *other = find(inputs, digest);
    const size_t size = strlen(file) + 1;
    if (other != NULL) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: found hits of the step file with SHA-256 %.16s..., whose hits %s "
                             "has as well, expected each step file once",
                             file, digest, other->file);
    }
    merged_step_file *item = calloc(1, sizeof *item + size);
    if (item != NULL) {
        item->state = state;
        snprintf(item->digest, sizeof item->digest, "%s", digest);
        memcpy(item->file, file, size);
    }
    if (item == NULL || tsearch(item, &inputs->tree, compare) == NULL) {
        free(item);
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory for its step files",
                             file);
    }
    inputs->count += state == OF_THIS_OUTPUT;
    return ICESTREAM_OK;
}

static void withdraw(ics_merged_inputs *inputs, const json_t *metadata, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        merged_step_file *item = find(inputs, digest_in(metadata, i));
        tdelete(item, &inputs->tree, compare);
        free(item);
        inputs->count--;
    }
}

void ics_merged_inputs_withdraw(ics_merged_inputs *inputs, const json_t *metadata)
{
    withdraw(inputs, metadata, count_in(metadata));
}

static int check(const char *path, const json_t *metadata, icestream_error *error)
{
    const size_t count = count_in(metadata);
    for (size_t i = 0; i < count; ++i) {
        if (digest_in(metadata, i) == NULL) {
            return ics_error_set(error, ICESTREAM_E_INPUT,
                                 "%s: trailer: step file %zu: found no SHA-256, expected 64 digits",
                                 path, i);
        }
    }
    return count > 0 ? ICESTREAM_OK
                     : ics_error_set(error, ICESTREAM_E_INPUT,
                                     "%s: trailer: found no step file in digests.input or inputs, "
                                     "expected the SHA-256 of each step file whose hits it has",
                                     path);
}

int ics_merged_inputs_add(ics_merged_inputs *inputs, const char *path, const json_t *metadata,
                          ics_merged_verdict *out, icestream_error *error)
{
    const size_t count = count_in(metadata);
    size_t there = 0;
    ICS_TRY(check(path, metadata, error));
    for (size_t i = 0; i < count; ++i) {
        const merged_step_file *other = find(inputs, digest_in(metadata, i));
        there += other != NULL && other->state == OF_EARLIER_CALL;
    }
    *out = there == count ? ICS_MERGED_THERE : ICS_MERGED_NEW;
    for (size_t i = 0; *out == ICS_MERGED_NEW && i < count; ++i) {
        const int status = insert(inputs, digest_in(metadata, i), path, OF_THIS_OUTPUT, error);
        if (status != ICESTREAM_OK) {
            withdraw(inputs, metadata, i);
            return status;
        }
    }
    return ICESTREAM_OK;
}

int ics_merged_inputs_learn(ics_merged_inputs *inputs, const char *path, const json_t *metadata,
                            icestream_error *error)
{
    ICS_TRY(check(path, metadata, error));
    for (size_t i = 0; i < count_in(metadata); ++i) {
        ICS_TRY(insert(inputs, digest_in(metadata, i), path, OF_EARLIER_CALL, error));
    }
    return ICESTREAM_OK;
}

/* ---- visits of the tree ---------------------------------------------------------------------- */

typedef struct listing {
    json_t *array;
    bool failed;
} listing;

static void list_one(const void *node, VISIT visit, void *closure)
{
    const merged_step_file *item = *(merged_step_file *const *)node;
    listing *list = closure;
    if ((visit == postorder || visit == leaf) && item->state == OF_THIS_OUTPUT) {
        list->failed |= json_array_append_new(list->array, json_string(item->digest)) != 0;
    }
}

json_t *ics_merged_inputs_list(const ics_merged_inputs *inputs)
{
    listing list = {.array = json_array()};
    list.failed = list.array == NULL;
    twalk_r(inputs->tree, list_one, &list);
    if (list.failed) {
        json_decref(list.array);
        return NULL;
    }
    return list.array;
}

static void end_one(const void *node, VISIT visit, void *closure)
{
    merged_step_file *item = *(merged_step_file *const *)node;
    (void)closure;
    if ((visit == postorder || visit == leaf) && item->state == OF_THIS_OUTPUT) {
        item->state = OF_THIS_CALL;
    }
}

void ics_merged_inputs_end(ics_merged_inputs *inputs)
{
    twalk_r(inputs->tree, end_one, NULL);
    inputs->count = 0;
}

void ics_merged_inputs_free(ics_merged_inputs *inputs)
{
    tdestroy(inputs->tree, free);
    inputs->tree = NULL;
}
