/* Hits as the text that ppc prints (physics.md 11), for programs that read it. */
#ifndef IS_HIT_TEXT_H
#define IS_HIT_TEXT_H

#include "pipeline/icestream.h"

/* Writes the hits of a hit file as an f2k file: EM, HIT ..., EE for every event. A HIT line has
 * string, module, time (ns), wavelength (nm), polar and azimuth angle (rad, 0 .. pi and 0 .. 2 pi)
 * of the direction of travel, and those of the direction from the impact point to the module's
 * centre. IS_E_INPUT: no good hit file; IS_E_OUTPUT, IS_E_MEMORY. */
int is_hit_text_export(const char *from, const char *to, bool force, is_error *error);

#endif
