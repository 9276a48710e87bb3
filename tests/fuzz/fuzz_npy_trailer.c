/* Fuzzes what follows the rows of a file: metadata and tail. The file has a header of 1024 bytes
 * and three rows of 64 bytes. Every input is tried twice, the second time with a corrected tail, so
 * that the fuzzer gets past the checksum. Good inputs are in corpus/npy_trailer. */
#include "pipeline/photons/files/format/crc32c.h"
#include "pipeline/photons/files/format/trailer.h"
#include "pipeline/photons/files/metadata.h"
#include "tests/fuzz/fuzz_target.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 3, ROWS_END = 1024 + ROWS * ICS_HIT_BYTES };

static void read_trailer(const char *text, const ics_tail *tail)
{
    ics_trailer trailer;
    icestream_account account;
    icestream_error error = {.status = ICESTREAM_OK, .text = ""};
    uint32_t sum = 0;
    const ics_trailer_checksums sums = {.values = &sum, .count = 1};
    const ics_trailer_table table = {
        .schema = ics_layout_hits(), .rows = ROWS, .row_bytes = ICS_HIT_BYTES};
    if (ics_trailer_parse("fuzz", text, tail, &table, &trailer, &error)) {
        require(error.status == ICESTREAM_E_INPUT && strncmp(error.text, "fuzz: ", 6) == 0);
        require(trailer.metadata == NULL && trailer.checksums == NULL);
        return;
    }
    require(trailer.count == 1);
    (void)ics_trailer_verify(&trailer, "fuzz", &sums, ICS_HIT_BYTES, &error);
    if (ics_metadata_account(trailer.metadata, &account)) {
        (void)ics_metadata_account_closes(&account);
    }
    (void)ics_metadata_same_origin(trailer.metadata, trailer.metadata);
    ics_trailer_free(&trailer);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    icestream_error error = {.status = ICESTREAM_OK, .text = ""};
    ics_tail tail;
    if (size >= ICS_TAIL_BYTES &&
        ics_trailer_tail_parse("fuzz", bytes + size - ICS_TAIL_BYTES, ROWS_END, ROWS_END + size,
                               &tail, &error) == ICESTREAM_OK) {
        require(tail.length == size - ICS_TAIL_BYTES);
        read_trailer((const char *)bytes, &tail);
    }
    const ics_tail right = {ROWS_END, size, ics_crc32c(0, bytes, size)};
    read_trailer((const char *)bytes, &right);
    return 0;
}
