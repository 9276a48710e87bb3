/* The ice, light and modules of the published benchmark of clsim's CUDA port, as files that the
 * loaders of models read.
 *
 * A reference folder has the tables of that code as CSV: ice_layers.csv, tilt.csv, wavelength.csv
 * and doms.csv. doms.csv is a list of modules that the loader reads as it is. The other tables are
 * converted in memory into an ice file with tilt and an acceptance file. Formulas: physics.md 4.2,
 * 6.1, 6.2 and the README of the folder. The keys ice.tilt and ice.anisotropy of the configuration
 * switch tilt and anisotropy off.
 */
#ifndef ICS_BENCH_LAB_REFERENCE_H
#define ICS_BENCH_LAB_REFERENCE_H

#include "pipeline/config/config.h"

enum { ICS_REFERENCE_PATH = 4096 };

/* The converted files. Their paths are valid until ics_reference_close. */
typedef struct ics_reference {
    char ice[64];                     /* path for ice.file */
    char acceptance[64];              /* path for light.acceptance */
    char modules[ICS_REFERENCE_PATH]; /* path for detector.file */
    int files[3];                     /* descriptors of the files in memory; negative: none */
} ics_reference;

/* Reads and converts the tables of a folder. Call ics_reference_close also after an error.
 * ICESTREAM_E_CONFIG: a file is missing or is not such a table, with file and line;
 * ICESTREAM_E_MEMORY. */
int ics_reference_open(const char *directory, ics_reference *out, icestream_error *error);
/* Closes the files. */
void ics_reference_close(ics_reference *reference);

/* Checks that --set gives no key that the reference replaces, because that key would have no
 * effect. detector.file and detector.radius may be given: they stay as they are.
 * ICESTREAM_E_CONFIG. */
int ics_reference_check(const icestream_config *config, const char *directory,
                        icestream_error *error);

/* Sets the ice, light and modules (radius 0.1651 m) of the reference in a configuration. Modules
 * and radius stay those of the configuration if --set gives detector.file or detector.radius. The
 * configuration borrows the paths, so icestream_config_destroy must not be called for it. Oversize
 * does not change. Photons stop at their first hit, as in the measurements, unless
 * detector.keep_hit_photons is given. Wavelengths are drawn from the density of wavelength.csv. The
 * weights of hits differ from clsim's by a factor, because the acceptance is scaled to the nominal
 * module. */
void ics_reference_apply(const ics_reference *reference, icestream_config *config);

#endif
