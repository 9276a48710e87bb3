/* Hits in the text format of ppc (physics.md 11), for programs that read it. */
#ifndef ICS_PHOTONS_FILES_HIT_TEXT_H
#define ICS_PHOTONS_FILES_HIT_TEXT_H

#include "pipeline/icestream.h"

/* Writes the hits of a hit file as an f2k file: EM, HIT ..., EE for every event. A HIT line has
 * string, module, time (ns), wavelength (nm), polar and azimuth angle (rad, 0 .. pi and 0 .. 2 pi)
 * of the direction of travel, and those of the direction from the impact point to the module's
 * centre. Paths and errors as ics_hit_lines_export(). */
int ics_hit_text_export(const char *from, const char *to, bool force, icestream_error *error);

#endif
