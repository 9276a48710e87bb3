/* Modules as their files list them, before they are checked. */
#ifndef ICS_PHOTONS_MODELS_DETECTOR_MODULE_LIST_H
#define ICS_PHOTONS_MODELS_DETECTOR_MODULE_LIST_H

#include "base/error.h"
#include "physics/model.h"
#include "pipeline/photons/models/text/text.h"
#include "pipeline/photons/models/types/list.h"

typedef struct ics_listed_module {
    ice_module module;    /* the type is set if has_type; the orientation is not set */
    size_t line;          /* 0: not from a file */
    bool has_type;        /* the list names the type of the module */
    ice_orientation turn; /* how the module hangs; w = x = y = z = 0: the list does not say it */
} ics_listed_module;

/* Lines of a file that have something in common. */
typedef struct ics_listed_oddity {
    size_t count, line; /* the line of the first of them */
} ics_listed_oddity;

static inline void ics_listed_oddity_add(ics_listed_oddity *oddity, size_t line)
{
    if (oddity->count++ == 0) {
        oddity->line = line;
    }
}

typedef struct ics_module_list {
    ics_listed_module *items; /* [count] */
    size_t count, capacity;
    ice_surroundings_kind surroundings; /* surroundings that the file says, or its format implies */
    double radius;                      /* m, that the file says; 0: none */
    /* What is odd in the file, for warnings. geo-f2k: rows that do not enter the list. */
    ics_listed_oddity deep; /* above 60 of strings up to 86, and yet deep in the ice */
    ics_listed_oddity low;  /* modules with a string or a number below 1 */
    /* CSV */
    ics_listed_oddity plain; /* modules with an empty field for their efficiency */
    ics_listed_oddity parts; /* modules with a row for each PMT */
    /* DETX */
    ics_listed_oddity status;  /* PMTs with a status that is not 0 */
    ics_listed_oddity skipped; /* lines before the header */
} ics_module_list;

void ics_module_list_free(ics_module_list *list);

/* For readers of lists. Checks the numbers of a row, and appends its module with this string and
 * number; the rest of `given` is set. Faults are counted in the reader. ICESTREAM_OK, also after a
 * fault; ICESTREAM_E_CONFIG: too many modules; ICESTREAM_E_MEMORY. */
int ics_module_list_add_row(ics_text_reader *reader, double string, double number,
                            const ics_listed_module *given, ics_module_list *list);
/* Ends the reading of a list: returns the status, or ICESTREAM_E_CONFIG if the reader has faults.
 * Empties the list unless ICESTREAM_OK is returned. */
int ics_module_list_finish(ics_text_reader *reader, int status, ics_module_list *list);

/* Makes the 86 strings of physics.md 13.3. ICESTREAM_OK or ICESTREAM_E_MEMORY; the caller frees
 * *out in every case. */
int ics_module_list_hex86(bool jitter, bool dense, ics_module_list *out, icestream_error *error);

/* Reads geo-f2k: name, hexadecimal id, x, y, height relative to the surface, string, module. Only
 * modules in the deep ice (string above 86, or string > 0 and module 1 .. 60) enter the list, which
 * may stay empty.
 * ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. */
int ics_module_list_geo(const ics_text *text, ics_module_list *out, icestream_error *error);

/* Whether a text is a list of Prometheus (NAME.geo), and reading it. String and module count from 0
 * there. The same errors. */
bool ics_module_list_is_prometheus(const ics_text *text);
int ics_module_list_prometheus(const ics_text *text, ics_module_list *out, icestream_error *error);

/* Reads CSV with the columns string, module, x, y, z and optionally efficiency; or string_index,
 * dom_index (both from 0), x_m, y_m, z_m. Optional columns: type, a name of `types` (NULL: any name
 * is right, and has no meaning); an orientation, as the unit quaternion qw, qx, qy, qz or as
 * zenith, azimuth, roll in degrees (docs/detectors.md). With a column pmt_number there is a row for
 * each PMT, and those of a module, one after the other, become one module in their middle.
 * ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. */
int ics_module_list_csv(const ics_text *text, const ics_types *types, ics_module_list *out,
                        icestream_error *error);

#endif
