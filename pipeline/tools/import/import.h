/* Writes a complete, commented run file for users of ppc and of clsim. */
#ifndef ICS_TOOLS_IMPORT_IMPORT_H
#define ICS_TOOLS_IMPORT_IMPORT_H

#include "pipeline/config/config.h"
#include "pipeline/models/ice/ice_sources.h"

/* What is asked for. */
typedef struct ics_import_request {
    const char *folder;      /* of the ice, as ppc and clsim have it */
    const char *particles;   /* an f2k file; NULL: an example is written */
    const char *subtraction; /* of birefringence: a word of the key; NULL: not given */
    const char *output;      /* "-": standard output */
    bool force;              /* replaces an existing file */
} ics_import_request;

/* What a folder of ice contains. */
typedef struct ics_import_folder {
    char *path;                /* as the run file names it, owned */
    char *particles;           /* the same of the f2k file; NULL: none */
    bool counts_events;        /* the numbers of its events do not ascend */
    const char *known_as;      /* a public model, found by its bytes; NULL: another one */
    const char *subtraction;   /* that this model needs; NULL: not known */
    ics_ppc_settings settings; /* of cfg.txt */
    double tilt_origin;        /* m: of the reference string of a tilt along a line */
    char reference[32];        /* "string 86"; "": there is no such tilt */
    int missing_reference;     /* this string, which geo-f2k lacks; 0: none */
    bool has_modules;          /* geo-f2k */
    bool has_columns;          /* hole ice */
    bool has_version;          /* the file says how birefringence was subtracted */
    bool is_birefringent;
    bool has_line, has_map; /* of the tilt */
    bool has_cables;        /* dx.dat */
    bool has_angular;       /* as.dat */
    bool has_wavelengths;   /* wv.dat */
} ics_import_folder;

/* Looks at the folder. Paths become those that a run file at request->output needs. The caller
 * frees *out with ics_import_folder_free(), also after an error. ICESTREAM_E_CONFIG: the folder or
 * a file of it cannot be read. ICESTREAM_E_MEMORY. */
int ics_import_folder_read(const ics_import_request *request, ics_import_folder *out,
                           icestream_error *error);
void ics_import_folder_free(ics_import_folder *folder);

/* Write the text of the run file. Check ferror(out) afterwards. `subtraction` is a word of
 * ice.birefringence_subtraction. */
void ics_import_write_ppc(const ics_import_folder *folder, const char *subtraction, FILE *out);
void ics_import_write_clsim(const ics_import_folder *folder, FILE *out);

/* Writes the run file for a user of `program`, "ppc" or "clsim". A file that is written was loaded
 * with its models before. ICESTREAM_E_CONFIG, ICESTREAM_E_OUTPUT, ICESTREAM_E_MEMORY. */
int ics_import_run_file(const char *program, const ics_import_request *request,
                        icestream_error *error);

#endif
