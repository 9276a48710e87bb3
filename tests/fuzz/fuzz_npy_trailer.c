/* Any bytes as what follows the rows: metadata and tail. Files are made of 1024 bytes of header and
 * three rows of 64; to get beyond the checksums, the tail is also put right and tried again. */
#include "pipeline/files/format/crc32c.h"
#include "pipeline/files/format/trailer.h"
#include "pipeline/files/metadata.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { ROWS = 3, ROWS_END = 1024 + ROWS * IS_ROW_BYTES };

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void read_trailer(const char *text, const is_tail *tail)
{
    is_trailer trailer;
    is_account account;
    is_error error = {.status = IS_OK, .text = ""};
    uint32_t sum = 0;
    const is_block_checksums sums = {.values = &sum, .count = 1};
    if (is_trailer_parse("fuzz", text, tail, is_schema_hits(), ROWS, IS_ROW_BYTES, &trailer,
                         &error)) {
        require(error.status == IS_E_INPUT && strncmp(error.text, "fuzz: ", 6) == 0);
        require(trailer.metadata == NULL && trailer.checksums == NULL);
        return;
    }
    require(trailer.count == 1);
    (void)is_trailer_verify(&trailer, "fuzz", &sums, IS_ROW_BYTES, &error);
    if (is_metadata_account(trailer.metadata, &account))
        (void)is_account_closes(&account);
    (void)is_metadata_same_origin(trailer.metadata, trailer.metadata);
    is_trailer_free(&trailer);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    is_error error = {.status = IS_OK, .text = ""};
    is_tail tail;
    if (size >= IS_TAIL_BYTES && is_tail_parse("fuzz", bytes + size - IS_TAIL_BYTES, ROWS_END,
                                               ROWS_END + size, &tail, &error) == IS_OK) {
        require(tail.length == size - IS_TAIL_BYTES);
        read_trailer((const char *)bytes, &tail);
    }
    const is_tail right = {ROWS_END, size, is_crc32c(0, bytes, size)};
    read_trailer((const char *)bytes, &right);
    return 0;
}
