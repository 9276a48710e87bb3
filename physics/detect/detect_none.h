/* detect: none. Every arrival is a hit, and no random number is drawn. */
#ifndef ICS_PHYSICS_DETECT_DETECT_NONE_H
#define ICS_PHYSICS_DETECT_DETECT_NONE_H

#include "physics/detect/detection.h"

ICE_FN float ice_detect_none(const ice_detection *detection, const ice_arrival *arrival)
{
    (void)detection;
    (void)arrival;
    return 1.0f;
}

ICE_FN int32_t ice_pmt_of_none(const ice_detection *detection, const ice_arrival *arrival,
                               float share)
{
    (void)detection;
    (void)arrival;
    (void)share;
    return 0;
}

/* For `icestream stages`: what the user may set, separated by blanks. */
#define ICE_PARAMETERS_detect_none ""

#endif
