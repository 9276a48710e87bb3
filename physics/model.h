/* The models of a run in double precision: ice, detector and light.
 *
 * The loaders in pipeline/photons/models/ fill these structures, and ics_tables_create() (tables/)
 * makes the single-precision tables that the stages read. Units: m, ns, nm, K. z points up and is
 * zero at the centre of the detector (depth = ICE_DETECTOR_DEPTH - z). */
#ifndef ICS_PHYSICS_MODEL_H
#define ICS_PHYSICS_MODEL_H

#include "stages/shape.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ICE_PI             3.14159265358979323846 /* C11 itself has no M_PI */

#define ICE_DETECTOR_DEPTH 1948.07     /* m below the surface, physics.md 1 */
#define ICE_MODULE_RADIUS  0.16510     /* m, 13-inch sphere, physics.md 1 */
#define ICE_LIGHT_SPEED    0.299792458 /* m/ns, exact */

/* The band in which the index of refraction may be evaluated (physics.md 14.4, 3). */
#define ICE_WAVELENGTH_MIN 250.0 /* nm */
#define ICE_WAVELENGTH_MAX 700.0 /* nm */

/* One layer of ice; coefficients at 400 nm in 1/m (physics.md 4.2). */
typedef struct ice_layer {
    double effective_scattering; /* be400 >= 0, scales with wavelength */
    /* part of the effective scattering that does not depend on wavelength: air bubbles, minus the
     * scattering by birefringence that the table contains (physics.md 6.4). The sum of both parts
     * is > 0 at every wavelength */
    double bubbles;
    double dust_absorption; /* adust400 >= 0 */
    double delta_tau;       /* K, temperature difference to 1730 m depth */
    /* ln k1, ln k2 of the scattering anisotropy along and across the flow (physics.md 6.2);
     * 0, 0: none */
    double anisotropy_along, anisotropy_across;
    /* strengths of birefringence, >= 0: of its diffusion (r_A) and of its mean deflection (r_A
     * r_B), physics.md 6.4 */
    double birefringence, birefringence_mean;
} ice_layer;

/* How many metres the layers lie higher at a position than in the table of the ice
 * (physics.md 6.1). The shifts are given at nodes, and are linear between them and in depth. */
typedef enum ice_tilt_kind { ICE_TILT_NONE, ICE_TILT_LINE, ICE_TILT_MAP } ice_tilt_kind;

/* One of the two oblique axes of a tilt map. */
typedef struct ice_tilt_axis {
    double azimuth;     /* rad */
    double first, step; /* coordinate of node 0 and distance of nodes, m, step > 0 */
    size_t count;       /* number of nodes along this axis */
    size_t cut;         /* node (i, j) exists if i < j + cut of axis 0 and j < i + cut of axis 1 */
} ice_tilt_axis;

typedef struct ice_tilt {
    ice_tilt_kind kind;
    bool clamp; /* true: outside the table the shifts are those of its edge. false: they continue
                   linearly (for a map only in depth; across, the shifts of the edge hold) */
    double first_depth, depth_step; /* m, step > 0 */
    size_t depth_count;             /* >= 2 */
    /* For reports: how far depths of the file are away from these steps, and how far this moves
     * layers at most, m */
    double uneven, moved;
    /* ICE_TILT_LINE: positions along a horizontal axis */
    double azimuth;       /* rad */
    double origin;        /* r0, the position on the axis that the table calls 0, m */
    double *stations;     /* [station_count], m, ascending */
    size_t station_count; /* >= 2 */
    /* ICE_TILT_MAP */
    ice_tilt_axis axes[2];
    /* [depth_count][station_count], or [depth_count][axes[1].count][axes[0].count], where nodes
     * that do not exist are 0; m */
    double *shifts;
} ice_tilt;

/* Whether a map has a node (i, j). */
static inline bool ice_tilt_has_node(const ice_tilt *tilt, size_t i, size_t j)
{
    return i < tilt->axes[0].count && j < tilt->axes[1].count && i < j + tilt->axes[0].cut &&
           j < i + tilt->axes[1].cut;
}

/* How the scattering by crystals was subtracted from the layers (physics.md 4.2). */
typedef enum ice_taken {
    ICE_TAKEN_NOTHING,
    ICE_TAKEN_CONSTANT, /* the same at every wavelength */
    ICE_TAKEN_SCALED    /* the scattering at 400 nm; at other wavelengths it scales as dust */
} ice_taken;

/* Deflection of light by birefringent crystals (physics.md 6.4): a, b, c, d of each function. All
 * 0: none. */
typedef struct ice_birefringence {
    double along[4];  /* sx: rms deflection towards the flow axis, rad/sqrt(m) */
    double across[4]; /* sy: rms deflection perpendicular to it, rad/sqrt(m) */
    double mean[4];   /* mx: mean deflection towards the flow axis, rad/m */
} ice_birefringence;

/* Refrozen columns around the strings (physics.md 8.7): vertical and endless. */
typedef struct ice_hole {
    double radius;               /* m; 0: none */
    double effective_scattering; /* effective scattering length, m, > 0 */
    double absorption;           /* absorption length, m, > 0 */
    double mean_cosine;          /* g of its scattering function */
    double liu_fraction;         /* f_SL */
} ice_hole;

/* Optics of a medium at one wavelength. */
typedef struct ice_spectral_optics {
    double phase_index, group_index;
    double scattering; /* geometric coefficient, 1/m, > 0 */
    double absorption; /* 1/m, > 0 */
} ice_spectral_optics;

/* A parameter that the header of a scatter variant declares (ICE_PARAMETER_INDEX in
 * stages/tables.h). */
typedef struct ice_parameter {
    const char *name, *unit; /* not owned */
    double value;
} ice_parameter;

enum { ICE_PARAMETERS_MAX = 4 };

/* Horizontal layers of equal thickness; the lowest and the highest continue without limit. */
typedef struct ice_medium {
    char *name;          /* for reports: "south-pole-like" or the path it came from */
    ice_layer *layers;   /* [layer_count], layer 0 is the deepest */
    size_t layer_count;  /* 1 .. ICE_LAYERS_MAX */
    double bottom;       /* z of the lower face of layer 0, m */
    double thickness;    /* m, > 0 */
    double uneven;       /* m, for reports: how far depths of the file are away from equal steps */
    double alpha;        /* exponent of scattering, be ~ (wl/400)^-alpha */
    double kappa;        /* exponent of dust absorption */
    double absorption_a; /* A of A exp(-B/wl), 1/m */
    double absorption_b; /* B, nm */
    double mean_cosine;  /* g of the scattering function, in (-1, 1) */
    double liu_fraction; /* f_SL, share of the simplified Liu function, in [0, 1] */
    /* The optics at every nanometre from ICE_WAVELENGTH_MIN to ICE_WAVELENGTH_MAX, linear between,
     * in place of the formulas of ice (physics.md 4.6); NULL: ice. A layer whose scattering is s
     * times and whose absorption is a times that of this table has
     * effective_scattering = (1 - mean_cosine) s and dust_absorption = a. */
    ice_spectral_optics *spectral;
    double density;           /* g/cm3, for the light of particles; 0: the density of ice is used */
    double rayleigh_fraction; /* share of molecular scattering (stages/scatter_rayleigh_hg.h) */
    ice_parameter scatter[ICE_PARAMETERS_MAX]; /* parameters of the run's scatter variant, in the
                                                  order of their declaration */
    size_t scatter_count;
    ice_tilt tilt;
    double flow_azimuth; /* azimuth of the flow axis, for anisotropy and birefringence, rad */
    /* ln K1 (along the flow), ln K2 (horizontally across it), ln K3 (vertical) of the absorption
     * anisotropy, scaled to a mean of 1 (physics.md 6.3); 0, 0, 0: none */
    double absorption_anisotropy[3];
    double absorption_exponent; /* fr: power of the absorption anisotropy that belongs to k1 and k2
                                   (physics.md 6.2); 0: none */
    ice_birefringence birefringence;
    ice_taken taken; /* for reports: what was subtracted from the layers */
    ice_hole hole;
    double absorb_above; /* z (m) above which a photon has left the world; +INFINITY: no limit */
    double absorb_below; /* z (m) below which a photon has left the world; -INFINITY: no limit */
} ice_medium;

#define ICE_LAYERS_MAX 4096

/* The number of wavelength acceptances: one for standard modules, one for high-efficiency modules.
 */
enum { ICE_ACCEPTANCES = 2 };

/* One optical module. If all members from `acceptance` on are zero, it is a standard module that is
 * on, looks down and has no cable. */
typedef struct ice_module {
    double x, y, z;       /* centre, m */
    uint16_t string;      /* number of the string, as in hit files */
    uint16_t module;      /* number of the module, unique within its string */
    bool absorbs;         /* excluded module: it absorbs photons at its true radius and records none
                             (physics.md 8.6) */
    double efficiency;    /* relative to the standard module, > 0 */
    uint8_t acceptance;   /* index of its wavelength acceptance, < ICE_ACCEPTANCES */
    bool is_off;          /* the module has no high voltage: it absorbs photons and detects none
                             (physics.md 8.6) */
    bool has_cable;       /* a cable touches the module at cable_azimuth (physics.md 8.8) */
    double cable_azimuth; /* rad */
    double back[3]; /* unit vector opposite to the direction in which its PMT looks; 0, 0, 0: up */
    uint32_t type;  /* index in ice_detector.types; 0 if the detector has no types */
    uint32_t orientation; /* index in ice_detector.orientations; 0: upright */
} ice_module;

/* The acceptance of a module by direction (physics.md 8.5). Without an edge it is a polynomial of x
 * = cos(direction, back), cut off at 0. With an edge a module accepts the light whose impact, seen
 * from the centre of the module, has cos(impact, axis) > edge. */
typedef struct ice_angular {
    double maximum; /* pk > 0, not smaller than any value for x in [-1, 1]; 1 with an edge */
    bool has_edge;
    double edge;             /* edge, -1 .. 1 */
    double coefficients[16]; /* coefficients of x^0, x^1, ... */
    size_t count;
} ice_angular;

/* ---- types of modules --------------------------------------------------------------------------
 *
 * A type is described in the module's own frame: the origin is the centre of the module, and z
 * points up along its axis while the module hangs upright. */

/* A photomultiplier of a module. */
typedef struct ice_pmt {
    double axis[3];       /* unit vector in the direction in which it looks */
    double centre[3];     /* m, the middle of its window on the surface of the module */
    double radius;        /* m, of its window; 0: not known */
    double efficiency;    /* relative to the standard, >= 0 */
    double delay, spread; /* ns, mean and standard deviation of its transit time; >= 0. With a
                             distribution of transit times the spread is 0, and the delay comes
                             on top */
    double largest_area;  /* m2, in the table of effective areas of its type; 0: no table */
    size_t acceptance;    /* 0: that of its type; k: own_acceptances[k - 1] of its type */
    size_t transit;       /* 0: that of its type; k: own_transits[k - 1] of its type */
} ice_pmt;

#define ICE_PMTS_MAX  1023 /* ice_arrival_part() in stages/shape.h */
#define ICE_TYPES_MAX ICE_BODIES

/* A surface of triangles. */
typedef struct ice_mesh {
    float (*vertices)[3]; /* [vertex_count], m */
    size_t vertex_count;
    uint32_t (
        *triangles)[3]; /* [triangle_count], indices of vertices, anticlockwise from outside */
    int16_t *parts;     /* [triangle_count], ICE_PART_... or the number of a PMT */
    size_t triangle_count;
} ice_mesh;

/* The effective areas of the PMTs of a type, in directions that lie on rings of the same zenith
 * (physics.md 8.16). A direction is the one from which the light comes, in the module's own frame.
 */
typedef struct ice_pmt_areas {
    double *zeniths;  /* [ring_count], rad, ascending from 0 to pi */
    size_t *firsts;   /* [ring_count + 1], the first direction of each ring; then direction_count */
    double *azimuths; /* [direction_count], rad, ascending within a ring, 0 <= azimuth < 2 pi */
    double *areas;    /* [direction_count][pmt_count], m2, >= 0; relative to the acceptance of light
                         by wavelength */
    double *turned;   /* [direction_count], m2, the area that the module turns to this light */
    size_t ring_count, direction_count; /* 0: the type has no table */
} ice_pmt_areas;

/* What PMTs accept in addition to their efficiencies (physics.md 8.17). */
typedef struct ice_pmt_acceptance {
    ice_angular angular; /* acceptance by the cosine between a PMT's axis and the direction from
                            which the light comes; never with an edge; count 0: 1 everywhere */
    double *wavelengths; /* [count], nm, ascending */
    double *ratios;      /* [count], >= 0, relative to the acceptance of light by wavelength */
    size_t count;        /* 0: 1 everywhere */
    /* The share of the light on a window that is detected, at whole nm. Of a type, not of single
     * PMTs. */
    double *own_wavelengths, *own; /* [own_count], > 0 */
    size_t own_count;              /* 0: the type does not say it */
    /* The acceptance is one of the window of a PMT and not that of a module of IceCube, so that
     * detect: pmt-plane needs the size of the window. */
    bool is_of_window;
} ice_pmt_acceptance;

/* A part of a distribution of transit times, in which the density is linear. */
typedef struct ice_transit_range {
    double from, to;  /* ns, from < to */
    double low, high; /* densities at `from` and at `to`, >= 0, any normalisation */
} ice_transit_range;

/* A distribution of transit times (physics.md 8.18). Its area is above 0. */
typedef struct ice_transit {
    ice_transit_range *ranges; /* [count], ascending in time */
    size_t count;              /* 0: none */
} ice_transit;

/* Of a spheroid `radius` is the horizontal and `half_height` the vertical semi-axis. Of a capsule
 * and of a cylinder `half_height` is half of the height of the whole body. */
typedef struct ice_module_type {
    char *name;
    ice_shape shape;    /* a row of stages/shapes.def */
    bool open_ends;     /* cylinder: light passes its ends and meets only the mantle */
    double radius;      /* m, > 0 */
    double half_height; /* m, > 0; of a sphere: the radius */
    double reach;       /* m, of the smallest sphere around the centre that contains the body */
    double oversize;    /* F >= 1 */
    double beta;        /* cosine of half the angle that the window of a PMT covers, seen from the
                           centre of its curvature, in [0, 1]; 1: a flat window; below -1: the side
                           of a cylinder (physics.md 8.13) */
    bool is_of_ppc;     /* from ppc's om.conf, in which it has om_number */
    int32_t om_number;
    ice_mesh mesh;    /* mesh of an ICE_SHAPE_MESH */
    ice_pmt *pmts;    /* [pmt_count] */
    size_t pmt_count; /* 0 .. ICE_PMTS_MAX */
    ice_pmt_areas table;
    ice_pmt_acceptance acceptance;       /* acceptance of the PMTs that do not give their own */
    ice_pmt_acceptance *own_acceptances; /* [own_count], of single PMTs */
    size_t own_count;                    /* 0 .. pmt_count */
    ice_transit transit;                 /* transit times of the PMTs that do not give their own */
    ice_transit *own_transits;           /* [own_transit_count], of single PMTs */
    size_t own_transit_count;            /* 0 .. pmt_count */
} ice_module_type;

/* Returns what PMT k of a type accepts. */
static inline const ice_pmt_acceptance *ice_pmt_acceptance_of(const ice_module_type *type, size_t k)
{
    const size_t own = type->pmts[k].acceptance;
    return own == 0 ? &type->acceptance : &type->own_acceptances[own - 1];
}

/* Returns the distribution of the transit times of PMT k of a type. */
static inline const ice_transit *ice_pmt_transit_of(const ice_module_type *type, size_t k)
{
    const size_t own = type->pmts[k].transit;
    return own == 0 ? &type->transit : &type->own_transits[own - 1];
}

/* A rotation from the module's own frame to the frame of the detector: a unit quaternion. */
typedef struct ice_orientation {
    double w, x, y, z;
} ice_orientation;

/* A cable or rope: a straight cylinder that absorbs light. */
typedef struct ice_cable {
    double from[3], to[3]; /* ends of its axis, m */
    double radius;         /* m, > 0 */
    uint16_t string;
} ice_cable;

/* What of an oversized module a photon has to cross for a hit (physics.md 8.3, 8.19). */
typedef enum ice_crossing_rule { ICE_CROSSING_DISC, ICE_CROSSING_ENTRY } ice_crossing_rule;

/* Where a detector is, as the file of its modules says. */
typedef enum ice_surroundings_kind {
    ICE_SURROUNDINGS_UNKNOWN,
    ICE_SURROUNDINGS_ICE,
    ICE_SURROUNDINGS_WATER
} ice_surroundings_kind;

/* A detector: modules at any positions. Without types all of them are spheres of one radius. */
typedef struct ice_detector {
    char *name;             /* for reports: "hex86" or the path it came from */
    ice_module *modules;    /* [module_count] */
    size_t module_count;    /* 1 .. ICE_MODULES_MAX */
    double closest;         /* m, between the two closest centres; +INFINITY for one module */
    double radius;          /* m, > 0; with types the largest reach of a type */
    double oversize;        /* F >= 1: modules are F times wider across the direction of a photon
                               (physics.md 8.3); with types the largest of a type */
    ice_module_type *types; /* [type_count]; NULL: spheres of one radius */
    size_t type_count;      /* 0 .. ICE_TYPES_MAX */
    ice_orientation *orientations; /* [orientation_count], number 0 is upright; NULL: all upright */
    size_t orientation_count;
    ice_cable *cables; /* [cable_count]; NULL: none */
    size_t cable_count;
    ice_surroundings_kind surroundings;
    double stated_radius; /* m, of the modules in the file that lists them; 0: the file does not say
                             it */
    ice_crossing_rule crossing;
    bool keep_hit_photons;  /* photons continue after a hit (physics.md 8.4) */
    bool ends_at_true_size; /* whether photons end only at a module of true size */
    ice_angular angular;
    /* The largest acceptance of the types at each wavelength (nm), relative to which the ratios of
     * the types are. It counts if light.acceptance is auto. */
    double *acceptance_wavelengths, *acceptance; /* [acceptance_count] */
    size_t acceptance_count;                     /* 0: the types do not say it */
    double cable_radius;                         /* m, >= 0 */
    double cable_length; /* m, half of it above the module's centre; +INFINITY: endless */
} ice_detector;

#define ICE_MODULES_MAX 4000000

/* The density from which the wavelengths of one kind of light are drawn, bias included
 * (physics.md 3.4): linear between the points, zero outside. One point is a spectral line. */
typedef struct ice_spectrum {
    char *name;
    double *wavelength; /* [count], nm, strictly ascending, within ICE_WAVELENGTH_MIN .. MAX */
    double *density;    /* [count], >= 0, any normalisation, not all zero */
    size_t count;       /* >= 1 */
} ice_spectrum;

/* The light of a run: spectrum 0 is Cherenkov light, 1 .. count-1 as in step files. */
typedef struct ice_light {
    ice_spectrum *spectra; /* [count] */
    size_t count;          /* 1 .. 256 */
    /* bias(wl), the share of the light that is generated (physics.md 3.2), linear between the
     * points. The weight of a hit is the weight of its step divided by the bias and by the area
     * factor of oversize. No points: bias = 1 */
    double *bias_wavelength; /* [bias_count], nm, ascending */
    double *bias;            /* [bias_count], > 0 wherever a spectrum is */
    size_t bias_count;
    char *acceptance_from; /* for people: where the acceptance comes from */
    /* [count], the share of the photons of each spectrum that the bias keeps; 0: no module detects
     * its light; NULL: not computed */
    double *kept;
    /* acc_k(wl) pk / F^2 at the points of the bias, the efficiency of all modules included: the
     * share of light from its best direction that a module of acceptance k and efficiency 1
     * detects. It is at most the bias divided by the efficiency, for each module that detects.
     * Without points: flat_acceptance */
    double *acceptances[ICE_ACCEPTANCES]; /* [bias_count] each; NULL: not computed */
    double flat_acceptance;
    /* What the bias was made from, for the record of steps (files.md 2.5): at the points of the
     * bias the acceptance of the standard module and that of the high-efficiency module relative to
     * it; and the efficiency of all modules. NULL: not computed */
    double *standard_acceptance, *high_efficiency; /* [bias_count] each */
    double efficiency;
    double photons_per_metre; /* biased Cherenkov photons per metre of bare track at beta = 1 */
} ice_light;

#endif
