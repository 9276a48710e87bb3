/* The tables of tilted layers, part of ice_tables (stages/tables.h). */
#ifndef ICS_STAGES_TILT_TABLE_H
#define ICS_STAGES_TILT_TABLE_H

#include "stages/platform.h"

/* A cell of a tilt table along a line (16 bytes). The shift is shift + across t + (down + both t) f
 * at the fraction t of the way to the next station and the fraction f of the way to the next depth.
 */
typedef struct ice_tilt_cell {
    ICE_ALIGNED(16)
    float shift; /* m, like the next three */
    float across, down, both;
} ice_tilt_cell;

/* The stretch between two stations: fraction of the way = position * inverse_width + offset. */
typedef struct ice_tilt_stretch {
    ICE_ALIGNED(8)
    float inverse_width; /* 1/m */
    float offset;
} ice_tilt_stretch;

/* A tilt table with at most this number of stretches has them among the parameters of the kernels;
 * one with more has all of them in memory. Published tables of the South Pole have 5. The
 * parameters of a kernel must stay short (graphs/cuda/loop.c). */
enum { ICE_TILT_STRETCHES = 12 };

/* A triangle of a tilt map between two rows of depth (32 bytes). The shift is shift + along_u p +
 * along_v r + (down + down_u p + down_v r) f at the fractions p and r of the way through the cell
 * along the two axes, and at the fraction f of the way to the next row. */
typedef struct ice_tilt_triangle {
    ICE_ALIGNED(16)
    float shift; /* m, like the next five */
    float along_u, along_v, down, down_u, down_v;
    float unused[2];
} ice_tilt_triangle;

/* The image of a tilt along a line: the shift at the nodes of a grid with even steps, in rows of
 * depth and columns along the line, as numbers from -1 to 1 (tables/short_texels.h). The
 * texture unit of a GPU interpolates between the nodes, which takes a sixth of the instructions
 * that the cells above take. The shift is right within ICE_TILT_IMAGE_ERROR. The image ends
 * ICE_TILT_IMAGE_MARGIN outside the table, and farther away the shift stays what it is there. The
 * middle of column k is at k + 1/2, as textures have it. */
#define ICE_TILT_IMAGE_ERROR  0.05f   /* m */
#define ICE_TILT_IMAGE_MARGIN 2000.0f /* m */
typedef struct ice_tilt_image {
    float inverse_width;  /* columns per metre along the line; 0: there is no image */
    float column_of_zero; /* where the position 0 along the line lies among the columns */
    float unit;           /* the shift (m) that the number 1 of the image stands for */
} ice_tilt_image;

typedef struct ice_tilt_table {
    union {
        /* map: [depth_rows - 1][nodes_v - 1][nodes_u - 1][2]; in a cell first the triangle along v,
         * which has r >= p, then the one along u */
        const ice_tilt_triangle *triangles;
        const ice_tilt_cell *cells; /* line: [depth_rows - 1][nodes_u - 1] */
        uint64_t texture; /* line, on a GPU with fast maths: of the image, if there is one */
    };
    const ice_tilt_stretch *stretches;        /* line: [nodes_u - 1] */
    ice_tilt_stretch few[ICE_TILT_STRETCHES]; /* the stretches again, if there are not more */
    ice_tilt_image image;                     /* line: the same shift in another form */
    int32_t depth_rows, nodes_u, nodes_v;     /* line: nodes_u stations, and nodes_v is 1 */
    int32_t clamp;                            /* 1: outside the table the shift of its edge holds */
    float inverse_depth_step, depth_of_zero;  /* 1/m; index of z = 0 among the rows of depth */
    /* the position along a line (m) or on a map (in nodes): u = ux x + uy y + u_of_zero and
     * v = vx x + vy y + v_of_zero */
    float ux, uy, u_of_zero, vx, vy, v_of_zero;
    /* map: last node that exists in line 0 of each axis; line: the middle of the region in which
     * the steepness of the shift is known, for the reach bound (stages/reach.h), and half of its
     * size, m along the line; infinity: no end */
    union {
        float cut_u, known_along;
    };
    union {
        float cut_v, known_half_along;
    };
    float known_z, known_half_z; /* the same in z, m */
    float known_distance; /* a photon whose ice_least_distance() is at most this is in that region,
                             m; 0: the position has to be tested */
} ice_tilt_table;

#endif
