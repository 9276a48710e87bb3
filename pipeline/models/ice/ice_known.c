#include "pipeline/models/ice/ice_known.h"

#include "base/error.h"
#include "pipeline/files/format/digest.h"
#include "pipeline/models/text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Models without the file `version`, which says how birefringence was subtracted. */
static const ics_ice_known known[] = {
    {"ee27b75b59580eb926640ca54897df653a8230a78093bb17ff4ca3189704ed4e", "spice_bfr-v2", "constant",
     ICE_TAKEN_CONSTANT},
    {"35cb10cab1c141b9a3208ec43dc0909d234f7dcbe7ec8117d2ccef7fb597264b", "spice_ftp-v3m", "none",
     ICE_TAKEN_NOTHING},
};

int ics_ice_known_find(const char *folder, const ics_ice_known **out, icestream_error *error)
{
    char *path, digest[ICS_DIGEST_TEXT];
    ics_text text;
    *out = NULL;
    if (asprintf(&path, "%s/icemodel.dat", folder) < 0) {
        return ics_error_add(error, ICESTREAM_E_MEMORY, "ice: error: out of memory");
    }
    int status = ics_text_read(path, &text, error);
    if (status == ICESTREAM_OK) {
        status = ics_digest_of(text.memory, text.size, digest, error);
        ics_text_free(&text);
    }
    for (size_t i = 0; status == ICESTREAM_OK && i < sizeof known / sizeof *known; ++i) {
        if (strcmp(digest, known[i].digest) == 0) {
            *out = &known[i];
        }
    }
    free(path);
    return status;
}
