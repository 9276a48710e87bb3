#include "base/cleanup.h"
#include "base/error.h"
#include "pipeline/photons/files/format/digest.h"
#include "pipeline/photons/models/ice/sources.h"
#include "pipeline/photons/models/text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Models without the file `version`, which says how birefringence was subtracted. spice_bfr-dv1 is
 * older than this file: its ppc always subtracted the same at every wavelength (ini.cxx of
 * github.com/AlexHarn/bfrv1_icetray). */
static const ics_ice_known known[] = {
    {"63b1daabd134bf49c94200cd0979819ea970244e6107e8dab64c07b74de4a92e", "spice_bfr-v2", "constant",
     ICE_TAKEN_CONSTANT},
    {"ea7a0748e15c47d3ffe18abc6bd53fcae38a80c0d3a7d6d10136b0151d866f8c", "spice_ftp-v3m", "none",
     ICE_TAKEN_NOTHING},
    {"901f598f9c574cd31f6fd1252aa1d4406e363a7488e2b9b789e893f0631bf7ff", "spice_bfr-dv1",
     "constant", ICE_TAKEN_CONSTANT},
};

/* The digest of the numbers of a table, row by row, so that blanks, comments and line ends do not
 * matter. */
static int digest_numbers(const ics_text *text, char digest[ICS_DIGEST_TEXT],
                          icestream_error *error)
{
    ics_digest *numbers;
    ICS_TRY(ics_digest_create(&numbers, error));
    ics_text_reader reader = ics_text_open(text, ' ', NULL);
    ics_text_line line;
    while (ics_text_next(&reader, &line) && line.count <= ICS_TEXT_FIELDS_MAX) {
        double row[ICS_TEXT_FIELDS_MAX] = {0};
        for (size_t i = 0; i < line.count; ++i) {
            ics_text_field_number(&line.fields[i], &row[i]);
        }
        ics_digest_add_numbers(numbers, row, line.count);
    }
    ics_digest_text(numbers, digest);
    ics_digest_destroy(numbers);
    return digest[0] != '\0' ? ICESTREAM_OK : ics_error_no_memory(error, "ice");
}

int ics_ice_known_find(const char *folder, const ics_ice_known **out, icestream_error *error)
{
    char *path, digest[ICS_DIGEST_TEXT];
    ICS_CLEANUP(ics_text_free) ics_text text = {0};
    *out = NULL;
    if (asprintf(&path, "%s/icemodel.dat", folder) < 0) {
        return ics_error_no_memory(error, "ice");
    }
    ICS_TRY(ics_text_read_own(path, &text, error));
    ICS_TRY(digest_numbers(&text, digest, error));
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
        if (strcmp(digest, known[i].digest) == 0) {
            *out = &known[i];
        }
    }
    return ICESTREAM_OK;
}
