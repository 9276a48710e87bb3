/* Two half-spaces of ice with the face between them at z = 0: the cases that the CPU and the GPU
 * suites share, and the exact law of the first segment (physics.md 12.4). */
#ifndef HALF_SPACES_H
#define HALF_SPACES_H

#include "tests/support/stage_world.h"

#include <stdbool.h>

/* A photon starts at (0, 0, height) (m) in the direction (nx, 0, nz) and crosses the face. */
typedef struct half_space_case {
    double below, above; /* coefficient below and above the face, 1/m */
    float height, nx, nz;
    bool absorption; /* the coefficients are those of absorption; otherwise of scattering */
} half_space_case;

enum { HALF_SPACES = 7 };
extern const half_space_case half_spaces[HALF_SPACES];

/* P(the segment ends within s) = 1 - exp(-min(s, d) k1 - max(s - d, 0) k2). */
typedef struct half_space_law {
    double to_face;        /* d, m */
    double before, behind; /* k1 and k2, 1/m */
} half_space_law;

half_space_law half_space_law_of(int k);

/* Makes the world of case k, with light of 400 nm and no module nearby. The tables are not built.
 * The other one of scattering and absorption has a length of 1e9 m. */
stage_world half_space_world(int k);

#endif
