/* The tables that stage functions read: plain arrays and constants, made by ics_tables_create().
 *
 * They are computed in double precision and rounded once to single precision (physics.md 1). On a
 * GPU the pointers are device pointers; the layout is the same.
 */
#ifndef ICS_STAGES_TABLES_H
#define ICS_STAGES_TABLES_H

#include "stages/platform.h"
#include "stages/shape.h"
#include "stages/tilt_table.h"

/* The smallest coefficient of scattering and of dust in a layer, and of a medium that is given by
 * tables, 1/m. It keeps the divisors of the stages away from 0 (ice_ratio). */
#define ICE_LEAST_COEFFICIENT 1e-15f

/* One row per layer: its coefficients, the clearest ice near it, its faces. A GPU reads the 32
 * bytes in two instructions. */
typedef struct ice_layer_row {
    ICE_ALIGNED(16)
    /* The coefficients of physics.md 5.3; the factors of the wavelength are in ice_optics. */
    float scattering; /* be400 / (1 - g), 1/m */
    float bubbles;    /* q / (1 - g), the scattering that does not depend on wavelength, 1/m */
    float dust;       /* adust400, 1/m */
    float ice;        /* 1 + 0.01 dtau */
    /* the smallest `dust` and `ice` of all layers within ICE_CLEAR_RANGE, multiplied by the
     * smallest factor of absorption over all directions and by ICE_REACH_SAFETY, for the reach
     * bound (stages/reach.h) */
    float clear_dust, clear_ice;
    /* heights of the faces, m, as ice_face() gives them; the outermost layers end at +-infinity */
    float low, high;
} ice_layer_row;

/* A number in two parts, high + low. The parts have 48 bits together without double precision,
 * which many GPUs compute slowly. */
typedef struct ice_sum {
    float high, low;
} ice_sum;

/* One row per face: the integrals of the coefficients from the lowest face up to this face
 * (physics.md 5.3). The stages take differences between neighbouring faces, while the integrals may
 * be large (an opaque layer adds thousands). In single precision the differences would have too few
 * digits. */
typedef struct ice_depth_row {
    ICE_ALIGNED(16)
    ice_sum scattering;
    ice_sum bubbles, dust, ice;
} ice_depth_row;

/* The reach bound uses the clearest ice near a photon up to this distance, m (physics.md 5.1). */
#define ICE_CLEAR_RANGE 75.0f

/* The reach bound takes the clearest ice to be clearer by this factor. It covers the rounding of
 * positions, costs and absorption over the life of a photon. */
#define ICE_REACH_SAFETY 0.999f

/* The size of the table of one spectrum (physics.md 3.4): wavelengths at equidistant u of the
 * cumulative distribution, linear between. The table has three stretches of
 * ICE_WAVELENGTH_KNOTS + 1 knots each: for all u, for the tail u < 1/64, and for the tail
 * u >= 63/64. The tails resolve the steep ends of a spectrum 64 times finer.
 *
 * tests/tables/test_wavelength.c compares the table with exact inversion. Cherenkov light as seen
 * by the standard module is right within 0.012 nm for u in 1e-4 .. 1 - 1e-4, and within 0.05 nm for
 * every u. The built-in LEDs are right within 0.02 nm for u in 1e-4 .. 1 - 1e-4. */
enum { ICE_WAVELENGTH_KNOTS = 1024, ICE_WAVELENGTH_TABLE = 3 * (ICE_WAVELENGTH_KNOTS + 1) };
#define ICE_WAVELENGTH_TAIL (1.0f / 64.0f)

/* A module as collide reads it (16 bytes). If modules have types, this is the sphere in which the
 * body of the module lies. */
typedef struct ice_sphere {
    ICE_ALIGNED(16)
    float x; /* centre, m */
    float y, z;
    float oversize; /* F (physics.md 8.3); 1 for excluded modules, which absorb at their true radius
                     */
} ice_sphere;

/* A string: modules in a vertical cylinder (32 bytes). */
typedef struct ice_string {
    ICE_ALIGNED(16)
    float x; /* axis, m */
    float y;
    float radius;    /* radius (m) of a cylinder with all oversized modules of the string */
    float low, high; /* smallest and largest height of the centres of modules, m */
    uint32_t first;  /* index in string_modules of the first module, which is the lowest */
    uint32_t count;  /* number of modules */
    /* 1 / height of a bucket, 1/m; ICE_STRING_BUCKETS * count buckets reach from low to high. 0:
     * all modules are at one height */
    float inverse_bucket;
} ice_string;

/* The string (or column of hole ice) nearest to a cell of the clearance map. */
typedef struct ice_near_row {
    ICE_ALIGNED(8)
    float others;    /* clearance (m) without the modules of the nearest string */
    uint32_t string; /* index of the nearest string */
} ice_near_row;

/* A cell of the clearance map as a GPU reads it, in one instruction: the position of the nearest
 * axis, and the clearance without the modules of this axis, >= 0, m. */
typedef struct ice_near_cell {
    ICE_ALIGNED(16)
    float axis_x;
    float axis_y, others;
    float unused;
} ice_near_cell;

/* The axis of a straight string, m. */
typedef struct ice_string_axis {
    ICE_ALIGNED(8)
    float x;
    float y;
} ice_string_axis;

/* What the ice has in addition to flat layers that look the same in all directions, and what the
 * detector has in addition to spheres of one radius: bits of ice_tables.features. On a GPU these
 * bits are constants of the kernels of a run, so that a feature which is off costs nothing. */
enum {
    ICE_HAS_TILT_LINE = 1,
    ICE_HAS_TILT_MAP = 2,
    ICE_HAS_SCATTERING_ANISOTROPY = 4,
    ICE_HAS_OLD_ABSORPTION_ANISOTROPY = 8, /* the one that belongs to scattering anisotropy */
    ICE_HAS_ABSORPTION_ANISOTROPY = 16,
    ICE_HAS_BIREFRINGENCE = 32,
    ICE_HAS_HOLES = 64,
    ICE_HAS_SPECTRAL_OPTICS = 128,    /* tables by wavelength instead of the formulas of ice */
    ICE_HAS_MEAN_BIREFRINGENCE = 256, /* r_A and r_B of physics.md 6.4 have different profiles */
    ICE_HAS_EVEN_ANISOTROPY = 512,    /* all layers have the same anisotropy */
    /* Features of the detector. Kernels without them have the code of spheres only. */
    ICE_HAS_SHAPES = 1024,    /* every module has a type and an orientation */
    ICE_HAS_CABLES = 2048,    /* cables absorb light */
    ICE_HAS_ABSORBERS = 4096, /* a mesh has parts that absorb light */
    ICE_HAS_ENTRIES = 8192,   /* a hit is the entry into a module enlarged by its oversize */
    ICE_HAS_SHAPE_SHIFT = 16, /* the bit of a shape that some type has: ICE_HAS_SHAPE(shape) */
    ICE_HAS_TILT = ICE_HAS_TILT_LINE | ICE_HAS_TILT_MAP,
    ICE_HAS_DIRECTIONS = ICE_HAS_OLD_ABSORPTION_ANISOTROPY | ICE_HAS_ABSORPTION_ANISOTROPY,
    /* kernels with one of these need 64 registers instead of 56 (graphs/cuda/settings.c) */
    ICE_HAS_MANY_REGISTERS = ICE_HAS_BIREFRINGENCE | ICE_HAS_HOLES
};

/* Which photons continue after a hit: none; all; those whose line misses the module at its true
 * size. */
enum { ICE_KEEPS_NONE = 0, ICE_KEEPS_ALL = 1, ICE_KEEPS_WIDE = 2 };

#define ICE_HAS_SHAPE(shape) (1u << (ICE_HAS_SHAPE_SHIFT + (shape)))

/* Every feature of the ice, one line each: its name and its bits. tables/NAME.c builds its
 * tables, pipeline/photons/models/ice/feature_NAME.c has its keys in ice files and describes
 * it. */
#define ICE_FEATURES(FEATURE)                                                                      \
    FEATURE(water, ICE_HAS_SPECTRAL_OPTICS)                                                        \
    FEATURE(tilt, ICE_HAS_TILT)                                                                    \
    FEATURE(anisotropy, ICE_HAS_SCATTERING_ANISOTROPY | ICE_HAS_EVEN_ANISOTROPY)                   \
    FEATURE(absorption, ICE_HAS_DIRECTIONS)                                                        \
    FEATURE(birefringence, ICE_HAS_BIREFRINGENCE | ICE_HAS_MEAN_BIREFRINGENCE)                     \
    FEATURE(hole, ICE_HAS_HOLES)

/* The table of optics by wavelength: wavelength of its first row, nm, and the number of its rows,
 * one for every nanometre. */
enum { ICE_SPECTRAL_FIRST = 250, ICE_SPECTRAL_ROWS = 451 };

/* Optics at one wavelength (physics.md 4.6). A layer multiplies the two coefficients by its
 * factors. */
typedef struct ice_spectral_row {
    ICE_ALIGNED(16)
    float scattering; /* geometric scattering coefficient, 1/m */
    float absorption; /* absorption coefficient, 1/m */
    float phase_index, group_index;
} ice_spectral_row;

/* A symmetric matrix whose axes are the vertical and two horizontal ones, divided by its vertical
 * element. What it makes of a direction gets length 1 afterwards, so the divisor does not matter.
 */
typedef struct ice_stretching {
    float xx, xy, yy;
} ice_stretching;

/* A quadratic form of a unit direction n: across + along n_flow^2 + up n_z^2, where n_flow is the
 * component along the flow. */
typedef struct ice_form {
    float across, along, up;
} ice_form;

/* Scattering anisotropy of a layer (32 bytes). */
typedef struct ice_anisotropy_row {
    ICE_ALIGNED(16)
    ice_stretching to;   /* A of physics.md 6.2, before a scatter */
    ice_stretching back; /* the inverse of A, after the scatter */
    float unused[2];
} ice_anisotropy_row;

/* The two forms whose product is the absorption that belongs to a scattering anisotropy
 * (physics.md 6.2), before the exponent fr (32 bytes). `narrow` is half of
 * 1/l1 + 1/l2 + 1/l3 - sum s_i/l_i, and `wide` is sum s_i l_i. */
typedef struct ice_absorption_row {
    ICE_ALIGNED(16)
    ice_form narrow;
    ice_form wide;
    float unused[2];
} ice_absorption_row;

/* A strength of birefringence in a layer, r_A or r_B of physics.md 6.4 (16 bytes). */
typedef struct ice_birefringence_row {
    ICE_ALIGNED(16)
    float strength;
    float low;   /* height of the lower face, m */
    ice_sum sum; /* strength times thickness, summed over the layers below, m */
} ice_birefringence_row;

/* sx / 2 and sy / 2 (rad/sqrt(m)) of physics.md 6.4, and mx / 2 divided by the sine (rad/m), for
 * one cosine of the angle to the flow axis (32 bytes). The members `..._more` are the differences
 * to the next row. Between the rows, sx is within 5e-6 and mx within 2e-6 of the formulas
 * (tests/stages/test_birefringence.c). */
typedef struct ice_deflection_row {
    ICE_ALIGNED(16)
    float along;
    float across, mean, along_more;
    float across_more, mean_more, unused[2];
} ice_deflection_row;

enum { ICE_DEFLECTION_KNOTS = 1024 };
#define ICE_DEFLECTION_SCALE 1023.99f /* position of the cosine 1 among the knots */

/* Radii and angles of normal numbers for every number of 12 bits (ice_fill_normals), in portable
 * maths. The entries are results of the portable functions, so that they are the same on every
 * machine. A look-up takes a tenth of the instructions of these functions. */
enum { ICE_NORMAL_STEPS = 4096 };
typedef struct ice_normal_angle {
    ICE_ALIGNED(8)
    float sine;
    float cosine;
} ice_normal_angle;

typedef struct ice_normal_table {
    float wide[ICE_NORMAL_STEPS];   /* radii for the variance 1 */
    float narrow[ICE_NORMAL_STEPS]; /* radii for the variance 1/3 */
    ice_normal_angle angle[ICE_NORMAL_STEPS];
} ice_normal_table;

/* What the deflections of birefringence are drawn with: one array, because every pointer is a
 * parameter of all kernels (graphs/cuda/loop.c). */
typedef struct ice_deflection_table {
    ice_deflection_row rows[ICE_DEFLECTION_KNOTS];
    ice_normal_table normals;
} ice_deflection_table;

/* The axis of a column of hole ice. */
typedef struct ice_column {
    ICE_ALIGNED(8)
    float x;
    float y;
} ice_column;

/* The number of buckets of height for every module of a string. */
enum { ICE_STRING_BUCKETS = 2 };

/* A grid with edges along the axes, in two (nz = 1) or three dimensions. The list of cell c is
 * items[offsets[c]] .. items[offsets[c + 1] - 1]. */
typedef struct ice_grid {
    float x, y, z;      /* lower corner, m */
    float inverse_cell; /* 1 / edge length of a cell, 1/m */
    float cell;         /* edge length, m */
    int32_t nx, ny, nz;
    const uint32_t *offsets; /* [nx * ny * nz + 1] */
    const uint32_t *items;
} ice_grid;

/* A scatter variant may declare parameters. Its header has
 *
 *     #define ICE_DECLARE_scatter_NAME(PARAMETER) (a backslash continues the line)
 *         PARAMETER(scatter_NAME, share, 0, 1, 0.5, "", "...")
 *     enum { ICE_DECLARE_scatter_NAME(ICE_PARAMETER_INDEX) };
 *
 * with one PARAMETER(variant, name, low, high, default, unit, meaning) for each parameter. The key
 * `share` of ice files follows from it. In a stage the value is
 * ice_parameter_of(constants, scatter_NAME, share). */
enum { ICE_SCATTER_PARAMETERS = 4 };
#define ICE_PARAMETER_INDEX(variant, name, low, high, fallback, unit, help)                        \
    ICE_PARAMETER_##variant##_##name,
#define ice_parameter_of(constants, variant, name)                                                 \
    ((constants)->parameters[ICE_PARAMETER_##variant##_##name])

/* Constants of molecular scattering, for the variant rayleigh-hg (physics.md 7). */
typedef struct ice_molecule_constants {
    float fraction;     /* share of molecular scattering, in [0, 1] */
    float inverse;      /* 1 / fraction, 0 if that is 0 */
    float inverse_rest; /* 1 / (1 - fraction), 0 if that is 1 */
} ice_molecule_constants;

/* Constants of the scattering functions (physics.md 7), computed in double. A run has one variant,
 * so that what only one of them needs shares its memory: these constants are parameters of every
 * kernel of a GPU. */
typedef struct ice_scatter_constants {
    float g;                   /* mean cosine */
    float one_minus_g_squared; /* (1 - g)^2 */
    float liu_exponent;        /* (1 - g) / (1 + g) */
    float liu_fraction;        /* f_SL */
    float inverse_liu;         /* 1 / f_SL, 0 if f_SL = 0 */
    float inverse_henyey;      /* 1 / (1 - f_SL), 0 if f_SL = 1 */
    union {
        ice_molecule_constants molecules; /* constants of a variant that declares no parameters */
        float parameters[ICE_SCATTER_PARAMETERS]; /* those that the run's variant declares */
    };
} ice_scatter_constants;

/* Hole ice, the same in all columns; all 0 without. */
typedef struct ice_hole_constants {
    float radius;            /* m */
    float scattering_length; /* geometric, m */
    float absorption_length; /* m */
    float margin;            /* a position with more clearance is in no column, m, >= 0 */
    float absorption;        /* 1 / absorption_length, for the reach bound */
    ice_scatter_constants scatter;
} ice_hole_constants;

/* Members stand together by subject, which costs 8 bytes of padding.
 * NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding) */
typedef struct ice_tables {
    /* the anisotropy, if all layers have the same; in front because of its alignment */
    ice_anisotropy_row even_anisotropy;
    ice_absorption_row even_absorption;

    /* run */
    uint32_t seed_low, seed_high; /* ice_key_low() and ice_key_high() of the seed */
    uint32_t bounce_limit;        /* number of segments after which a photon is stopped */
    uint32_t features;            /* features of the ice and of the detector: ICE_HAS_... */

    /* ice */
    const ice_layer_row *layers;       /* [layer_count], layer 0 is the deepest */
    const ice_depth_row *cumulative;   /* [layer_count + 1], one for every face, from below */
    float clearest_dust, clearest_ice; /* as clear_dust and clear_ice, over all layers */
    int32_t layer_count;
    float bottom, thickness, inverse_thickness; /* m, m, 1/m */
    float layer_of_zero;              /* index of z = 0 among the layers, -bottom / thickness */
    float alpha, kappa;               /* wavelength exponents */
    float absorption_a;               /* 1/m */
    float absorption_b;               /* nm */
    float absorb_above, absorb_below; /* z, m; +-infinity: no boundary */
    int32_t bounded;                  /* 1: absorb_above or absorb_below is finite */
    ice_scatter_constants scatter;

    /* features of the ice; a feature that is off has no tables */
    const ice_spectral_row *spectral; /* [ICE_SPECTRAL_ROWS] */
    ice_tilt_table tilt;
    float flow_x, flow_y;                      /* unit vector along the horizontal flow axis */
    const ice_anisotropy_row *anisotropy;      /* [layer_count] */
    const ice_absorption_row *absorption_rows; /* [layer_count] */
    ice_form absorption_form;                  /* abs(K n)^2 of physics.md 6.3 */
    float absorption_exponent;                 /* fr of physics.md 6.2 */
    float least_absorption; /* smallest factor of absorption over all directions */
    const ice_birefringence_row *birefringence;      /* [layer_count], strengths of the diffusion */
    const ice_birefringence_row *mean_birefringence; /* [layer_count], of the mean deflection */
    union {
        const ice_deflection_table *deflection;
        uint64_t deflection_texture; /* on a GPU with fast maths: its rows as a texture with one
                                        dimension (tables/deflection_image.h) */
    };
    ice_hole_constants hole;
    const ice_column *columns;        /* [column_count] */
    const ice_near_row *near_columns; /* [clearance_ny][clearance_nx], `string`: column */
    uint32_t column_count;

    /* light */
    uint32_t spectrum_count;
    const float *wavelengths; /* [spectrum_count][ICE_WAVELENGTH_TABLE], nm */

    /* detector */
    const ice_sphere *modules; /* [module_count] */
    const uint8_t *absorbs;    /* [module_count], 1: excluded module */
    uint32_t module_count;
    float radius;             /* radius of a module (m); with types the largest reach of a body */
    ice_shapes shapes;        /* only with ICE_HAS_SHAPES or ICE_HAS_CABLES */
    int32_t keep_hit_photons; /* ICE_KEEPS_... */
    int32_t reach_cull;       /* 1: drop photons that cannot reach a module */
    /* Oversized modules lie between the heights middle - half_height and middle + half_height, m.
     */
    float middle, half_height;

    /* The map of clearances: a number for each of the [clearance_ny][clearance_nx] cells, of 16
     * bits and two in a word, the first in its lower half, or of 32 bits (ice_has_wide_cells() of
     * stages/reach.h). Its bits in axis_mask are the index of the nearest axis. The number times
     * others_step minus others_less is a lower bound (m) of the horizontal distance from the cell
     * to the edge of any module that does not hang on this axis.
     */
    union {
        const uint32_t *near_axes;
        const ice_near_cell *near_cells; /* on a GPU: what the numbers of the cells stand for */
        uint64_t near_texture; /* on a GPU with fast maths: the same as a texture (stages/reach.h)
                                */
    };
    const ice_string_axis *axes; /* if no string has an axis: one that is far away */
    uint32_t axis_mask;
    float others_step, others_less; /* m */
    float axis_radius; /* m; the modules of an axis lie inside a cylinder with this radius */
    /* What the numbers of near_texture mean (tables/near_image.h): the number 1 is
     * near_scale (m) in a position of an axis, and near_others (m) in a distance to others. The
     * texture rounds positions, so near_radius (m) is axis_radius and the most that this moves an
     * axis. */
    float near_scale, near_others, near_radius;
    float cable_reach; /* m; the cables of a string are within this distance of its axis */
    const ice_near_row *nearest; /* [clearance_ny][clearance_nx] */
    /* 1 / edge length of a cell, 1/m; index of x = 0 and of y = 0 among the cells */
    float clearance_inverse_cell, clearance_of_zero_x, clearance_of_zero_y;
    int32_t clearance_nx, clearance_ny;

    uint32_t string_count;
    const ice_string *strings;
    const uint32_t *string_modules;   /* module indices, string by string, ascending in z */
    const ice_sphere *string_spheres; /* the modules in string_modules */
    /* [ICE_STRING_BUCKETS * module_count], the buckets of a string begin at
     * ICE_STRING_BUCKETS * first. A bucket has the index in string_modules of the lowest module
     * that may be as high as its lower end, or higher */
    const uint32_t *string_buckets;
    ice_grid string_grid; /* 2-D, items: indices of strings */
    ice_grid cell_grid;   /* 3-D, items: indices of modules */
} ice_tables;

/* The features that this compilation may find in its tables. Kernels of one run leave out the code
 * of all others: those of a GPU, whose member `features` is this constant, and those with a user's
 * header (kernels/cpu/custom.c). */
#if defined(GPU_SPECIAL_FEATURES)
#define ICE_ONLY_FEATURES GPU_SPECIAL_FEATURES
#elif !defined(ICE_ONLY_FEATURES)
#define ICE_ONLY_FEATURES 0xffffffffu
#endif

/* Those of some features that the tables have. A GPU needs no mask, because its features are a
 * constant already, and the kernels without it have the machine code that was measured. */
#if defined(GPU_SPECIAL_FEATURES)
#define ICE_HAS(tables, wanted) ((tables)->features & (wanted))
#else
#define ICE_HAS(tables, wanted) ((tables)->features & (ICE_ONLY_FEATURES & (wanted)))
#endif

#endif
