#include "pipeline/photons/files/format/file_digest.h"

#include "base/error.h"
#include "pipeline/photons/files/format/crc32c.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    THREADS = 4,               /* that digest one file, because a run reads several files at once */
    LOOK_AGAIN = 50 * 1000000, /* how often a thread that waits looks whether it shall stop (ns) */
};

/* Checksums of a block of rows: of its bytes in the part in which it begins, and of those in the
 * next part, which another thread may read. */
typedef struct block_sums {
    uint32_t sum[2], size[2];
} block_sums;

struct ics_file_digest {
    ics_file_digest_order order;
    block_sums *blocks; /* [sums.count] */
    ics_trailer_checksums sums;
    icestream_error error; /* the result */
    char text[ICS_PARTS_DIGEST_TEXT];
    const atomic_bool *cancel; /* of the thread that computes; NULL: none */
    pthread_t thread;
    bool has_thread; /* which was not joined yet */
    atomic_bool is_unwanted, is_changed;
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

/* The header was read before, and must be the same. */
static void compare_header(ics_file_digest *digest, uint64_t offset, const unsigned char *bytes,
                           size_t size)
{
    const size_t header = digest->order.header_bytes;
    const size_t left = offset < header ? header - (size_t)offset : 0;
    if (left > 0 && memcmp(digest->order.header + offset, bytes, left < size ? left : size) != 0) {
        atomic_store_explicit(&digest->is_changed, true, memory_order_relaxed);
    }
}

/* Adds bytes to the checksums, as far as they are rows. A piece is never in two parts. */
static void take_piece(void *user, uint64_t offset, const unsigned char *bytes, size_t size)
{
    ics_file_digest *digest = user;
    const uint64_t begin = digest->order.header_bytes, end = digest->order.rows_end;
    const uint64_t part = offset / ICS_DIGEST_PART * ICS_DIGEST_PART;
    uint64_t at = offset > begin ? offset : begin;
    const uint64_t stop = offset + size < end ? offset + size : end;
    compare_header(digest, offset, bytes, size);
    while (at < stop) {
        const uint64_t block = (at - begin) / ICS_BLOCK_BYTES;
        const uint64_t block_begin = begin + block * ICS_BLOCK_BYTES;
        const uint64_t block_end = block_begin + ICS_BLOCK_BYTES;
        const size_t count = (size_t)((block_end < stop ? block_end : stop) - at);
        const int side = block_begin < part;
        block_sums *sums = &digest->blocks[block];
        sums->sum[side] = ics_crc32c(sums->sum[side], bytes + (at - offset), count);
        sums->size[side] += (uint32_t)count;
        at += count;
    }
}

static bool is_stopped(void *user)
{
    const ics_file_digest *digest = user;
    return atomic_load_explicit(&digest->is_unwanted, memory_order_relaxed) ||
           (digest->cancel != NULL && atomic_load_explicit(digest->cancel, memory_order_relaxed));
}

/* The checksum of bytes with the checksum a, and behind them `size` bytes with the checksum b.
 * Checksums are linear: those of zeros show what the first bytes contribute. */
static uint32_t join(uint32_t a, uint32_t b, size_t size)
{
    static const unsigned char zeros[4096];
    uint32_t after = a, alone = 0;
    for (size_t left = size; left > 0;) {
        const size_t count = left < sizeof zeros ? left : sizeof zeros;
        after = ics_crc32c(after, zeros, count);
        alone = ics_crc32c(alone, zeros, count);
        left -= count;
    }
    return after ^ alone ^ b;
}

/* Makes the checksums of the blocks. Returns false if rows are missing. */
static bool join_blocks(ics_file_digest *digest)
{
    const uint64_t bytes = digest->order.rows_end - digest->order.header_bytes;
    bool is_whole = true;
    for (size_t i = 0; i < digest->sums.count; ++i) {
        const block_sums *of = &digest->blocks[i];
        const uint64_t left = bytes - (uint64_t)i * ICS_BLOCK_BYTES;
        is_whole &= of->size[0] + of->size[1] == (left < ICS_BLOCK_BYTES ? left : ICS_BLOCK_BYTES);
        digest->sums.values[i] =
            of->size[1] > 0 ? join(of->sum[0], of->sum[1], of->size[1]) : of->sum[0];
    }
    return is_whole;
}

static int compute(ics_file_digest *digest)
{
    const ics_file_digest_order *order = &digest->order;
    const ics_parts_digest_order parts = {.descriptor = order->descriptor,
                                          .name = order->name,
                                          .bytes = (uint64_t)order->opened.st_size,
                                          .threads = THREADS,
                                          .user = digest,
                                          .take = take_piece,
                                          .is_stopped = is_stopped};
    memset(digest->blocks, 0, digest->sums.count * sizeof *digest->blocks);
    ICS_TRY(order->is_plain ? ics_parts_digest_plain(&parts, digest->text, &digest->error)
                            : ics_parts_digest_of(&parts, digest->text, &digest->error));
    if (!join_blocks(digest) || atomic_load(&digest->is_changed) ||
        !ics_file_digest_is_unchanged(order->descriptor, &order->opened)) {
        return ics_error_set(&digest->error, ICESTREAM_E_INPUT,
                             "%s: the file was changed while it was read", order->name);
    }
    return ICESTREAM_OK;
}

static void *run(void *user)
{
    compute(user);
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
    const uint64_t bytes = order->rows_end - order->header_bytes;
    const size_t blocks = (size_t)((bytes + ICS_BLOCK_BYTES - 1) / ICS_BLOCK_BYTES);
    *out = NULL;
    if (digest != NULL) {
        digest->order = *order;
        digest->blocks = calloc(blocks + 1, sizeof *digest->blocks);
        digest->sums.values = calloc(blocks + 1, sizeof *digest->sums.values);
        digest->sums.count = digest->sums.capacity = blocks;
    }
    if (digest == NULL || digest->blocks == NULL || digest->sums.values == NULL) {
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
    free(digest->blocks);
    free(digest);
}

/* ---- the result ------------------------------------------------------------------------------ */

/* Waits for the thread, which may have ended before. Returns false if it shall wait no longer. */
static bool wait_for_thread(ics_file_digest *digest, const atomic_bool *cancel)
{
    while (digest->has_thread &&
           (cancel == NULL || !atomic_load_explicit(cancel, memory_order_relaxed))) {
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
                          char text[ICS_PARTS_DIGEST_TEXT], icestream_error *error)
{
    text[0] = 0;
    if (!wait_for_thread(digest, cancel)) {
        return ics_error_set(error, ICESTREAM_E_INTERRUPTED, "%s: interrupted while checking",
                             digest->order.name);
    }
    if (!digest->is_done) {
        digest->error.status = ICESTREAM_OK;
        digest->cancel = cancel;
        digest->is_done = compute(digest) != ICESTREAM_E_INTERRUPTED;
        digest->cancel = NULL;
    }
    ICS_TRY(ics_error_copy(error, digest->error.status ? &digest->error : NULL));
    memcpy(text, digest->text, sizeof digest->text);
    return ICESTREAM_OK;
}

const ics_trailer_checksums *ics_file_digest_checksums(const ics_file_digest *digest)
{
    return &digest->sums;
}
