/* Fuzzes the checks of files of waveforms. Every input is tried as a whole file, as the metadata of
 * a file without rows, and as the rows of a file whose header, metadata and checksums are right, so
 * that the fuzzer gets past the checksums. Good inputs are in corpus/waveforms. */
#include "pipeline/photons/files/format/crc32c.h"
#include "pipeline/photons/files/format/trailer.h"
#include "pipeline/photons/files/waveform_check.h"
#include "tests/fuzz/fuzz_target.h"

#include <inttypes.h>
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HEADER_BYTES = 1024, ROW_BYTES = 40, ROWS_MAX = 1000 };

_Static_assert(sizeof(icestream_waveform_bin) == ROW_BYTES, "a row of the file is one in memory");

static bool is_waveforms(const char *path)
{
    json_t *metadata = NULL;
    icestream_error error = {.status = ICESTREAM_OK, .text = ""};
    (void)ics_waveform_check_is(path);
    const int shallow = ics_waveform_check_file(path, false, NULL, &error);
    error = (icestream_error){.status = ICESTREAM_OK, .text = ""};
    const int status = ics_waveform_check_file(path, true, &metadata, &error);
    require((status == ICESTREAM_OK) == (metadata != NULL));
    require(status != ICESTREAM_OK || shallow == ICESTREAM_OK);
    if (status != ICESTREAM_OK) {
        require(status == ICESTREAM_E_INPUT || status == ICESTREAM_E_MEMORY);
        require(error.status == status && strncmp(error.text, path, strlen(path)) == 0);
    }
    json_decref(metadata);
    return status == ICESTREAM_OK;
}

static void replace(int file, const void *bytes, size_t size)
{
    require(ftruncate(file, 0) == 0 && lseek(file, 0, SEEK_SET) == 0);
    require(write(file, bytes, size) == (ssize_t)size);
}

static void add_header(int file, size_t rows)
{
    unsigned char header[HEADER_BYTES];
    char text[HEADER_BYTES];
    const size_t length = HEADER_BYTES - 10;
    memset(header, ' ', sizeof header);
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = (unsigned char)(length & 255);
    header[9] = (unsigned char)(length >> 8);
    const int written = snprintf(text, sizeof text,
                                 "{'shape': (%zu,), 'descr': [('event_id', '<u8'), ('t', '<f8'), "
                                 "('weight', '<f8'), ('hits', '<u8'), ('bin', '<i4'), "
                                 "('string', '<u2'), ('module', '<u2')], 'fortran_order': False, }",
                                 rows);
    require(written > 0 && (size_t)written < length);
    memcpy(header + 10, text, (size_t)written);
    header[HEADER_BYTES - 1] = '\n';
    replace(file, header, sizeof header);
}

static void add_trailer(int file, size_t rows_end, const void *metadata, size_t size)
{
    unsigned char tail[ICS_TAIL_BYTES];
    const ics_tail right = {rows_end, size, ics_crc32c(0, metadata, size)};
    ics_trailer_tail_write(&right, tail);
    require(write(file, metadata, size) == (ssize_t)size &&
            write(file, tail, sizeof tail) == sizeof tail);
}

static void check_metadata(int file, const char *path, const uint8_t *bytes, size_t size)
{
    add_header(file, 0);
    add_trailer(file, HEADER_BYTES, bytes, size);
    (void)is_waveforms(path);
}

/* Whether rows that were accepted are in order and have hits with finite weights. */
static void require_order(const icestream_waveform_bin *rows, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        require(rows[i].hits > 0 && rows[i].weight >= 0 && isfinite(rows[i].weight) &&
                isfinite(rows[i].t));
        require(i == 0 || rows[i - 1].event_id <= rows[i].event_id);
    }
}

static void check_rows(int file, const char *path, const uint8_t *bytes, size_t size)
{
    static icestream_waveform_bin rows[ROWS_MAX];
    char metadata[512], checksums[16] = "";
    const size_t count = size / ROW_BYTES < ROWS_MAX ? size / ROW_BYTES : ROWS_MAX;
    uint64_t hits = 0;
    memcpy(rows, bytes, count * ROW_BYTES);
    for (size_t i = 0; i < count; ++i) {
        hits += rows[i].hits;
    }
    if (count > 0) {
        snprintf(checksums, sizeof checksums, "%" PRIu32, ics_crc32c(0, bytes, count * ROW_BYTES));
    }
    const int length =
        snprintf(metadata, sizeof metadata,
                 "{\"bin_ns\":10.0,\"range_ns\":[0.0,6427.0],\"hits\":%" PRIu64
                 ",\"outside\":0,\"schema\":\"icestream.waveforms\",\"version\":1,"
                 "\"rows\":%zu,\"crc32c\":{\"block_bytes\":1048576,\"values\":[%s]}}",
                 hits & INT64_MAX, count, checksums);
    require(length > 0 && (size_t)length < sizeof metadata);
    add_header(file, count);
    require(write(file, bytes, count * ROW_BYTES) == (ssize_t)(count * ROW_BYTES));
    add_trailer(file, HEADER_BYTES + count * ROW_BYTES, metadata, (size_t)length);
    if (is_waveforms(path)) {
        require_order(rows, count);
    } else {
        require(count > 0); /* a file without rows has no fault */
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char path[64];
    const int file = memfd_create("fuzz", MFD_CLOEXEC);
    require(file >= 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    replace(file, bytes, size);
    (void)is_waveforms(path);
    check_metadata(file, path, bytes, size);
    check_rows(file, path, bytes, size);
    close(file);
    return 0;
}
