#include "pipeline/commands/merge/merge.h"

#include "base/error.h"
#include "base/new.h"
#include "base/plural.h"
#include "pipeline/commands/merge/merged_inputs.h"
#include "pipeline/commands/merge/merged_metadata.h"
#include "pipeline/photons/collect/collector.h"
#include "pipeline/photons/files/hit_reader.h"
#include "pipeline/photons/files/table_writer.h"
#include "pipeline/photons/provenance/hit_check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    PIECE = 65536,          /* hits that are read at a time */
    MEMORY_BYTES = 24 << 20 /* of hits in memory; more hits go to a temporary file */
};

struct ics_merge {
    const atomic_bool *cancel;
    ics_hit_budget budget;
    ics_merged_inputs inputs;
    ics_merged_metadata metadata;
    /* The output that was begun; NULL: none. */
    char *path, *folder;
    ics_output_mark mark;
    ics_table_writer *writer;
    ics_collector *collector;
};

ics_merge *ics_merge_create(const atomic_bool *cancel)
{
    ics_merge *merge = ICS_NEW(ics_merge);
    merge->cancel = cancel;
    merge->budget.limit = MEMORY_BYTES;
    return merge;
}

static void end_output(ics_merge *merge)
{
    ics_table_writer_destroy(merge->writer);
    ics_collector_destroy(merge->collector);
    free(merge->path);
    free(merge->folder);
    merge->writer = NULL;
    merge->collector = NULL;
    merge->path = merge->folder = NULL;
    ics_merged_inputs_end(&merge->inputs);
    ics_merged_metadata_end(&merge->metadata);
}

void ics_merge_destroy(ics_merge *merge)
{
    if (merge != NULL) {
        end_output(merge);
        ics_merged_inputs_free(&merge->inputs);
        ics_merged_metadata_free(&merge->metadata);
        free(merge);
    }
}

bool ics_merge_has_begun(const ics_merge *merge)
{
    return merge->writer != NULL;
}

size_t ics_merge_files(const ics_merge *merge)
{
    return merge->metadata.files;
}

uint64_t ics_merge_rows(const ics_merge *merge)
{
    return merge->collector != NULL ? ics_collector_count(merge->collector) : 0;
}

size_t ics_merge_inputs(const ics_merge *merge)
{
    return merge->inputs.count;
}

/* ---- adding ---------------------------------------------------------------------------------- */

static int interrupted(const ics_merge *merge, icestream_error *error)
{
    return atomic_load(merge->cancel)
               ? ics_error_set(error, ICESTREAM_E_INTERRUPTED,
                               "interrupted; there is no %s, and all inputs are as before",
                               merge->path)
               : ICESTREAM_OK;
}

int ics_merge_begin(ics_merge *merge, const char *path, bool force, icestream_error *error)
{
    const char *slash = strrchr(path, '/');
    merge->path = ics_new_copy(path);
    merge->folder =
        slash == NULL ? ics_new_copy(".") : ics_new_text("%.*s", (int)(slash - path) + 1, path);
    merge->mark = ics_output_mark_of(path);
    ICS_TRY(ics_collector_create(&merge->budget, merge->folder, &merge->collector, error));
    return ics_table_writer_create(path, ics_layout_hits(), force, &merge->writer, error);
}

/* No output destroys an input, also with --force. */
static int check_not_output(const ics_merge *merge, const char *path, icestream_error *error)
{
    const ics_output_mark mark = ics_output_mark_of(path);
    if (!merge->mark.there || !mark.there || mark.device != merge->mark.device ||
        mark.number != merge->mark.number) {
        return ICESTREAM_OK;
    }
    return ics_error_set(error, ICESTREAM_E_USAGE,
                         "--output: found %s, which is the input %s, expected another file",
                         merge->path, path);
}

/* Moves all rows of a file into a collector. */
static int collect(const ics_merge *merge, ics_hit_reader *reader, ics_collector *collector,
                   icestream_error *error)
{
    for (;;) {
        ICS_TRY(interrupted(merge, error));
        const uint64_t rows = ics_hit_reader_rows(reader) - ics_collector_count(collector);
        const size_t room = rows < PIECE ? (size_t)rows + (rows == 0) : PIECE;
        ICS_FREES icestream_hit *hits = malloc(room * sizeof *hits);
        size_t got = 0;
        if (hits == NULL) {
            return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for %zu hits", room);
        }
        ICS_TRY(ics_hit_reader_read(reader, hits, room, &got, error));
        if (got == 0) {
            return ICESTREAM_OK;
        }
        ICS_TRY(ics_collector_add(collector, ICS_HAND_OVER(hits), got, error));
    }
}

/* The hits of a file first go to a separate collector, because its last row may be the one that
 * is damaged. */
static int add_rows(ics_merge *merge, const char *path, ics_hit_reader *reader,
                    icestream_error *error)
{
    const json_t *metadata = ics_hit_reader_metadata(reader);
    ICS_DESTROYS(ics_collector_destroy) ics_collector *own = NULL;
    ICS_TRY(ics_collector_create(&merge->budget, merge->folder, &own, error));
    ICS_TRY(collect(merge, reader, own, error));
    ICS_TRY(ics_hit_check_account(path, metadata, ics_hit_reader_rows(reader), error));
    ICS_TRY(ics_merged_metadata_add(&merge->metadata, path, metadata, error));
    ICS_TRY(ics_collector_take(merge->collector, own, error));
    return ics_collector_add(merge->collector, NULL, 0, error);
}

static int add_file(ics_merge *merge, const char *path, ics_hit_reader *reader, bool *added,
                    icestream_error *error)
{
    const json_t *metadata = ics_hit_reader_metadata(reader);
    ics_merged_verdict verdict = ICS_MERGED_NEW;
    ICS_TRY(ics_merged_metadata_check(&merge->metadata, path, metadata, error));
    ICS_TRY(ics_merged_inputs_add(&merge->inputs, path, metadata, &verdict, error));
    *added = verdict == ICS_MERGED_NEW;
    if (!*added) {
        return ICESTREAM_OK;
    }
    const int status = add_rows(merge, path, reader, error);
    if (status != ICESTREAM_OK) {
        ics_merged_inputs_withdraw(&merge->inputs, metadata);
    }
    return status;
}

int ics_merge_add(ics_merge *merge, const char *path, bool *added, icestream_error *error)
{
    ICS_DESTROYS(ics_hit_reader_destroy) ics_hit_reader *reader = NULL;
    *added = false;
    ICS_TRY(interrupted(merge, error));
    ICS_TRY(check_not_output(merge, path, error));
    ICS_TRY(ics_hit_reader_open(path, true, &reader, error));
    return add_file(merge, path, reader, added, error);
}

int ics_merge_learn(ics_merge *merge, const char *path, icestream_error *error)
{
    ICS_DESTROYS(ics_hit_reader_destroy) ics_hit_reader *reader = NULL;
    ICS_TRY(ics_hit_reader_open(path, false, &reader, error));
    const json_t *metadata = ics_hit_reader_metadata(reader);
    ICS_TRY(ics_merged_metadata_check(&merge->metadata, path, metadata, error));
    return ics_merged_inputs_learn(&merge->inputs, path, metadata, error);
}

/* ---- committing ------------------------------------------------------------------------------ */

static int append(void *user, const icestream_hit *hits, size_t count, icestream_error *error)
{
    return ics_table_writer_append(user, hits, count, error);
}

int ics_merge_commit(ics_merge *merge, icestream_error *error)
{
    json_auto_t *metadata = NULL;
    if (merge->inputs.count > ICS_MERGE_INPUTS_MAX ||
        ics_merge_rows(merge) >> ICS_MERGE_ROWS_POWER > 0) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: found %zu step files with %" PRIu64
                             " hits, expected at most %d step files and fewer than 2^%d hits in "
                             "one file",
                             merge->path, merge->inputs.count, ics_merge_rows(merge),
                             ICS_MERGE_INPUTS_MAX, ICS_MERGE_ROWS_POWER);
    }
    ICS_TRY(ics_collector_merge(merge->collector, append, merge->writer, merge->cancel, error));
    json_auto_t *inputs = ics_merged_inputs_list(&merge->inputs);
    if (inputs == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", merge->path);
    }
    ICS_TRY(ics_merged_metadata_make(&merge->metadata, inputs, &metadata, error));
    ICS_TRY(ics_table_writer_commit(merge->writer, metadata, error));
    printf("%s: %" PRIu64 " hit%s of %zu step file%s, from %zu hit file%s\n", merge->path,
           ics_merge_rows(merge), ics_plural_s(ics_merge_rows(merge)), merge->inputs.count,
           ics_plural_s(merge->inputs.count), merge->metadata.files,
           ics_plural_s(merge->metadata.files));
    fflush(stdout);
    end_output(merge);
    return ICESTREAM_OK;
}
