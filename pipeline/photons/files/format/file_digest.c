#include "pipeline/photons/files/format/file_digest.h"

#include "base/error.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    PIECE = 128 << 10,         /* bytes that are read at a time; they stay in the cache of a core */
    LOOK_AGAIN = 50 * 1000000, /* how often a thread that waits looks whether it shall stop (ns) */
};

struct ics_file_digest {
    ics_file_digest_order order;
    unsigned char *piece; /* [PIECE] */
    ics_digest *state;
    ics_trailer_checksums sums;
    icestream_error error; /* the result */
    char text[ICS_DIGEST_TEXT];
    pthread_t thread;
    bool has_thread; /* which was not joined yet */
    atomic_bool is_unwanted;
    bool is_done; /* result, text and sums are known; only when there is no thread */
};

bool ics_file_digest_is_unchanged(int descriptor, const struct stat *before)
{
    struct stat now;
    return fstat(descriptor, &now) == 0 && now.st_size == before->st_size &&
           now.st_mtim.tv_sec == before->st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == before->st_mtim.tv_nsec;
}

/* ---- computing ------------------------------------------------------------------------------- */

/* Reads up to PIECE bytes; *got = 0 at the end of the file. */
static int read_piece(ics_file_digest *digest, uint64_t offset, size_t *got)
{
    const ics_file_digest_order *order = &digest->order;
    const ssize_t count =
        TEMP_FAILURE_RETRY(pread(order->descriptor, digest->piece, PIECE, (off_t)offset));
    *got = count > 0 ? (size_t)count : 0;
    return count >= 0 ? ICESTREAM_OK
                      : ics_error_set_cause(&digest->error, ics_error_of_input(errno), errno,
                                            "%s: byte %" PRIu64 ": cannot read: %s", order->name,
                                            offset, strerror(errno));
}

/* Adds bytes to the digest, and to the checksums as far as they are rows. */
static int add_piece(ics_file_digest *digest, uint64_t offset, size_t size)
{
    const uint64_t left = offset < digest->order.rows_end ? digest->order.rows_end - offset : 0;
    const size_t rows = left < size ? (size_t)left : size;
    ics_digest_add(digest->state, digest->piece, size);
    return ics_trailer_checksums_add(&digest->sums, digest->piece, rows, &digest->error);
}

static bool is_stopped(const ics_file_digest *digest, const atomic_bool *cancel)
{
    return atomic_load_explicit(&digest->is_unwanted, memory_order_relaxed) ||
           (cancel != NULL && atomic_load_explicit(cancel, memory_order_relaxed));
}

static int interrupted(const ics_file_digest *digest, icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_INTERRUPTED, "%s: interrupted while checking",
                         digest->order.name);
}

static int compute(ics_file_digest *digest, const atomic_bool *cancel)
{
    const ics_file_digest_order *order = &digest->order;
    uint64_t offset = order->header_bytes;
    size_t got = 1;
    ics_digest_reset(digest->state);
    ics_trailer_checksums_reset(&digest->sums);
    ics_digest_add(digest->state, order->header, order->header_bytes);
    for (; got > 0; offset += got) {
        if (is_stopped(digest, cancel)) {
            return interrupted(digest, &digest->error);
        }
        ICS_TRY(read_piece(digest, offset, &got));
        ICS_TRY(add_piece(digest, offset, got));
    }
    ICS_TRY(ics_trailer_checksums_finish(&digest->sums, &digest->error));
    if (offset < order->rows_end ||
        !ics_file_digest_is_unchanged(order->descriptor, &order->opened)) {
        return ics_error_set(&digest->error, ICESTREAM_E_INPUT,
                             "%s: the file was changed while it was read", order->name);
    }
    ics_digest_text(digest->state, digest->text);
    return digest->text[0] != 0 ? ICESTREAM_OK
                                : ics_error_set(&digest->error, ICESTREAM_E_MEMORY,
                                                "%s: out of memory for its digest", order->name);
}

static void *run(void *user)
{
    compute(user, NULL);
    return NULL;
}

/* ---- beginning and ending -------------------------------------------------------------------- */

/* Signals are for other threads. */
static bool start_quietly(ics_file_digest *digest)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failure = pthread_create(&digest->thread, NULL, run, digest);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failure == 0;
}

int ics_file_digest_begin(const ics_file_digest_order *order, ics_file_digest **out,
                          icestream_error *error)
{
    ICS_DESTROYS(ics_file_digest_destroy) ics_file_digest *digest = calloc(1, sizeof *digest);
    *out = NULL;
    if (digest != NULL) {
        digest->order = *order;
        digest->piece = malloc(PIECE);
    }
    if (digest == NULL || digest->piece == NULL ||
        ics_digest_create(&digest->state, error) != ICESTREAM_OK) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory for its digest",
                             order->name);
    }
    digest->has_thread = start_quietly(digest);
    *out = ICS_HAND_OVER(digest);
    return ICESTREAM_OK;
}

void ics_file_digest_destroy(ics_file_digest *digest)
{
    if (digest == NULL) {
        return;
    }
    atomic_store(&digest->is_unwanted, true);
    if (digest->has_thread) {
        pthread_join(digest->thread, NULL);
    }
    ics_trailer_checksums_free(&digest->sums);
    ics_digest_destroy(digest->state);
    free(digest->piece);
    free(digest);
}

/* ---- the result ------------------------------------------------------------------------------ */

/* Waits for the thread, which may have ended before. Returns false if it shall wait no longer. */
static bool wait_for_thread(ics_file_digest *digest, const atomic_bool *cancel)
{
    while (digest->has_thread && !is_stopped(digest, cancel)) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += LOOK_AGAIN;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        digest->has_thread = pthread_timedjoin_np(digest->thread, NULL, &until) != 0;
        digest->is_done = !digest->has_thread;
    }
    return !digest->has_thread;
}

int ics_file_digest_await(ics_file_digest *digest, const atomic_bool *cancel,
                          char text[ICS_DIGEST_TEXT], icestream_error *error)
{
    text[0] = 0;
    if (!wait_for_thread(digest, cancel)) {
        return interrupted(digest, error);
    }
    if (!digest->is_done) {
        digest->error.status = ICESTREAM_OK;
        digest->is_done = compute(digest, cancel) != ICESTREAM_E_INTERRUPTED;
    }
    ICS_TRY(ics_error_copy(error, digest->error.status ? &digest->error : NULL));
    memcpy(text, digest->text, ICS_DIGEST_TEXT);
    return ICESTREAM_OK;
}

const ics_trailer_checksums *ics_file_digest_checksums(const ics_file_digest *digest)
{
    return &digest->sums;
}
