#include "pipeline/commands/merge/merged_metadata.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "pipeline/photons/devices/batch.h"
#include "pipeline/photons/files/kernels_record.h"
#include "pipeline/photons/provenance/settings.h"

#include <stdlib.h>
#include <string.h>

static int out_of_memory(const char *path, icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory for its metadata", path);
}

/* ---- what all files share -------------------------------------------------------------------- */

/* The digest of the step file and the light of a run that made its steps belong to one file
 * alone. */
static json_t *copy_shared(const json_t *metadata)
{
    static const char *const keys[] = {"seed", "random_numbers", "digests", "settings", "content"};
    json_t *shared = json_object();
    int failed = shared == NULL;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i) {
        const json_t *value = json_object_get(metadata, keys[i]);
        failed |= value != NULL && json_object_set_new(shared, keys[i], json_deep_copy(value)) != 0;
    }
    if (failed) {
        json_decref(shared);
        return NULL;
    }
    json_object_del(json_object_get(shared, "digests"), "input");
    json_object_del(json_object_get(shared, "settings"), "light");
    return shared;
}

static int begin(ics_merged_metadata *merged, const char *path, const json_t *metadata,
                 icestream_error *error)
{
    merged->shared = copy_shared(metadata);
    merged->first = strdup(path);
    return merged->shared != NULL && merged->first != NULL ? ICESTREAM_OK
                                                           : out_of_memory(path, error);
}

static int refuse_settings(const ics_merged_metadata *merged, const char *path,
                           const json_t *metadata, icestream_error *error)
{
    char list[1024];
    ICS_TRY(ics_settings_list(metadata, merged->shared, list, sizeof list, error));
    return ics_error_set(error, ICESTREAM_E_INPUT,
                         "%s: found other settings than in %s, expected the same: %s", path,
                         merged->first, list);
}

static const char *content_of(const json_t *metadata)
{
    const char *text = json_string_value(json_object_get(metadata, "content"));
    return text != NULL ? text : "photons";
}

int ics_merged_metadata_check(ics_merged_metadata *merged, const char *path, const json_t *metadata,
                              icestream_error *error)
{
    if (!ics_metadata_same_settings(metadata, metadata)) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: trailer: found no seed or no digests of configuration, ice and "
                             "detector, expected those of a run",
                             path);
    }
    if (merged->shared == NULL) {
        return begin(merged, path, metadata, error);
    }
    if (!ics_metadata_same_settings(metadata, merged->shared)) {
        return refuse_settings(merged, path, metadata, error);
    }
    if (strcmp(content_of(metadata), content_of(merged->shared)) != 0) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: content: found %s, expected %s as in %s", path,
                             content_of(metadata), content_of(merged->shared), merged->first);
    }
    return ICESTREAM_OK;
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* Adds whole numbers, also in arrays of arrays. Returns false if the forms differ or a sum is too
 * large. */
static bool add_counts(json_t *sum, const json_t *more)
{
    if (json_is_integer(sum) && json_is_integer(more)) {
        json_int_t result;
        return !__builtin_add_overflow(json_integer_value(sum), json_integer_value(more),
                                       &result) &&
               json_integer_set(sum, result) == 0;
    }
    if (!json_is_array(sum) || json_array_size(sum) != json_array_size(more)) {
        return false;
    }
    for (size_t i = 0; i < json_array_size(sum); ++i) {
        if (!add_counts(json_array_get(sum, i), json_array_get(more, i))) {
            return false;
        }
    }
    return true;
}

static json_t *counts_of(const json_t *histogram)
{
    return json_object_get(json_object_get(histogram, "storage"), "values");
}

/* Returns the sum of two lists of histograms with equal axes as a new array; NULL: the axes differ,
 * or the memory is short. */
static json_t *sum_histograms(const json_t *a, const json_t *b)
{
    json_t *sum = json_deep_copy(a);
    bool same = sum != NULL && json_array_size(sum) == json_array_size(b);
    for (size_t i = 0; same && i < json_array_size(sum); ++i) {
        const json_t *to = json_array_get(sum, i), *from = json_array_get(b, i);
        same = json_equal(json_object_get(to, "axes"), json_object_get(from, "axes")) &&
               add_counts(counts_of(to), counts_of(from));
    }
    if (!same) {
        json_decref(sum);
        return NULL;
    }
    return sum;
}

static int add_histograms(ics_merged_metadata *merged, const char *path, const json_t *metadata,
                          icestream_error *error)
{
    const json_t *more = json_object_get(metadata, "histograms");
    if (merged->files == 0) {
        merged->histograms = json_deep_copy(more);
        return more == NULL || merged->histograms != NULL ? ICESTREAM_OK
                                                          : out_of_memory(path, error);
    }
    if (more == NULL && merged->histograms == NULL) {
        return ICESTREAM_OK;
    }
    json_t *sum = sum_histograms(merged->histograms, more);
    if (sum == NULL) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: histograms: found other ones than in %s, expected the same axes "
                             "(sink.histograms of the run)",
                             path, merged->first);
    }
    json_decref(merged->histograms);
    merged->histograms = sum;
    return ICESTREAM_OK;
}

static int add_mismatch(ics_merged_metadata *merged, const json_t *metadata, icestream_error *error)
{
    json_auto_t *all = json_pack("{s:O*}", "light_mismatch", merged->light_mismatch);
    if (all == NULL) {
        return out_of_memory(merged->first, error);
    }
    ICS_TRY(
        ics_metadata_set_light_mismatch(all, json_object_get(metadata, "light_mismatch"), error));
    json_decref(merged->light_mismatch);
    merged->light_mismatch = json_incref(json_object_get(all, "light_mismatch"));
    return ICESTREAM_OK;
}

int ics_merged_metadata_add(ics_merged_metadata *merged, const char *path, const json_t *metadata,
                            icestream_error *error)
{
    icestream_account account;
    ics_metadata_account(metadata, &account);
    ICS_TRY(add_histograms(merged, path, metadata, error));
    ICS_TRY(add_mismatch(merged, metadata, error));
    ics_batch_account_add(&merged->account, &account);
    merged->maths |= ics_metadata_maths(metadata);
    const ics_kernels kernels = ics_kernels_record_get(metadata);
    ics_kernels_add(&merged->kernels, &kernels);
    merged->files++;
    return ICESTREAM_OK;
}

int ics_merged_metadata_make(const ics_merged_metadata *merged, json_t *inputs, json_t **out,
                             icestream_error *error)
{
    json_auto_t *all = json_deep_copy(merged->shared);
    if (all == NULL) {
        return out_of_memory(merged->first, error);
    }
    ICS_TRY(ics_metadata_set_account(all, &merged->account, error));
    if (json_object_get(all, "content") != NULL) {
        char text[16];
        snprintf(text, sizeof text, "%s", content_of(all));
        ICS_TRY(ics_metadata_set_detection(all, text, &merged->account, error));
    }
    ICS_TRY(ics_metadata_set_maths(all, merged->maths, error));
    ICS_TRY(ics_kernels_record_set(all, &merged->kernels, error));
    ICS_TRY(ics_metadata_set_light_mismatch(all, merged->light_mismatch, error));
    if (json_object_set(all, "inputs", inputs) != 0 ||
        (merged->histograms != NULL &&
         json_object_set(all, "histograms", merged->histograms) != 0)) {
        return out_of_memory(merged->first, error);
    }
    *out = ICS_HAND_OVER(all);
    return ICESTREAM_OK;
}

/* ---- life ------------------------------------------------------------------------------------ */

void ics_merged_metadata_end(ics_merged_metadata *merged)
{
    json_decref(merged->histograms);
    json_decref(merged->light_mismatch);
    merged->histograms = merged->light_mismatch = NULL;
    merged->account = (icestream_account){0};
    merged->maths = ICS_MATHS_NONE;
    merged->kernels = (ics_kernels){.code = 0};
    merged->files = 0;
}

void ics_merged_metadata_free(ics_merged_metadata *merged)
{
    ics_merged_metadata_end(merged);
    json_decref(merged->shared);
    free(merged->first);
    merged->shared = NULL;
    merged->first = NULL;
}
