/* Two half-spaces of ice: photons that cross the face between them, on CPU and GPU. */
#ifndef HALF_SPACES_H
#define HALF_SPACES_H

#include <stdbool.h>

/* The face is at z = 0. Coefficients (1/m) of scattering, or of absorption, below and above it; the
 * photon starts at `height` (m) in the direction (nx, 0, nz). */
static const struct {
    double below, above;
    float height, nx, nz;
    bool absorption;
} half_spaces[] = {
    {0.4, 0.1, -5.0f, 0, 1, false},         {0.4, 0.1, 5.0f, 0, -1, false},
    {0.1, 0.4, -12.5f, 0, 1, false},        {0.1, 0.4, 3.0f, 0.8f, -0.6f, false},
    {0.4, 0.1, -0.5f, 0.96f, 0.28f, false}, {0.02, 0.01, -50.0f, 0, 1, true},
    {0.02, 0.01, 50.0f, 0.6f, -0.8f, true},
};

#endif
