/* The world as its loaders describe it: ice, detector and light, in double precision.
 *
 * The loaders in pipeline/models/ fill these structures, is_tables_create() in kernels/ turns them
 * into the single-precision tables that the stages read. Units: metres, nanoseconds, nanometres,
 * kelvin; z points up and is zero at the detector centre (depth = ICE_DETECTOR_DEPTH - z).
 */
#ifndef ICE_MODEL_H
#define ICE_MODEL_H

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
    double effective_scattering; /* be400 > 0 (or >= 0 where bubbles > 0), without bubbles */
    double bubbles;              /* effective scattering of air bubbles, any wavelength, >= 0 */
    double dust_absorption;      /* adust400 >= 0 */
    double delta_tau;            /* K, temperature difference to 1730 m depth */
} ice_layer;

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
    double absorb_above; /* photons that rise above this z have left the world; +INFINITY: off */
    double absorb_below; /* photons that sink below this z have left the world; -INFINITY: off */
} ice_medium;

#define ICE_LAYERS_MAX 4096

/* One optical module. */
typedef struct ice_module {
    double x, y, z;    /* centre, m */
    uint16_t string;   /* label, as in hit files */
    uint16_t module;   /* label, unique within its string */
    bool absorbs;      /* excluded module: swallows photons at its true radius, no record (8.6) */
    double efficiency; /* relative to the standard module, > 0 */
} ice_module;

/* Any list of modules, all of one radius. */
typedef struct ice_detector {
    char *name;            /* for reports: "hex86" or the path it came from */
    ice_module *modules;   /* [module_count] */
    size_t module_count;   /* 1 .. ICE_MODULES_MAX */
    double radius;         /* m, > 0 */
    double oversize;       /* F >= 1: modules are F times wider across the photon's flight (8.3) */
    bool keep_hit_photons; /* photons go on after a hit (8.4) */
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
    double photons_per_metre; /* biased Cherenkov photons per metre of bare track at beta = 1 */
} ice_light;

#endif
