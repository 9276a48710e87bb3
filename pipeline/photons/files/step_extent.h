/* Where the light of a step file begins, from its first steps: enough to warn of steps that no
 * module can see, and cheap. */
#ifndef ICS_PHOTONS_FILES_STEP_EXTENT_H
#define ICS_PHOTONS_FILES_STEP_EXTENT_H

#include "pipeline/icestream.h"

enum { ICS_STEP_EXTENT_ROWS = 16384 }; /* steps of a file that are looked at, at most */

typedef struct ics_step_extent {
    uint64_t steps;         /* steps with photons that were looked at; 0: the rest is not set */
    uint64_t weightless;    /* number of these that have weight 0 */
    double low[3], high[3]; /* m: a box around their starts and ends */
    double longest;         /* m: the largest length */
    double time;            /* ns: that one which is farthest from 0 */
    bool is_single;         /* the file has times in single precision */
} ics_step_extent;

/* Adds steps, which were checked. */
void ics_step_extent_add(ics_step_extent *extent, const icestream_step *steps, size_t count);

#endif
