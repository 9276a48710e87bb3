#include "pipeline/photons/files/metadata.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "stages/random.h"

#include <inttypes.h>
#include <string.h>

static const struct {
    const char *name;
    size_t offset;
} counts[] = {
    {"created", offsetof(icestream_account, created)},
    {"absorbed", offsetof(icestream_account, absorbed)},
    {"detected", offsetof(icestream_account, detected)},
    {"left", offsetof(icestream_account, left)},
    {"stopped", offsetof(icestream_account, stopped)},
    {"hits", offsetof(icestream_account, hits)},
    {"bounces", offsetof(icestream_account, bounces)},
};
enum { COUNTS = sizeof counts / sizeof *counts };

/* Sets a key to a value, which is released if there is no memory. */
static int set(json_t *metadata, const char *key, json_t *value, icestream_error *error)
{
    return json_object_set_new(metadata, key, value) == 0
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for metadata");
}

int ics_metadata_create(const ics_metadata_origin *origin, json_t **out, icestream_error *error)
{
    const struct {
        const char *name, *text;
    } digests[] = {{"configuration", origin->configuration},
                   {"ice", origin->ice},
                   {"detector", origin->detector},
                   {"input", origin->input}};
    char seed[24];
    snprintf(seed, sizeof seed, "%" PRIu64, origin->seed);
    json_auto_t *metadata = json_pack("{s:s, s:i, s:{}}", "seed", seed, "random_numbers",
                                      ice_random_version(origin->seed), "digests");
    json_t *object = json_object_get(metadata, "digests");
    *out = NULL;
    if (object == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for metadata");
    }
    for (size_t i = 0; i < sizeof digests / sizeof *digests; ++i) {
        if (digests[i].text != NULL) {
            ICS_TRY(set(object, digests[i].name, json_string(digests[i].text), error));
        }
    }
    *out = ICS_HAND_OVER(metadata);
    return ICESTREAM_OK;
}

int ics_metadata_set_account(json_t *metadata, const icestream_account *account,
                             icestream_error *error)
{
    if (!ics_metadata_account_closes(account)) {
        return ics_error_set(error, ICESTREAM_E_FAILED,
                             "photon account: found %" PRIu64 " created and %" PRIu64
                             " absorbed, %" PRIu64 " detected, %" PRIu64 " left, %" PRIu64
                             " stopped, expected the four to add up to the first",
                             account->created, account->absorbed, account->detected, account->left,
                             account->stopped);
    }
    json_auto_t *object = json_object();
    for (size_t i = 0; i < COUNTS; ++i) {
        uint64_t count;
        memcpy(&count, (const char *)account + counts[i].offset, sizeof count);
        if (count > INT64_MAX) {
            return ics_error_set(error, ICESTREAM_E_FAILED,
                                 "photon account: %s: found %" PRIu64 ", expected less than 2^63",
                                 counts[i].name, count);
        }
        ICS_TRY(set(object, counts[i].name, json_integer((json_int_t)count), error));
    }
    return set(metadata, "account", ICS_HAND_OVER(object), error);
}

int ics_metadata_set_detection(json_t *metadata, const char *content,
                               const icestream_account *account, icestream_error *error)
{
    if (account->photo_electrons > account->hits) {
        return ics_error_set(error, ICESTREAM_E_FAILED,
                             "photon account: found %" PRIu64 " photo-electrons of %" PRIu64
                             " hits, expected at most as many",
                             account->photo_electrons, account->hits);
    }
    ICS_TRY(set(json_object_get(metadata, "account"), "photo_electrons",
                json_integer((json_int_t)account->photo_electrons), error));
    return set(metadata, "content", json_string(content), error);
}

bool ics_metadata_account(const json_t *metadata, icestream_account *out)
{
    const json_t *object = json_object_get(metadata, "account");
    *out = (icestream_account){0};
    for (size_t i = 0; i < COUNTS; ++i) {
        const json_t *item = json_object_get(object, counts[i].name);
        if (!json_is_integer(item) || json_integer_value(item) < 0) {
            return false;
        }
        uint64_t count = (uint64_t)json_integer_value(item);
        memcpy((char *)out + counts[i].offset, &count, sizeof count);
    }
    const json_t *electrons = json_object_get(object, "photo_electrons");
    const char *content = json_string_value(json_object_get(metadata, "content"));
    if (electrons != NULL && (!json_is_integer(electrons) || json_integer_value(electrons) < 0 ||
                              (uint64_t)json_integer_value(electrons) > out->hits)) {
        return false;
    }
    out->photo_electrons = (uint64_t)json_integer_value(electrons);
    if (content != NULL && strcmp(content, "pe") == 0) {
        out->undetected = out->hits - out->photo_electrons;
    }
    return true;
}

const char *ics_metadata_maths_name(ics_maths_used maths)
{
    static const char *const names[] = {
        [ICS_MATHS_PORTABLE] = "portable", [ICS_MATHS_FAST] = "fast", [ICS_MATHS_MIXED] = "mixed"};
    return names[maths & ICS_MATHS_MIXED];
}

int ics_metadata_set_maths(json_t *metadata, ics_maths_used maths, icestream_error *error)
{
    return maths == ICS_MATHS_NONE
               ? ICESTREAM_OK
               : set(metadata, "math", json_string(ics_metadata_maths_name(maths)), error);
}

static bool has_item(const json_t *array, const json_t *wanted)
{
    size_t index;
    const json_t *item;
    json_array_foreach(array, index, item)
    {
        if (json_equal(item, wanted)) {
            return true;
        }
    }
    return false;
}

int ics_metadata_set_light_mismatch(json_t *metadata, json_t *differences, icestream_error *error)
{
    size_t index;
    json_t *item;
    if (json_array_size(differences) > 0 && json_object_get(metadata, "light_mismatch") == NULL) {
        ICS_TRY(set(metadata, "light_mismatch", json_array(), error));
    }
    json_t *stored = json_object_get(metadata, "light_mismatch");
    json_array_foreach(differences, index, item)
    {
        if (!has_item(stored, item) && json_array_append(stored, item) != 0) {
            return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for metadata");
        }
    }
    return ICESTREAM_OK;
}

ics_maths_used ics_metadata_maths(const json_t *metadata)
{
    const char *word = json_string_value(json_object_get(metadata, "math"));
    ics_maths_used maths = word != NULL ? ICS_MATHS_MIXED : ICS_MATHS_NONE;
    while (maths != ICS_MATHS_NONE && strcmp(word, ics_metadata_maths_name(maths)) != 0) {
        maths -= 1;
    }
    return maths;
}

json_int_t ics_metadata_random_version(const json_t *metadata)
{
    const json_t *version = json_object_get(metadata, "random_numbers");
    return json_is_integer(version) ? json_integer_value(version) : 1;
}

bool ics_metadata_account_closes(const icestream_account *account)
{
    uint64_t sum;
    return !__builtin_add_overflow(account->absorbed, account->detected, &sum) &&
           !__builtin_add_overflow(sum, account->left, &sum) &&
           !__builtin_add_overflow(sum, account->stopped, &sum) && sum == account->created;
}

/* Whether both have this digest, and the same one. */
static bool same_digest(const json_t *a, const json_t *b, const char *name)
{
    const json_t *digest = json_object_get(json_object_get(a, "digests"), name);
    return json_is_string(digest) &&
           json_equal(digest, json_object_get(json_object_get(b, "digests"), name));
}

static bool same_seed(const json_t *a, const json_t *b)
{
    return json_is_string(json_object_get(a, "seed")) &&
           json_equal(json_object_get(a, "seed"), json_object_get(b, "seed"));
}

bool ics_metadata_same_origin(const json_t *a, const json_t *b)
{
    const json_t *digests = json_object_get(a, "digests");
    return same_seed(a, b) && json_is_object(digests) &&
           json_equal(digests, json_object_get(b, "digests"));
}

bool ics_metadata_same_settings(const json_t *a, const json_t *b)
{
    return same_seed(a, b) && same_digest(a, b, "configuration") && same_digest(a, b, "ice") &&
           same_digest(a, b, "detector");
}
