/* The world as its loaders describe it: ice, detector and light, in double precision.
 *
 * The loaders in pipeline/models/ fill these structures, ics_tables_create() in kernels/ turns them
 * into the single-precision tables that the stages read. Units: metres, nanoseconds, nanometres,
 * kelvin; z points up and is zero at the detector centre (depth = ICE_DETECTOR_DEPTH - z).
 */
#ifndef ICS_PHYSICS_MODEL_H
#define ICS_PHYSICS_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ICE_DETECTOR_DEPTH 1948.07     /* m below the surface, physics.md 1 */
#define ICE_MODULE_RADIUS  0.16510     /* m, 13-inch sphere, physics.md 1 */
#define ICE_LIGHT_SPEED    0.299792458 /* m/ns, exact */

/* The band in which the index of refraction may be evaluated (physics.md 14.4, 3). */
#define ICE_WAVELENGTH_MIN 250.0 /* nm */
#define ICE_WAVELENGTH_MAX 700.0 /* nm */

/* One layer of ice; coefficients at 400 nm in 1/m (physics.md 4.2). */
typedef struct ice_layer {
    double effective_scattering; /* be400 >= 0, scales with wavelength */
    /* effective scattering at any wavelength: air bubbles, minus what birefringence does already
     * (6.4); the sum of both is > 0 at every wavelength */
    double bubbles;
    double dust_absorption; /* adust400 >= 0 */
    double delta_tau;       /* K, temperature difference to 1730 m depth */
    /* ln k1, ln k2 of the scattering anisotropy along and across the flow (6.2); 0, 0: none */
    double anisotropy_along, anisotropy_across;
    /* strength of birefringence, >= 0: of its diffusion (r_A) and of its mean deflection
     * (r_A r_B) (6.4) */
    double birefringence, birefringence_mean;
} ice_layer;

/* By how many metres the layers lie higher at a place than the table says (physics.md 6.1): values
 * at supports, linear between them and in depth. */
typedef enum ice_tilt_kind { ICE_TILT_NONE, ICE_TILT_LINE, ICE_TILT_MAP } ice_tilt_kind;

/* One of the two oblique axes of a tilt map. */
typedef struct ice_tilt_axis {
    double azimuth;     /* rad */
    double first, step; /* coordinate of node 0 and distance of nodes, m, step > 0 */
    size_t count,
        cut; /* nodes (i, j) exist where i < j + cut of axis 0 and j < i + cut of axis 1 */
} ice_tilt_axis;

typedef struct ice_tilt {
    ice_tilt_kind kind;
    bool clamp; /* outside the table its edge's values; else they go on linearly (a map: only in
                 * depth, its edge counts for what is outside) */
    double first_depth, depth_step; /* m, step > 0 */
    size_t depth_count;             /* >= 2 */
    /* ICE_TILT_LINE: positions along a horizontal axis */
    double azimuth;       /* rad */
    double origin;        /* r0, the position that counts as 0, m */
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

/* What was taken out of the layers' scattering because crystals do it (4.2). */
typedef enum ice_taken {
    ICE_TAKEN_NOTHING,
    ICE_TAKEN_CONSTANT, /* the same at every wavelength */
    ICE_TAKEN_SCALED    /* that at 400 nm, elsewhere as dust */
} ice_taken;

/* Deflection of light by birefringent crystals (6.4): a, b, c, d of each function. All 0: none. */
typedef struct ice_birefringence {
    double along[4];  /* sx: rms towards the flow axis, rad/sqrt(m) */
    double across[4]; /* sy: rms perpendicular to it */
    double mean[4];   /* mx: mean deflection towards it, rad/m */
} ice_birefringence;

/* Refrozen columns around the strings (8.7): vertical, without end. */
typedef struct ice_hole {
    double radius;               /* m; 0: none */
    double effective_scattering; /* length, m, > 0 */
    double absorption;           /* length, m, > 0 */
    double mean_cosine;          /* g of its scattering function */
    double liu_fraction;         /* f_SL */
} ice_hole;

/* Optics of a medium at one wavelength. */
typedef struct ice_spectral_optics {
    double phase_index, group_index;
    double scattering; /* geometric coefficient, 1/m, > 0 */
    double absorption; /* 1/m, > 0 */
} ice_spectral_optics;

/* A parameter of the scatter variant, by the declaration in the variant's header. */
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
    double alpha;        /* exponent of scattering, be ~ (wl/400)^-alpha */
    double kappa;        /* exponent of dust absorption */
    double absorption_a; /* A of A exp(-B/wl), 1/m */
    double absorption_b; /* B, nm */
    double mean_cosine;  /* g of the scattering function, in (-1, 1) */
    double liu_fraction; /* f_SL, share of the simplified Liu function, in [0, 1] */
    /* Instead of the formulas of ice, for water: one for every nanometre from ICE_WAVELENGTH_MIN
     * to ICE_WAVELENGTH_MAX, linear between; layers then have effective_scattering = (1 -
     * mean_cosine) s and dust_absorption = a for s and a times these coefficients. NULL: ice */
    ice_spectral_optics *spectral;
    double density;           /* g/cm^3, of the light of particles; 0: nobody said, as ice */
    double rayleigh_fraction; /* share of molecular scattering (stages/scatter_rayleigh_hg.h) */
    ice_parameter scatter[ICE_PARAMETERS_MAX]; /* in the order of their declaration */
    size_t scatter_count;
    ice_tilt tilt;
    double flow_azimuth; /* of the flow axis of anisotropy and birefringence, rad */
    /* ln K1 (along the flow), ln K2 (horizontally across), ln K3 (vertical) of the absorption
     * anisotropy, as they are used: scaled to a mean of 1 (6.3); 0, 0, 0: none */
    double absorption_anisotropy[3];
    double absorption_exponent; /* fr, of the absorption that belongs to k1 and k2 (6.2); 0: none */
    ice_birefringence birefringence;
    ice_taken taken; /* for reports: the layers are without it */
    ice_hole hole;
    double absorb_above; /* photons that rise above this z have left the world; +INFINITY: off */
    double absorb_below; /* photons that sink below this z have left the world; -INFINITY: off */
} ice_medium;

#define ICE_LAYERS_MAX 4096

/* Wavelength acceptances that modules may have: of the standard and of high-efficiency ones. */
enum { ICE_ACCEPTANCES = 2 };

/* One optical module. Zeros from `acceptance` on: a standard module that is on, looks down and has
 * no cable. */
typedef struct ice_module {
    double x, y, z;     /* centre, m */
    uint16_t string;    /* label, as in hit files */
    uint16_t module;    /* label, unique within its string */
    bool absorbs;       /* excluded module: swallows photons at its true radius, no record (8.6) */
    double efficiency;  /* relative to the standard module, > 0 */
    uint8_t acceptance; /* which wavelength acceptance, < ICE_ACCEPTANCES */
    bool is_off;        /* without high voltage: absorbs, is hit, detects nothing (8.6) */
    bool has_cable;     /* which touches it at this azimuth (8.8): */
    double cable_azimuth; /* rad */
    double back[3];       /* unit vector against the axis of its PMT; 0, 0, 0: up */
} ice_module;

/* How well light is seen by its direction (8.5): the polynomial of x = cos(direction, back), cut at
 * 0; or, with a sharp edge, everything that arrives where cos(place, axis) > edge, seen from the
 * module's centre. */
typedef struct ice_angular {
    double maximum; /* pk > 0, at least the largest value for x in [-1, 1]; with an edge 1 */
    bool has_edge;
    double edge;             /* in [-1, 1] */
    double coefficients[16]; /* of x^0, x^1, ... */
    size_t count;
} ice_angular;

/* Any list of modules, all of one radius. */
typedef struct ice_detector {
    char *name;            /* for reports: "hex86" or the path it came from */
    ice_module *modules;   /* [module_count] */
    size_t module_count;   /* 1 .. ICE_MODULES_MAX */
    double radius;         /* m, > 0 */
    double oversize;       /* F >= 1: modules are F times wider across the photon's flight (8.3) */
    bool keep_hit_photons; /* photons go on after a hit (8.4) */
    ice_angular angular;
    double cable_radius; /* m, >= 0 */
    double cable_length; /* m, half above and half below the module's centre; +INFINITY: endless */
} ice_detector;

#define ICE_MODULES_MAX 4000000

/* The density that the wavelengths of one kind of light are drawn from, bias included:
 * linear between the points, zero outside (physics.md 3.4). One point: a spectral line. */
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
    /* bias(wl), the probability that generated light was kept (physics.md 3.2): linear between the
     * points; a hit's weight is the step's weight divided by it. Empty: bias = 1. */
    double *bias_wavelength; /* [bias_count], nm, ascending */
    double *bias;            /* [bias_count], > 0 wherever a spectrum is */
    size_t bias_count;
    /* acc_k(wl) pk / F^2, the global efficiency in acc: what a module of acceptance k and
     * efficiency 1 detects of light from its best direction, at the same points; at most the bias
     * times 1 / efficiency of each module that detects. Without points: flat_acceptance. */
    double *acceptances[ICE_ACCEPTANCES]; /* [bias_count] each; NULL: nobody asked */
    double flat_acceptance;
    double photons_per_metre; /* biased Cherenkov photons per metre of bare track at beta = 1 */
} ice_light;

#endif
