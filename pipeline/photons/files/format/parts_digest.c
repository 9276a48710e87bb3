#include "pipeline/photons/files/format/parts_digest.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/parts.h"
#include "pipeline/photons/files/format/sha256_lanes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes of a part that are read at a time, so that those of all lanes stay in the cache of a core:
 * a multiple of ICS_SHA256_BLOCK. */
enum { PIECE = 64 << 10 };

bool ics_parts_digest_is_text(const char *text, size_t size)
{
    enum { DIGITS = ICS_DIGEST_TEXT - 1, NUMBER = 20 };
    const size_t number = size > DIGITS + 1 ? size - DIGITS - 1 : 0;
    if (size < DIGITS || strspn(text, "0123456789abcdef") != DIGITS) {
        return false;
    }
    return size == DIGITS ||
           (text[DIGITS] == '-' && number > 0 && number <= NUMBER && text[DIGITS + 1] != '0' &&
            strspn(text + DIGITS + 1, "0123456789") == number);
}

bool ics_parts_digest_has_parts(const char *text)
{
    return strchr(text, '-') != NULL;
}

static int no_memory(const char *name, icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory for its digest", name);
}

/* Reads up to `size` bytes; *got is smaller only at the end of the file. */
static int read_piece(const ics_parts_digest_order *order, uint64_t at, unsigned char *bytes,
                      size_t size, size_t *got, icestream_error *error)
{
    for (*got = 0; *got < size;) {
        const ssize_t count = TEMP_FAILURE_RETRY(
            pread(order->descriptor, bytes + *got, size - *got, (off_t)(at + *got)));
        if (count < 0) {
            return ics_error_set_cause(error, ics_error_of_input(errno), errno,
                                       "%s: byte %" PRIu64 ": cannot read: %s", order->name,
                                       at + *got, strerror(errno));
        }
        if (count == 0) {
            break;
        }
        *got += (size_t)count;
    }
    if (order->take != NULL) {
        order->take(order->user, at, bytes, *got);
    }
    return ICESTREAM_OK;
}

static int check_stop(const ics_parts_digest_order *order, icestream_error *error)
{
    return order->is_stopped != NULL && order->is_stopped(order->user)
               ? ics_error_set(error, ICESTREAM_E_INTERRUPTED, "%s: interrupted while checking",
                               order->name)
               : ICESTREAM_OK;
}

/* ---- one stream of bytes --------------------------------------------------------------------- */

/* Adds the bytes from `at` to `end` to a digest; a file that has become shorter ends there. */
static int digest_range(const ics_parts_digest_order *order, uint64_t at, uint64_t end,
                        unsigned char *piece, ics_digest *digest, char text[ICS_DIGEST_TEXT],
                        icestream_error *error)
{
    ics_digest_reset(digest);
    for (size_t got = PIECE; at < end && got == PIECE; at += got) {
        const size_t wanted = end - at < PIECE ? (size_t)(end - at) : PIECE;
        ICS_TRY(check_stop(order, error));
        ICS_TRY(read_piece(order, at, piece, wanted, &got, error));
        ics_digest_add(digest, piece, got);
    }
    ics_digest_text(digest, text);
    return text[0] != '\0' ? ICESTREAM_OK : no_memory(order->name, error);
}

int ics_parts_digest_plain(const ics_parts_digest_order *order, char text[ICS_DIGEST_TEXT],
                           icestream_error *error)
{
    ICS_DESTROYS(ics_digest_destroy) ics_digest *digest = NULL;
    ICS_FREES unsigned char *piece = malloc(PIECE);
    text[0] = '\0';
    if (piece == NULL || ics_digest_create(&digest, error) != ICESTREAM_OK) {
        return no_memory(order->name, error);
    }
    const int status = digest_range(order, 0, order->bytes, piece, digest, text, error);
    if (status != ICESTREAM_OK) {
        text[0] = '\0';
    }
    return status;
}

/* ---- parts on several threads ---------------------------------------------------------------- */

/* What the threads share. */
typedef struct shares {
    const ics_parts_digest_order *order;
    uint64_t parts;
    bool has_lanes;                 /* the processor digests several parts at once */
    atomic_uint_fast64_t next;      /* the first part that no thread has */
    char (*texts)[ICS_DIGEST_TEXT]; /* [parts] */
    icestream_error errors[ICS_PARTS_MAX];
} shares;

/* What one thread needs. */
typedef struct hand {
    shares *all;
    unsigned char *pieces; /* [ICS_SHA256_LANES][PIECE] */
    ics_digest *digest;
    icestream_error *error;
} hand;

static uint64_t end_of(const shares *all, uint64_t part)
{
    const uint64_t at = part * ICS_DIGEST_PART, bytes = all->order->bytes;
    return bytes - at < ICS_DIGEST_PART ? bytes : at + ICS_DIGEST_PART;
}

/* A part in a lane. */
typedef struct lane_part {
    uint64_t at, end;
    size_t got; /* bytes of its piece */
} lane_part;

static bool is_done(const lane_part *part)
{
    return part->got < PIECE || part->at == part->end;
}

/* Adds the pieces of all lanes, as far as all of them have whole blocks, then what only some have.
 */
static void add_pieces(const hand *self, ics_sha256_lane *lanes, size_t count,
                       const lane_part *parts)
{
    const unsigned char *bytes[ICS_SHA256_LANES];
    size_t common = PIECE;
    for (size_t k = 0; k < count; ++k) {
        bytes[k] = self->pieces + k * PIECE;
        common = parts[k].got < common ? parts[k].got : common;
    }
    common /= ICS_SHA256_BLOCK;
    ics_sha256_lanes_add(lanes, count, bytes, common);
    for (size_t k = 0; k < count; ++k) {
        bytes[k] += common * ICS_SHA256_BLOCK;
        ics_sha256_lanes_add(&lanes[k], 1, &bytes[k], parts[k].got / ICS_SHA256_BLOCK - common);
    }
}

/* Digests `count` consecutive parts at once. */
static int digest_lanes(const hand *self, uint64_t first, size_t count)
{
    ics_sha256_lane lanes[ICS_SHA256_LANES];
    lane_part parts[ICS_SHA256_LANES];
    for (size_t k = 0; k < count; ++k) {
        ics_sha256_lane_begin(&lanes[k]);
        parts[k] =
            (lane_part){.at = (first + k) * ICS_DIGEST_PART, .end = end_of(self->all, first + k)};
    }
    while (count > 0) {
        ICS_TRY(check_stop(self->all->order, self->error));
        for (size_t k = 0; k < count; ++k) {
            const uint64_t left = parts[k].end - parts[k].at;
            ICS_TRY(read_piece(self->all->order, parts[k].at, self->pieces + k * PIECE,
                               left < PIECE ? (size_t)left : PIECE, &parts[k].got, self->error));
            parts[k].at += parts[k].got;
        }
        add_pieces(self, lanes, count, parts);
        /* Only the last part is shorter, and so is what the file has lost. */
        for (; count > 0 && is_done(&parts[count - 1]); --count) {
            const size_t k = count - 1, rest = parts[k].got % ICS_SHA256_BLOCK;
            ics_sha256_lane_end(&lanes[k], self->pieces + k * PIECE + parts[k].got - rest, rest,
                                self->all->texts[first + k]);
        }
    }
    return ICESTREAM_OK;
}

/* Digests `count` consecutive parts one after the other. */
static int digest_each(const hand *self, uint64_t first, size_t count)
{
    for (uint64_t part = first; part < first + count; ++part) {
        ICS_TRY(digest_range(self->all->order, part * ICS_DIGEST_PART, end_of(self->all, part),
                             self->pieces, self->digest, self->all->texts[part], self->error));
    }
    return ICESTREAM_OK;
}

static void digest_some(void *user, size_t thread)
{
    shares *all = user;
    ICS_DESTROYS(ics_digest_destroy) ics_digest *digest = NULL;
    ICS_FREES unsigned char *pieces = malloc((size_t)ICS_SHA256_LANES * PIECE);
    icestream_error *error = &all->errors[thread];
    if (pieces == NULL || ics_digest_create(&digest, error) != ICESTREAM_OK) {
        (void)no_memory(all->order->name, error);
        return;
    }
    const hand self = {.all = all, .pieces = pieces, .digest = digest, .error = error};
    for (;;) {
        const uint64_t first = atomic_fetch_add(&all->next, ICS_SHA256_LANES);
        if (first >= all->parts) {
            return;
        }
        const uint64_t left = all->parts - first;
        const size_t count = left < ICS_SHA256_LANES ? (size_t)left : ICS_SHA256_LANES;
        if ((all->has_lanes ? digest_lanes : digest_each)(&self, first, count) != ICESTREAM_OK) {
            return;
        }
    }
}

/* Returns the first error. */
static int digest_all_parts(shares *all, icestream_error *error)
{
    const size_t wanted = ics_parts_count(all->parts, ICS_SHA256_LANES);
    const size_t threads = all->order->threads;
    ics_parts_run(wanted < threads ? wanted : threads, digest_some, all);
    for (size_t i = 0; i < ICS_PARTS_MAX; ++i) {
        ICS_TRY(
            ics_error_copy(error, all->errors[i].status != ICESTREAM_OK ? &all->errors[i] : NULL));
    }
    return ICESTREAM_OK;
}

/* Writes the digest of the lines of the parts, and their number. */
static int digest_lines(const shares *all, char text[ICS_PARTS_DIGEST_TEXT], icestream_error *error)
{
    static const char after[] = "  -\n"; /* sha256sum names its standard input so */
    char whole[ICS_DIGEST_TEXT];
    ICS_DESTROYS(ics_digest_destroy) ics_digest *digest = NULL;
    ICS_TRY(ics_digest_create(&digest, error));
    for (uint64_t part = 0; part < all->parts; ++part) {
        ics_digest_add(digest, all->texts[part], ICS_DIGEST_TEXT - 1);
        ics_digest_add(digest, after, sizeof after - 1);
    }
    ics_digest_text(digest, whole);
    if (whole[0] == '\0') {
        return no_memory(all->order->name, error);
    }
    snprintf(text, ICS_PARTS_DIGEST_TEXT, "%s-%" PRIu64, whole, all->parts);
    return ICESTREAM_OK;
}

int ics_parts_digest_of(const ics_parts_digest_order *order, char text[ICS_PARTS_DIGEST_TEXT],
                        icestream_error *error)
{
    text[0] = '\0';
    if (order->bytes <= ICS_DIGEST_PART) {
        return ics_parts_digest_plain(order, text, error);
    }
    ICS_FREES shares *all = calloc(1, sizeof *all);
    const uint64_t parts = (order->bytes - 1) / ICS_DIGEST_PART + 1;
    ICS_FREES char(*texts)[ICS_DIGEST_TEXT] = calloc(parts, sizeof *texts);
    if (all == NULL || texts == NULL) {
        return no_memory(order->name, error);
    }
    all->order = order;
    all->parts = parts;
    all->has_lanes = ics_sha256_lanes_work();
    all->texts = texts;
    ICS_TRY(digest_all_parts(all, error));
    return digest_lines(all, text, error);
}
