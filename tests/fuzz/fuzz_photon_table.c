/* Fuzzes files of photon tables. Every input is tried as a whole file, as the metadata of a table
 * of 480 cells, and as a file whose trailer is the input with a right tail, so that the fuzzer gets
 * past the checksum. Good inputs are in corpus/photon_table. */
#include "pipeline/photons/files/format/crc32c.h"
#include "pipeline/photons/files/format/trailer.h"
#include "pipeline/photons/table/file.h"
#include "pipeline/photons/table/metadata.h"
#include "tests/fuzz/fuzz_target.h"

#include <sys/mman.h>
#include <unistd.h>

enum { CELLS = 480 };

static void check(int status, const icestream_error *error, ics_table *table)
{
    if (status != ICESTREAM_OK) {
        require(status == ICESTREAM_E_INPUT || status == ICESTREAM_E_MEMORY);
        require(table == NULL);
        require(status == ICESTREAM_E_MEMORY || strncmp(error->text, "fuzz: ", 6) == 0);
        return;
    }
    require(table != NULL && table->sums != NULL && table->cells > 0);
    ics_table_destroy(table);
}

static void read_file(int file)
{
    icestream_error error = {.status = ICESTREAM_OK, .text = ""};
    ics_table *table = NULL;
    const int status = ics_table_read_descriptor(file, "fuzz", &table, &error);
    check(status, &error, table);
}

static void read_metadata(const uint8_t *bytes, size_t size)
{
    icestream_error error = {.status = ICESTREAM_OK, .text = ""};
    ics_table *table = NULL;
    json_t *metadata = json_loadb((const char *)bytes, size, JSON_REJECT_DUPLICATES, NULL);
    if (metadata != NULL) {
        const int status = ics_table_metadata_read("fuzz", metadata, CELLS, &table, &error);
        check(status, &error, table);
    }
    json_decref(metadata);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const unsigned char sums[1024 + CELLS * 8];
    unsigned char tail[ICS_TAIL_BYTES];
    const ics_tail right = {sizeof sums, size, ics_crc32c(0, bytes, size)};
    const int file = memfd_create("fuzz", MFD_CLOEXEC);
    require(file >= 0 && write(file, bytes, size) == (ssize_t)size);
    read_file(file);
    require(ftruncate(file, 0) == 0 && lseek(file, 0, SEEK_SET) == 0);
    ics_trailer_tail_write(&right, tail);
    require(write(file, sums, sizeof sums) == sizeof sums &&
            write(file, bytes, size) == (ssize_t)size &&
            write(file, tail, sizeof tail) == sizeof tail);
    read_file(file);
    close(file);
    read_metadata(bytes, size);
    return 0;
}
