#include "pipeline/photons/provenance/hit_check.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "pipeline/photons/files/hit_bins.h"
#include "pipeline/photons/files/waveform_check.h"
#include "pipeline/photons/provenance/settings.h"

#include <errno.h>
#include <inttypes.h>

/* ---- one file -------------------------------------------------------------------------------- */

/* Checks the counts of a complete account against each other and against the number of rows. */
static int check_counts(const char *path, const icestream_account *account, uint64_t rows,
                        icestream_error *error)
{
    if (!ics_metadata_account_closes(account)) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: trailer: account: found %" PRIu64
                             " photons created, expected the sum of absorbed, detected, left and "
                             "stopped",
                             path, account->created);
    }
    if (account->hits - account->undetected != rows) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: trailer: account.%s: found %" PRIu64 ", expected %" PRIu64
                             ", the number of rows",
                             path, account->undetected > 0 ? "photo_electrons" : "hits",
                             account->hits - account->undetected, rows);
    }
    /* Wide modules have hits of photons that go on (physics.md 8.4). */
    if (account->hits < account->detected) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: trailer: account.hits: found %" PRIu64
                             ", expected at least %" PRIu64
                             ", the number of detected photons, each of which stops at a hit",
                             path, account->hits, account->detected);
    }
    return ICESTREAM_OK;
}

int ics_hit_check_account(const char *path, const json_t *metadata, uint64_t rows,
                          icestream_error *error)
{
    icestream_account account;
    if (metadata == NULL) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: found no trailer, expected one with the photon "
                             "account",
                             path);
    }
    if (!ics_metadata_account(metadata, &account)) {
        return ics_error_set(
            error, ICESTREAM_E_INPUT,
            "%s: trailer: account: found none that is complete, expected the seven "
            "counts of the photon account",
            path);
    }
    return check_counts(path, &account, rows, error);
}

/* Reads all rows, so that checksums and values are checked, then checks the account. */
static int check_all(const char *path, ics_hit_reader *reader, icestream_error *error)
{
    enum { PIECE = 16384 };
    ICS_FREES icestream_hit *hits = malloc(PIECE * sizeof *hits);
    if (hits == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for reading hits");
    }
    for (size_t got = 1; got > 0;) {
        ICS_TRY(ics_hit_reader_read(reader, hits, PIECE, &got, error));
    }
    return ics_hit_check_account(path, ics_hit_reader_metadata(reader), ics_hit_reader_rows(reader),
                                 error);
}

int ics_hit_check_file(const char *path, icestream_error *error)
{
    ics_hit_reader *reader = NULL;
    ICS_TRY(ics_hit_reader_open(path, true, &reader, error));
    const int status = check_all(path, reader, error);
    ics_hit_reader_destroy(reader);
    return status;
}

/* ---- against a run --------------------------------------------------------------------------- */

/* Judges what header and trailer say. */
static ics_hit_verdict judge_metadata(const char *path, const json_t *metadata,
                                      const json_t *expected, icestream_error *why)
{
    char bins[200];
    const bool same = ics_metadata_same_origin(metadata, expected);
    /* Of a run that makes its steps, the particles are settings like others. */
    if (!ics_metadata_same_settings(metadata, expected) ||
        (!same && ics_settings_has_light(expected))) {
        ics_settings_explain(path, metadata, expected, why);
        return ICS_HITS_OTHER_SETTINGS;
    }
    if (!ics_hit_bins_same(metadata, expected, bins, sizeof bins)) {
        ics_error_set(why, ICESTREAM_E_INPUT, "%s: %s", path, bins);
        return ICS_HITS_OTHER_SETTINGS;
    }
    if (!same) {
        ics_error_set(why, ICESTREAM_E_INPUT, "%s: found hits of another step file", path);
        return ICS_HITS_OTHER_INPUT;
    }
    return ICS_HITS_MATCH;
}

static int judge_waveforms(const char *path, const json_t *expected, bool thorough,
                           ics_hit_verdict *out, icestream_error *why)
{
    json_auto_t *metadata = NULL;
    icestream_account account;
    ICS_TRY(ics_waveform_check_file(path, false, &metadata, why));
    if (!ics_metadata_account(metadata, &account)) {
        return ics_error_set(why, ICESTREAM_E_INPUT,
                             "%s: trailer: account: found none, expected that of a run", path);
    }
    *out = judge_metadata(path, metadata, expected, why);
    return *out == ICS_HITS_MATCH && thorough ? ics_waveform_check_file(path, true, NULL, why)
                                              : ICESTREAM_OK;
}

static int judge_rows(const char *path, ics_hit_reader *reader, const json_t *expected,
                      bool thorough, ics_hit_verdict *out, icestream_error *why)
{
    const json_t *metadata = ics_hit_reader_metadata(reader);
    ICS_TRY(ics_hit_check_account(path, metadata, ics_hit_reader_rows(reader), why));
    *out = judge_metadata(path, metadata, expected, why);
    return *out == ICS_HITS_MATCH && thorough ? check_all(path, reader, why) : ICESTREAM_OK;
}

static int judge_hits(const char *path, const json_t *expected, bool thorough, ics_hit_verdict *out,
                      icestream_error *why)
{
    ics_hit_reader *reader = NULL;
    ICS_TRY(ics_hit_reader_open(path, true, &reader, why));
    const int status = judge_rows(path, reader, expected, thorough, out, why);
    ics_hit_reader_destroy(reader);
    return status;
}

int ics_hit_check_judge(const char *path, const json_t *expected, bool thorough,
                        ics_hit_verdict *out, icestream_error *why, icestream_error *error)
{
    *why = (icestream_error){.status = ICESTREAM_OK};
    *out = ICS_HITS_UNSOUND;
    const int status = ics_waveform_check_is(path)
                           ? judge_waveforms(path, expected, thorough, out, why)
                           : judge_hits(path, expected, thorough, out, why);
    if (status != ICESTREAM_OK) {
        *out = why->cause == ENOENT ? ICS_HITS_MISSING : ICS_HITS_UNSOUND;
    }
    const bool ours = status == ICESTREAM_E_MEMORY || status == ICESTREAM_E_FAILED;
    if (ours || ics_error_may_pass(why)) {
        return ics_error_copy(error, why);
    }
    /* What the system refuses to read, such as a file of another user, may be sound. */
    return *out == ICS_HITS_UNSOUND && why->cause != 0
               ? ics_error_set_cause(error, ICESTREAM_E_OUTPUT, why->cause, "%s", why->text)
               : ICESTREAM_OK;
}

int ics_hit_check_collect(const char *path, const json_t *settings, size_t *count, bool *there,
                          icestream_error *found, icestream_error *error)
{
    ics_hit_verdict verdict = ICS_HITS_MISSING;
    icestream_error why = {.status = ICESTREAM_OK}, later = {.status = ICESTREAM_OK};
    const int status = ics_hit_check_judge(path, settings, false, &verdict, &why, &later);
    *there = status == ICESTREAM_OK && verdict != ICS_HITS_MISSING;
    if (status == ICESTREAM_E_MEMORY) {
        return ics_error_copy(error, &later);
    }
    /* A file that cannot be read now is looked at again with its step file. */
    if (status == ICESTREAM_OK && verdict == ICS_HITS_OTHER_SETTINGS) {
        if (*count == 0) { /* first, because the list may be longer than the text of an error */
            ics_error_add(found, ICESTREAM_E_OUTPUT,
                          "nothing was computed; --resume does not replace finished hits of "
                          "other settings: give the settings of these files, choose another "
                          "sink.directory, or compute the files again with --force");
        }
        ics_error_add(found, ICESTREAM_E_OUTPUT, "%s", why.text);
        ++*count;
    }
    return ICESTREAM_OK;
}
