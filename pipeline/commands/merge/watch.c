/* Joining files of a folder as they come. */
#include "base/error.h"
#include "base/new.h"
#include "base/visible_text.h"
#include "pipeline/commands/merge/hit_names.h"
#include "pipeline/commands/merge/merge.h"
#include "pipeline/commands/signals/stop_signals.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* Names of outputs: STEM-000000ENDING. */
enum { DIGITS = 6, NUMBERS_MAX = 1000000 };
static const char ending[] = ".hits.npy";

enum { WAIT_MS = 500 }; /* between two looks into the folder */

typedef struct watch {
    const ics_merge_watch_options *options;
    ics_merge *merge;
    char *output_folder;
    const char *stem; /* in options->output, without folder and ending: [stem_length] */
    size_t stem_length;
    uint32_t number;    /* of the next output */
    bool shares_folder; /* the outputs are in the folder that is watched */
    void *seen;         /* of tsearch(): names that need no other look */
    size_t refused, there;
    struct timespec summary; /* when a run of the folder had written its summary last */
} watch;

/* ---- outputs --------------------------------------------------------------------------------- */

/* Returns whether a name is that of an output, and its number. */
static bool is_output(const watch *w, const char *name, uint32_t *number)
{
    if (strlen(name) != w->stem_length + 1 + DIGITS + sizeof ending - 1 ||
        strncmp(name, w->stem, w->stem_length) != 0 || name[w->stem_length] != '-') {
        return false;
    }
    const char *digits = name + w->stem_length + 1;
    if (strspn(digits, "0123456789") != DIGITS || strcmp(digits + DIGITS, ending) != 0) {
        return false;
    }
    *number = (uint32_t)strtoul(digits, NULL, 10);
    return true;
}

static void split_output(watch *w)
{
    const char *output = w->options->output, *slash = strrchr(output, '/');
    struct stat watched, own;
    w->stem = slash != NULL ? slash + 1 : output;
    w->stem_length = strlen(w->stem) - (sizeof ending - 1);
    w->output_folder = slash == NULL ? ics_new_copy("./")
                                     : ics_new_text("%.*s", (int)(slash - output) + 1, output);
    w->shares_folder = stat(w->options->folder, &watched) == 0 &&
                       stat(w->output_folder, &own) == 0 && watched.st_dev == own.st_dev &&
                       watched.st_ino == own.st_ino;
}

/* Reads what earlier calls with the same output have merged. */
static int learn(watch *w, icestream_error *error)
{
    ics_hit_names names;
    int status = ics_hit_names_read(w->output_folder, &names, error);
    if (status == ICESTREAM_E_INPUT) {
        return error->status = ICESTREAM_E_OUTPUT;
    }
    for (size_t i = 0; status == ICESTREAM_OK && i < names.count; ++i) {
        uint32_t number;
        if (is_output(w, names.items[i]->d_name, &number)) {
            ICS_FREES char *path = ics_hit_names_path(w->output_folder, names.items[i]->d_name);
            status = ics_merge_learn(w->merge, path, error);
            w->number = number + 1;
        }
    }
    ics_hit_names_free(&names);
    return status;
}

static int begin_output(watch *w, icestream_error *error)
{
    if (w->number >= NUMBERS_MAX) {
        return ics_error_set(error, ICESTREAM_E_OUTPUT,
                             "%s: found %d files with this name and a number, expected fewer",
                             w->options->output, NUMBERS_MAX);
    }
    ICS_FREES char *path = ics_new_text("%s%.*s-%06" PRIu32 "%s", w->output_folder,
                                        (int)w->stem_length, w->stem, w->number++, ending);
    return ics_merge_begin(w->merge, path, false, error);
}

/* ---- inputs ---------------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

static bool is_seen(const watch *w, const char *name)
{
    uint32_t number;
    return (w->shares_folder && is_output(w, name, &number)) ||
           tfind(name, &w->seen, compare_names) != NULL;
}

static bool is_full(const watch *w)
{
    return ics_merge_rows(w->merge) >= w->options->rows ||
           ics_merge_inputs(w->merge) >= ICS_MERGE_INPUTS_MAX ||
           ics_merge_rows(w->merge) >> ICS_MERGE_ROWS_POWER > 0;
}

/* `is_last`: an error that may pass is not waited for. */
static int add(watch *w, const char *name, bool is_last, icestream_error *error)
{
    icestream_error why = {.status = ICESTREAM_OK};
    bool added = false;
    ICS_FREES char *path = ics_hit_names_path(w->options->folder, name);
    if (!ics_merge_has_begun(w->merge)) {
        ICS_TRY(begin_output(w, error));
    }
    const int status = ics_merge_add(w->merge, path, &added, &why);
    w->there += status == ICESTREAM_OK && !added;
    if (status == ICESTREAM_E_INPUT && !is_last && ics_error_may_pass(&why)) {
        return ICESTREAM_OK;
    }
    if (status != ICESTREAM_OK && status != ICESTREAM_E_INPUT) {
        return ics_error_copy(error, &why);
    }
    if (status == ICESTREAM_E_INPUT) {
        ics_visible_printf(stderr, "warning: %s; this file is left out\n", why.text);
        w->refused++;
    }
    ics_new_made(tsearch(ics_new_copy(name), &w->seen, compare_names));
    return is_full(w) ? ics_merge_commit(w->merge, error) : ICESTREAM_OK;
}

static int look(watch *w, bool is_last, icestream_error *error)
{
    ics_hit_names names;
    ICS_TRY(ics_hit_names_read(w->options->folder, &names, error));
    int status = ICESTREAM_OK;
    for (size_t i = 0; status == ICESTREAM_OK && i < names.count && ics_stop_signals_first() == 0;
         ++i) {
        if (!is_seen(w, names.items[i]->d_name)) {
            status = add(w, names.items[i]->d_name, is_last, error);
        }
    }
    ics_hit_names_free(&names);
    return status;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Returns when a run in the folder has written its summary last, and whether a run has the name of
 * one now (telemetry/report_file.h). Zero: no run has written one. */
static struct timespec look_for_summaries(const watch *w, bool *is_running)
{
    struct timespec newest = {0, 0};
    DIR *entries = opendir(w->options->folder);
    const struct dirent *entry;
    *is_running = false;
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        struct stat about;
        if (fnmatch(".summary*.json.lock", entry->d_name, 0) == 0) {
            *is_running = true;
        } else if (fnmatch("summary*.json", entry->d_name, 0) == 0 &&
                   fstatat(dirfd(entries), entry->d_name, &about, 0) == 0 &&
                   (about.st_mtim.tv_sec > newest.tv_sec ||
                    (about.st_mtim.tv_sec == newest.tv_sec &&
                     about.st_mtim.tv_nsec > newest.tv_nsec))) {
            newest = about.st_mtim;
        }
    }
    if (entries != NULL) {
        closedir(entries);
    }
    return newest;
}

static bool runs_have_ended(const watch *w)
{
    bool is_running;
    const struct timespec newest = look_for_summaries(w, &is_running);
    return !is_running &&
           (newest.tv_sec != w->summary.tv_sec || newest.tv_nsec != w->summary.tv_nsec);
}

static int follow(watch *w, icestream_error *error)
{
    bool is_running, is_last = false;
    w->summary = look_for_summaries(w, &is_running);
    printf("%s: waiting for hit files\n", w->options->folder);
    fflush(stdout);
    while (!is_last && ics_stop_signals_first() == 0) {
        /* Asked before the look, which then finds all that the run has written. */
        is_last = runs_have_ended(w);
        ICS_TRY(look(w, is_last, error));
        if (!is_last && ics_stop_signals_first() == 0) {
            const struct timespec pause = {0, WAIT_MS * 1000000L};
            nanosleep(&pause, NULL);
        }
    }
    return ics_merge_files(w->merge) > 0 ? ics_merge_commit(w->merge, error) : ICESTREAM_OK;
}

static int explain_end(const watch *w, icestream_error *error)
{
    if (w->there > 0) {
        printf("%s: %zu hit file%s merged before, and %s in no new file\n", w->options->folder,
               w->there, w->there == 1 ? " was" : "s were", w->there == 1 ? "is" : "are");
    }
    if (ics_stop_signals_first() != 0) {
        return ics_error_set(error, ics_stop_signals_status(),
                             "%s: ended by a signal; all hits that were read are in hit files, and "
                             "the same command goes on",
                             w->options->output);
    }
    return w->refused == 0 ? ICESTREAM_OK
                           : ics_error_set(error, ICESTREAM_E_INPUT,
                                           "%s: %zu hit files were left out; the warnings above "
                                           "name them",
                                           w->options->folder, w->refused);
}

static int merge_as_they_come(watch *w, icestream_error *error)
{
    w->merge = ics_merge_create(ics_stop_signals_cancel());
    split_output(w);
    ICS_TRY(learn(w, error));
    ICS_TRY(follow(w, error));
    return explain_end(w, error);
}

int ics_merge_watch(const ics_merge_watch_options *options, icestream_error *error)
{
    watch w = {.options = options};
    ics_stop_signals_catch(false);
    int status = merge_as_they_come(&w, error);
    if (status == ICESTREAM_E_INTERRUPTED) {
        status = error->status = ics_stop_signals_status();
    }
    ics_merge_destroy(w.merge);
    tdestroy(w.seen, free);
    free(w.output_folder);
    ics_stop_signals_release();
    return status;
}
