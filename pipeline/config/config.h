/* The configuration of a run, as read from YAML: every key, its default and its range.
 *
 * The table that drives reading, checking and printing is in config_keys.c; this is what the
 * rest of the program sees. Strings are owned by the configuration; paths are already resolved
 * against the folder of the file that names them ("-" stays "-"). NULL: not given.
 *
 * Reading does not look whether files exist: ics_config_check_files() does, and those who open
 * them; ics_config_place() tells them where the user wrote the name.
 */
#ifndef ICS_CONFIG_CONFIG_H
#define ICS_CONFIG_CONFIG_H

#include "graphs/gpu.h"
#include "pipeline/icestream.h"

typedef enum ics_backend {
    ICS_BACKEND_AUTO,
    ICS_BACKEND_CPU,
    ICS_BACKEND_CUDA,
    ICS_BACKEND_CUDA_CPU /* GPUs and the CPU side by side */
} ics_backend;

enum { ICS_CONFIG_GPUS = 64, ICS_CONFIG_ANGULAR = 17 };

/* Where a run goes on when its GPU fails. */
typedef enum ics_fallback { ICS_FALLBACK_NONE, ICS_FALLBACK_CPU } ics_fallback;

/* What becomes of a step file from source.directory once its hits are written. */
typedef enum ics_after { ICS_AFTER_KEEP, ICS_AFTER_MOVE, ICS_AFTER_DELETE } ics_after;

/* What is taken out of the scattering table because birefringence does it (physics.md 4.2, 6.4). */
typedef enum ics_subtraction {
    ICS_SUBTRACTION_AUTO,     /* as the ice says: a ppc folder by its version, an ice file itself */
    ICS_SUBTRACTION_CONSTANT, /* r_A s_eff at every wavelength */
    ICS_SUBTRACTION_SCALED,   /* r_A s_eff at 400 nm, elsewhere as dust */
    ICS_SUBTRACTION_NONE
} ics_subtraction;

/* How a tilt continues outside its table (physics.md 6.1). */
typedef enum ics_tilt_outside { ICS_TILT_LINEAR, ICS_TILT_CLAMP } ics_tilt_outside;

/* Photons of the steps of a workload: the same number in all steps, or varying numbers. */
typedef enum ics_counts { ICS_COUNTS_BALANCED, ICS_COUNTS_SHUFFLED } ics_counts;

/* What hit files carry. */
typedef enum ics_hit_content {
    ICS_CONTENT_AUTO, /* of sink.hits only: what stages.detect makes */
    ICS_CONTENT_PHOTONS,
    ICS_CONTENT_PE,
    ICS_CONTENT_BOTH
} ics_hit_content;

typedef enum ics_workload_kind {
    ICS_WORKLOAD_POINT,
    ICS_WORKLOAD_UNIFORM,
    ICS_WORKLOAD_CASCADE
} ics_workload_kind;

/* Of particles.file; auto: by the ending of its name. */
typedef enum ics_particle_format {
    ICS_PARTICLES_AUTO,
    ICS_PARTICLES_F2K,
    ICS_PARTICLES_CSV,
    ICS_PARTICLES_YAML
} ics_particle_format;

/* Where event_ids come from: the list of particles, or a count of its events. */
typedef enum ics_particle_events { ICS_EVENTS_FILE, ICS_EVENTS_COUNT } ics_particle_events;

/* Whose numbers for light of particles where the public codes differ (physics.md 14.1); the order
 * of ice_convention_name. */
typedef enum ics_conventions {
    ICS_CONVENTIONS_STANDARD,
    ICS_CONVENTIONS_CLSIM,
    ICS_CONVENTIONS_PPC
} ics_conventions;

typedef struct ics_module_label {
    uint16_t string, module;
} ics_module_label;

/* An entry of light.spectra: exactly one of the two is given. */
typedef struct ics_spectrum_config {
    double line; /* nm, 0: not given */
    char *file;  /* text: wavelength (nm) and density in columns */
} ics_spectrum_config;

/* Where the values came from; config_keys.h, private to configurations. */
typedef struct ics_config_origin ics_config_origin;

struct ics_yaml_node; /* pipeline/config/yaml/yaml.h */

/* One structure for every section; config_keys.def describes the members. */
struct icestream_config {
    char *path; /* the file, or NULL for pure defaults */
    ics_config_origin *origin;

#define ICS_SECTION(name)                  struct {
#define ICS_KEY(section, key, member, ...) member
#define ICS_MEMBER(member)                 member
#define ICS_END(name)                                                                              \
    }                                                                                              \
    name;
#include "pipeline/config/config_keys.def"
#undef ICS_SECTION
#undef ICS_KEY
#undef ICS_MEMBER
#undef ICS_END
};

/* What stages.create, .propagate, .collide and .scatter are where a header was given. */
#define ICS_CONFIG_CUSTOM "custom"

/* Its word in configurations and files. */
const char *ics_config_content_name(ics_hit_content content);
/* What hit files carry: never ICS_CONTENT_AUTO. */
ics_hit_content ics_config_content(const icestream_config *config);

/* The k-th of the keys whose values are only for a GPU ("graph.lanes") and are not the default:
 * they are errors where photons go through a CPU. NULL: no more. */
const char *ics_config_gpu_key(const icestream_config *config, size_t k);

/* icestream_config_load from text, as if it were the content of the file `name`; does not touch the
 * file system. For tests and fuzzing. */
int ics_config_load_text(const char *name, const char *text, size_t length, const char *const *sets,
                         size_t set_count, icestream_config **out, icestream_error *error);

/* Where the value of a key ("ice.directory") was given, for messages: "run.yaml:7:14",
 * "--set ice.directory", or "default" (also for keys that do not exist). Returns buffer. */
const char *ics_config_place(const icestream_config *config, const char *key_path, char *buffer,
                             size_t size);

/* Puts the place of a key in front of an error about its value, if that is ICESTREAM_E_CONFIG.
 * Returns the error's status. */
int ics_config_blame(const icestream_config *config, const char *key_path, icestream_error *error);

/* Whether the files and folders are there that the keys of a section ("ice.") name; adds an error
 * for each that is not, with the place where it is named. What is in them, and whether they can be
 * read, is for those who open them. 0, ICESTREAM_E_CONFIG. */
int ics_config_check_files(const icestream_config *config, const char *section,
                           icestream_error *error);

/* Writes the keys whose values hits depend on, one in a line: "run.seed: 1". Keys on which hits
 * depend through ice, detector, light or detection are left out (config_keys.def). Check
 * ferror(out) afterwards. */
void ics_config_print_hit_settings(const icestream_config *config, FILE *out);

/* Writes all keys as a Markdown table: the one in configs/README.md. */
void ics_config_document(FILE *out);

#endif
