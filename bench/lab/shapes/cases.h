/* The detectors that `icestream-lab shapes` compares. */
#ifndef ICS_BENCH_LAB_SHAPES_CASES_H
#define ICS_BENCH_LAB_SHAPES_CASES_H

#include "physics/model.h"
#include "pipeline/photons/config/config.h"
#include "pipeline/photons/config/yaml/yaml.h"

enum { ICS_SHAPE_CASES = 13 };

typedef enum ics_shape_layout {
    ICS_SHAPE_CONFIGURED, /* the modules of the run */
    ICS_SHAPE_MIXED,      /* these, of three types in turn */
    ICS_SHAPE_LARGE /* 300,000 modules of three types: 5,000 strings of 60 modules, as far from
                       each other as those of hex86 */
} ics_shape_layout;

typedef struct ics_shape_case {
    const char *name;
    const char *types;       /* detector.types as YAML; NULL: spheres without a type */
    int frequency;           /* of an icosphere of 20 frequency^2 triangles, the file mesh.stl of
                                `types`; 0: none */
    ics_shape_layout layout; /* which modules */
    bool has_cables;         /* cables past the modules */
    bool near_strings;       /* light starts within 20 m of strings, at oversize 5 only */
    int base;                /* index of the case with which it is compared */
} ics_shape_case;

extern const ics_shape_case ics_shape_cases[ICS_SHAPE_CASES];

/* What a case adds to a configuration. Zeros are nothing. */
typedef struct ics_shape_world {
    char folder[256]; /* the folder of its files; "": none */
    char *modules;    /* path of a list of modules, or NULL */
    ics_yaml *types;  /* or NULL */
} ics_shape_world;

/* Changes a configuration, which borrows texts of *out, to that of a case, and writes the files it
 * names to a new folder in the system's folder for temporary files. `modules`: [count], those of
 * the run. Call ics_shape_world_free also after an error, and when the models were read
 * ics_shape_world_remove_files. ICESTREAM_E_MEMORY, ICESTREAM_E_OUTPUT. */
int ics_shape_world_create(const ics_shape_case *this, const ice_module *modules, size_t count,
                           icestream_config *config, ics_shape_world *out, icestream_error *error);
void ics_shape_world_remove_files(ics_shape_world *world);
void ics_shape_world_free(ics_shape_world *world);

/* Moves steps to within 20 m of strings: uniform in a disc around the axis of a module; z stays. */
void ics_shape_world_near_strings(const ice_detector *detector, icestream_step *steps,
                                  size_t count);

#endif
