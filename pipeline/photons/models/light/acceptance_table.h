/* The acceptance of the standard module (physics.md 3.3), and tables of acceptance by wavelength,
 * as measurements, data sheets and other programs give them (docs/detection.md, "Tables of
 * acceptance"). */
#ifndef ICS_PHOTONS_MODELS_LIGHT_ACCEPTANCE_TABLE_H
#define ICS_PHOTONS_MODELS_LIGHT_ACCEPTANCE_TABLE_H

#include "pipeline/photons/models/light/curve.h"

/* Reads rows of wavelength (nm) and share of the light that is detected, in any order, with commas,
 * semicolons, tabs or blanks between them. A first line may name the columns, of which one may be
 * in percent. The curve has a point at every whole nm within ICE_WAVELENGTH_MIN .. MAX where the
 * share is above 0. If the text is ppc's cumulative form (share, wavelength) instead,
 * *is_cumulative is true and the curve stays empty. ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. */
int ics_acceptance_table_read(const ics_text *text, bool *is_cumulative, ics_curve *out,
                              icestream_error *error);

/* Reads a file of either form. ppc's cumulative form is turned into an acceptance (physics.md 3.2);
 * `place` is where the configuration names the file, for the message about a band of less than 2
 * nm. The same errors, and those of reading. */
int ics_acceptance_file_read(const char *path, const char *place, ics_curve *out,
                             icestream_error *error);

/* Returns the acceptance of the standard module at a wavelength (nm); it is 0 outside 280 .. 680.
 */
double ics_light_standard_acceptance(double wavelength);
/* The same at every whole nm. ICESTREAM_OK or ICESTREAM_E_MEMORY. */
int ics_light_standard_curve(ics_curve *out, icestream_error *error);

#endif
