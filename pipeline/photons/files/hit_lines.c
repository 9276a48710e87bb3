#include "pipeline/photons/files/hit_lines.h"

#include "base/error.h"
#include "pipeline/photons/files/hit_reader.h"

#include <stdlib.h>

/* Hits that are read at a time. */
enum { BLOCK = 4096 };

static int put_all(ics_text_output *file, ics_hit_reader *reader, icestream_hit *hits,
                   const ics_hit_form *form, icestream_error *error)
{
    icestream_hit last;
    bool is_empty = true;
    ICS_TRY(form->begin(file, error));
    for (size_t got = 1; got > 0;) {
        ICS_TRY(ics_hit_reader_read(reader, hits, BLOCK, &got, error));
        for (size_t i = 0; i < got; ++i) {
            const icestream_hit *before = i > 0 ? &hits[i - 1] : &last;
            ICS_TRY(form->put(file, &hits[i], is_empty ? NULL : before, error));
            is_empty = false;
        }
        last = got > 0 ? hits[got - 1] : last;
        ICS_TRY(ics_text_output_pass_on(file, error));
    }
    return form->end != NULL ? form->end(file, is_empty, error) : ICESTREAM_OK;
}

int ics_hit_lines_export(const char *from, const char *to, bool force, const ics_hit_form *form,
                         icestream_error *error)
{
    ICS_DESTROYS(ics_hit_reader_destroy) ics_hit_reader *reader = NULL;
    ICS_DESTROYS(ics_text_output_destroy) ics_text_output *file = NULL;
    ICS_FREES icestream_hit *hits = malloc(BLOCK * sizeof *hits);
    if (hits == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", to);
    }
    ICS_TRY(ics_hit_reader_open(from, true, &reader, error));
    ICS_TRY(ics_text_output_create(to, force, &file, error));
    ICS_TRY(put_all(file, reader, hits, form, error));
    return ics_text_output_commit(file, error);
}
