/* The world of the published benchmark of clsim's CUDA port, as files that the loaders of models
 * read.
 *
 * A reference folder has the tables of that code as CSV: ice_layers.csv, tilt.csv, wavelength.csv
 * and doms.csv. The last is a list of modules as it is; the others are rewritten here into an ice
 * file with its tilt and an acceptance, in memory. Formulas: physics.md 4.2, 6.1, 6.2 and the
 * README of the folder. The keys ice.tilt and ice.anisotropy of the configuration switch those off.
 */
#ifndef ICS_TOOLS_BENCH_REFERENCE_H
#define ICS_TOOLS_BENCH_REFERENCE_H

#include "pipeline/config/config.h"

enum { ICS_REFERENCE_PATH = 4096 };

/* Paths are good until ics_reference_close. */
typedef struct ics_reference {
    char ice[64];                     /* for ice.file */
    char acceptance[64];              /* for light.acceptance */
    char modules[ICS_REFERENCE_PATH]; /* for detector.file */
    int files[3];                     /* that these are; negative: none */
} ics_reference;

/* Reads and converts the tables of a folder. ICESTREAM_E_CONFIG: a file that is not there or is no
 * such table, with file and line; ICESTREAM_E_MEMORY. */
int ics_reference_open(const char *directory, ics_reference *out, icestream_error *error);
/* Also after a failed ics_reference_open. */
void ics_reference_close(ics_reference *reference);

/* Puts ice, light and modules (0.1651 m) of the reference into a configuration, which borrows
 * their names: it may not be destroyed by icestream_config_destroy any more. Oversize stays.
 * Densities of generated wavelengths are those of wavelength.csv; weights of hits differ from
 * clsim's by a factor, as the acceptance is scaled to the nominal module. */
void ics_reference_apply(const ics_reference *reference, icestream_config *config);

#endif
