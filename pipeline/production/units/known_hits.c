#include "pipeline/production/units/known_hits.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json_text.h"
#include "base/new.h"
#include "pipeline/photons/files/hit_reader.h"
#include "pipeline/photons/files/output.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 16384 /* hits */ };

struct ics_known_hits {
    char *folder;
    const char *pattern;
    const atomic_bool *stop;
    json_t *settings; /* seed and digests */
    pthread_mutex_t lock;
    bool begun;
    json_t *looked;  /* {name: true if the file is a merged file with these settings} */
    json_t *merged;  /* {digest of a step file: [names]} */
    json_t *sound;   /* {name: true or false}, for merged files that were read completely */
    json_t *damaged; /* {name: why}, for merged files that nobody has taken yet */
};

int ics_known_hits_create(const char *folder, const char *pattern, const ics_origin *origin,
                          const atomic_bool *stop, ics_known_hits **out, icestream_error *error)
{
    json_t *settings = NULL;
    ICS_TRY(ics_origin_metadata(origin, NULL, &settings, error));
    ics_known_hits *known = ICS_NEW(ics_known_hits);
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/') {
        length--;
    }
    pthread_mutex_init(&known->lock, NULL);
    known->stop = stop;
    known->pattern = pattern;
    known->settings = settings;
    known->folder = ics_new_text("%.*s", (int)length, folder);
    known->looked = ics_new_made(json_object());
    known->merged = ics_new_made(json_object());
    known->sound = ics_new_made(json_object());
    known->damaged = ics_new_made(json_object());
    *out = known;
    return ICESTREAM_OK;
}

void ics_known_hits_destroy(ics_known_hits *known)
{
    if (known != NULL) {
        pthread_mutex_destroy(&known->lock);
        free(known->folder);
        json_decref(known->settings);
        json_decref(known->looked);
        json_decref(known->merged);
        json_decref(known->sound);
        json_decref(known->damaged);
        free(known);
    }
}

static char *path_of(const ics_known_hits *known, const char *name)
{
    return ics_new_text("%s/%s", known->folder, name);
}

/* Decides what an error of reading a file means. A file with bad content is no merged file. An
 * error that may pass, or that is no fault of the file, is an error of the folder
 * (ICESTREAM_E_OUTPUT) and not of the step file that is looked for. */
static int judge_failure(icestream_error *reason, icestream_error *error)
{
    bool ours = reason->status == ICESTREAM_E_MEMORY || reason->status == ICESTREAM_E_FAILED ||
                reason->status == ICESTREAM_E_INTERRUPTED;
    if (!ours && !ics_error_may_pass(reason)) {
        return ICESTREAM_OK;
    }
    reason->status = ours ? reason->status : ICESTREAM_E_OUTPUT;
    return ics_error_copy(error, reason);
}

/* Remembers a merged file of bad content for ics_known_hits_next_damaged. */
static void remember_damaged(ics_known_hits *known, const char *name, const icestream_error *why)
{
    if (why->cause != ENOENT) {
        ics_new_member(known->damaged, name, ics_json_text(why->text));
    }
}

/* ---- looking --------------------------------------------------------------------------------- */

static void learn(ics_known_hits *known, const char *name, const json_t *inputs)
{
    size_t i;
    json_t *input;
    json_array_foreach((json_t *)(uintptr_t)inputs, i, input)
    {
        const char *digest = json_string_value(input);
        json_t *names = digest != NULL ? json_object_get(known->merged, digest) : NULL;
        if (digest != NULL && names == NULL) {
            names = json_array();
            ics_new_member(known->merged, digest, names);
        }
        if (names != NULL) {
            ics_new_item(names, json_string_nocheck(name));
        }
    }
}

static bool is_merged_of(const ics_known_hits *known, const json_t *metadata)
{
    icestream_account account;
    return json_is_array(json_object_get(metadata, "inputs")) &&
           ics_metadata_same_settings(metadata, known->settings) &&
           ics_metadata_account(metadata, &account) && ics_metadata_account_closes(&account);
}

static int look_at(ics_known_hits *known, const char *name, icestream_error *error)
{
    ics_hit_reader *reader = NULL;
    icestream_error reason = {.status = ICESTREAM_OK};
    ICS_FREES char *path = path_of(known, name);
    int status = ics_hit_reader_open(path, false, &reader, &reason);
    bool counts = false;
    if (status == ICESTREAM_OK) {
        const json_t *metadata = ics_hit_reader_metadata(reader);
        counts = is_merged_of(known, metadata);
        if (counts) {
            learn(known, name, json_object_get(metadata, "inputs"));
        }
    } else {
        /* Others may have files of other kinds in the folder, so only a name that says it makes an
         * unreadable file a merged one. */
        status = judge_failure(&reason, error);
        if (status == ICESTREAM_OK && fnmatch(ICS_KNOWN_HITS_OF_RUNS, name, 0) == 0) {
            remember_damaged(known, name, &reason);
        }
    }
    ics_hit_reader_destroy(reader);
    if (status == ICESTREAM_OK) {
        ics_new_member(known->looked, name, json_boolean(counts));
    }
    return status;
}

static int look(ics_known_hits *known, icestream_error *error)
{
    DIR *entries;
    do {
        entries = opendir(known->folder);
    } while (entries == NULL && errno == EINTR);
    if (entries == NULL) {
        return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, errno,
                                   "%s: cannot look for hit files: %s", known->folder,
                                   strerror(errno));
    }
    int status = ICESTREAM_OK;
    const struct dirent *entry = NULL;
    while (status == ICESTREAM_OK && (errno = 0, entry = readdir(entries)) != NULL) {
        if (fnmatch(known->pattern, entry->d_name, FNM_PERIOD) == 0 &&
            json_object_get(known->looked, entry->d_name) == NULL) {
            status = look_at(known, entry->d_name, error);
        }
    }
    if (status == ICESTREAM_OK && errno != 0) {
        status = ics_error_set_cause(error, ICESTREAM_E_OUTPUT, errno,
                                     "%s: cannot look for hit files: %s", known->folder,
                                     strerror(errno));
    }
    closedir(entries);
    known->begun = known->begun || status == ICESTREAM_OK;
    return status;
}

int ics_known_hits_look(ics_known_hits *known, bool *any, icestream_error *error)
{
    pthread_mutex_lock(&known->lock);
    const int status = look(known, error);
    *any = json_object_size(known->merged) > 0 || json_object_size(known->damaged) > 0;
    pthread_mutex_unlock(&known->lock);
    return status;
}

/* ---- finding --------------------------------------------------------------------------------- */

/* Reads the whole merged, because reading checks the checksums. */
static int read_through(const ics_known_hits *known, const char *path, icestream_error *error)
{
    ics_hit_reader *reader = NULL;
    ICS_FREES icestream_hit *hits = ICS_NEW_ARRAY(icestream_hit, PIECE);
    int status = ics_hit_reader_open(path, false, &reader, error);
    for (size_t got = 1; status == ICESTREAM_OK && got > 0;) {
        status = atomic_load(known->stop) ? ics_error_set(error, ICESTREAM_E_INTERRUPTED,
                                                          "interrupted while reading %s", path)
                                          : ics_hit_reader_read(reader, hits, PIECE, &got, error);
    }
    ics_hit_reader_destroy(reader);
    return status;
}

static int check_merged(ics_known_hits *known, const char *name, bool *sound,
                        icestream_error *error)
{
    const json_t *before = json_object_get(known->sound, name);
    *sound = json_is_true(before);
    if (before != NULL) {
        return ICESTREAM_OK;
    }
    icestream_error reason = {.status = ICESTREAM_OK};
    ICS_FREES char *path = path_of(known, name);
    *sound = read_through(known, path, &reason) == ICESTREAM_OK;
    /* The worker that made the merged file may have been killed before the name was synced. */
    ICS_TRY(*sound ? ics_output_sync_folder(path, error) : judge_failure(&reason, error));
    if (!*sound) {
        remember_damaged(known, name, &reason);
    }
    ics_new_member(known->sound, name, json_boolean(*sound));
    return ICESTREAM_OK;
}

static int find(ics_known_hits *known, const char *digest, bool again, char **merged,
                icestream_error *error)
{
    if (again || !known->begun) {
        ICS_TRY(look(known, error));
    }
    const json_t *names = json_object_get(known->merged, digest);
    for (size_t i = 0; i < json_array_size(names) && *merged == NULL; ++i) {
        const char *name = json_string_value(json_array_get(names, i));
        bool sound = false;
        ICS_TRY(check_merged(known, name, &sound, error));
        *merged = sound ? path_of(known, name) : NULL;
    }
    return ICESTREAM_OK;
}

int ics_known_hits_find(ics_known_hits *known, const char *digest, bool again, char **merged,
                        icestream_error *error)
{
    *merged = NULL;
    pthread_mutex_lock(&known->lock);
    int status = find(known, digest, again, merged, error);
    pthread_mutex_unlock(&known->lock);
    return status;
}

bool ics_known_hits_next_damaged(ics_known_hits *known, char **merged, char **why)
{
    pthread_mutex_lock(&known->lock);
    void *first = json_object_iter(known->damaged);
    if (first != NULL) {
        const char *name = json_object_iter_key(first);
        *merged = path_of(known, name);
        *why = ics_new_copy(json_string_value(json_object_iter_value(first)));
        json_object_del(known->damaged, strrchr(*merged, '/') + 1);
    }
    pthread_mutex_unlock(&known->lock);
    return first != NULL;
}

static int each(ics_known_hits *known, ics_merged_receiver receive, void *user,
                icestream_error *error)
{
    if (!known->begun) {
        ICS_TRY(look(known, error));
    }
    const char *name;
    json_t *value;
    json_object_foreach(known->looked, name, value)
    {
        if (json_is_true(value)) {
            ICS_FREES char *path = path_of(known, name);
            ICS_TRY(receive(user, path, error));
        }
    }
    return ICESTREAM_OK;
}

int ics_known_hits_each(ics_known_hits *known, ics_merged_receiver receive, void *user,
                        icestream_error *error)
{
    pthread_mutex_lock(&known->lock);
    int status = each(known, receive, user, error);
    pthread_mutex_unlock(&known->lock);
    return status;
}
