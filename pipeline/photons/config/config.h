/* The configuration of a run, as read from YAML. keys.def lists every key.
 *
 * The configuration owns its texts. A text or a path that is NULL was not given. Paths are resolved
 * against the folder of the run file that names them; "-" stays "-".
 *
 * Reading a configuration does not check whether files exist; ics_config_check_files() does. For
 * messages about a file, ics_config_place() says where its name was given.
 */
#ifndef ICS_PHOTONS_CONFIG_CONFIG_H
#define ICS_PHOTONS_CONFIG_CONFIG_H

#include "graphs/options.h"
#include "graphs/tune.h"
#include "kernels/stage.h"
#include "pipeline/icestream.h"
#include "stages/histograms/photon_histogram.h"

typedef enum ics_backend {
    ICS_BACKEND_AUTO,
    ICS_BACKEND_CPU,
    ICS_BACKEND_CUDA,
    ICS_BACKEND_CUDA_CPU, /* GPUs and the CPU together */
    ICS_BACKEND_GPU       /* only while a configuration is read: another word for CUDA */
} ics_backend;

enum { ICS_CONFIG_GPUS = 64, ICS_CONFIG_ANGULAR = 17 };

/* Where a run continues if its GPU fails. */
typedef enum ics_fallback { ICS_FALLBACK_NONE, ICS_FALLBACK_CPU } ics_fallback;

/* What happens to steps whose light was made for other values than those of the run. */
typedef enum ics_light_mismatch { ICS_MISMATCH_REFUSE, ICS_MISMATCH_ACCEPT } ics_light_mismatch;

/* Where a photon has a hit at a module wider than true (physics.md 8.19). */
typedef enum ics_crossing { ICS_CROSSING_ENTRY, ICS_CROSSING_DISC } ics_crossing;

/* Whether there are cables between modules, and where they hang. */
typedef enum ics_cables { ICS_CABLES_NONE, ICS_CABLES_STRAIGHT, ICS_CABLES_SIDE } ics_cables;

/* Whether a table is filled, and in which coordinates: the values of ice_tabulate_geometry. */
typedef enum ics_tabulate {
    ICS_TABULATE_NONE,
    ICS_TABULATE_SPHERICAL,
    ICS_TABULATE_CYLINDRICAL,
    ICS_TABULATE_CUSTOM /* those of a header of the user */
} ics_tabulate;

/* Where the origin of the coordinates of a table is. */
typedef enum ics_tabulate_source {
    ICS_TABULATE_AUTO,
    ICS_TABULATE_STEP,
    ICS_TABULATE_FIXED
} ics_tabulate_source;

/* An axis of a table. */
typedef struct ics_axis_config {
    char *name;
    double from, to;
    uint32_t bins, power; /* power 0: not given */
    char *unit;           /* unit, only with a header of the user; NULL: not given */
} ics_axis_config;

/* What histograms count (sink.histograms): fields of a hit (icestream.h), where `impact` is the
 * cosine of the angle between the photon and the vertical, as the axis of tables; the photons of a
 * step; and the quantities of photons at their end and of their segments, in the order of
 * ice_photon_quantity. */
typedef enum ics_quantity {
    ICS_HIT_TIME,
    ICS_HIT_STRING,
    ICS_HIT_MODULE,
    ICS_HIT_PMT,
    ICS_HIT_EVENT,
    ICS_HIT_WAVELENGTH,
    ICS_HIT_IMPACT,
    ICS_HIT_SCATTERS,
    ICS_HIT_WEIGHT,
    ICS_STEP_PHOTONS,
#define ICS_PHOTON_CONSTANT(constant, name, unit, whole) ICS_PHOTON_##constant,
    ICE_PHOTON_QUANTITIES(ICS_PHOTON_CONSTANT)
#undef ICS_PHOTON_CONSTANT
        ICS_QUANTITY_COUNT
} ics_quantity;

/* An axis of a histogram: bins from `from` to `to`, equally wide, or with `is_log` equally wide in
 * the logarithm. */
typedef struct ics_histogram_axis {
    ics_quantity quantity;
    double from, to;
    uint32_t bins;
    bool is_log;
} ics_histogram_axis;

enum { ICS_HISTOGRAM_AXES = 3 };

/* A histogram of hits, of photons or of steps. */
typedef struct ics_histogram_config {
    ics_histogram_axis axes[ICS_HISTOGRAM_AXES];
    uint32_t axis_count; /* 1 to ICS_HISTOGRAM_AXES */
} ics_histogram_config;

/* What becomes of a claimed step file when its hits are written. */
typedef enum ics_after { ICS_AFTER_KEEP, ICS_AFTER_MOVE, ICS_AFTER_DELETE } ics_after;

/* What becomes of a step file without any photon. */
typedef enum ics_empty { ICS_EMPTY_REFUSE, ICS_EMPTY_ACCEPT } ics_empty;

/* How much is subtracted from the scattering table, because birefringence causes this part of the
 * deflection (physics.md 4.2, 6.4). */
typedef enum ics_subtraction {
    ICS_SUBTRACTION_AUTO,     /* a ppc folder: by its version; an ice file: by its own key */
    ICS_SUBTRACTION_CONSTANT, /* r_A s_eff at all wavelengths */
    ICS_SUBTRACTION_SCALED,   /* r_A s_eff at 400 nm, at others scaled like dust */
    ICS_SUBTRACTION_NONE
} ics_subtraction;

/* Whether photons continue after a hit (physics.md 8.4); auto: if modules are oversized. */
typedef enum ics_keep_hit { ICS_KEEP_HIT_AUTO, ICS_KEEP_HIT_NO, ICS_KEEP_HIT_YES } ics_keep_hit;

/* Columns of hole ice (physics.md 8.7); unscaled: also around oversized modules. */
typedef enum ics_hole_ice { ICS_HOLE_ICE_NO, ICS_HOLE_ICE_YES, ICS_HOLE_ICE_UNSCALED } ics_hole_ice;

/* How a tilt continues outside its table (physics.md 6.1). */
typedef enum ics_tilt_outside { ICS_TILT_LINEAR, ICS_TILT_CLAMP } ics_tilt_outside;

/* Photons of the steps of a workload: the same number in all steps, or varying numbers. */
typedef enum ics_counts { ICS_COUNTS_BALANCED, ICS_COUNTS_SHUFFLED } ics_counts;

/* What hit files contain. */
typedef enum ics_hit_content {
    ICS_CONTENT_AUTO, /* only as the value of sink.hits: by stages.detect */
    ICS_CONTENT_PHOTONS,
    ICS_CONTENT_PE,
    ICS_CONTENT_BOTH,
    ICS_CONTENT_WAVEFORMS /* only as the value of sink.hits: sums of the rows of AUTO */
} ics_hit_content;

typedef enum ics_workload_kind {
    ICS_WORKLOAD_POINT,
    ICS_WORKLOAD_UNIFORM,
    ICS_WORKLOAD_CASCADE
} ics_workload_kind;

/* The format of particles.file; auto: by the ending of its name. */
typedef enum ics_particle_format {
    ICS_PARTICLES_AUTO,
    ICS_PARTICLES_F2K,
    ICS_PARTICLES_CSV,
    ICS_PARTICLES_YAML
} ics_particle_format;

/* The event_ids of particles: those of the list, or counted from 0. */
typedef enum ics_particle_events { ICS_EVENTS_FILE, ICS_EVENTS_COUNT } ics_particle_events;

/* Losses along tracks: of muons whose events have none, of no track, or of all tracks. */
typedef enum ics_cascade_form { ICS_CASCADES_STEPS, ICS_CASCADES_PROFILE } ics_cascade_form;
typedef enum ics_losses { ICS_LOSSES_AUTO, ICS_LOSSES_NONE, ICS_LOSSES_SIMPLE } ics_losses;
/* Decays of taus and of muons at rest: those that the list does not have, or no decays. */
typedef enum ics_decays { ICS_DECAYS_AUTO, ICS_DECAYS_NONE } ics_decays;

/* Whose numbers for light of particles to use where the public codes differ (physics.md 14.1); in
 * the order of ice_convention_name. */
typedef enum ics_conventions {
    ICS_CONVENTIONS_STANDARD,
    ICS_CONVENTIONS_CLSIM,
    ICS_CONVENTIONS_PPC
} ics_conventions;

typedef struct ics_module_identity {
    uint16_t string, module;
} ics_module_identity;

/* An entry of light.spectra. Exactly one of the two is given. */
typedef struct ics_spectrum_config {
    double line; /* wavelength of a line (nm); 0: not given */
    char *file;  /* path of a text file with columns of wavelength (nm) and density; or NULL */
} ics_spectrum_config;

/* Where the values came from; defined in keys.h and private to the configuration. */
typedef struct ics_config_origin ics_config_origin;

struct ics_yaml_node; /* pipeline/photons/config/yaml/yaml.h */

/* One structure for every section; keys.def describes the members. */
struct icestream_config {
    char *path; /* path of the run file; NULL: there are only defaults and --set */
    ics_config_origin *origin;

#define ICS_SECTION(name)                  struct {
#define ICS_KEY(section, key, member, ...) member
#define ICS_MEMBER(member)                 member
#define ICS_END(name)                                                                              \
    }                                                                                              \
    name;
#include "pipeline/photons/config/keys.def"
#undef ICS_SECTION
#undef ICS_KEY
#undef ICS_MEMBER
#undef ICS_END
};

/* The value of stages.create, .propagate, .collide or .scatter if a header was given. */
#define ICS_CONFIG_CUSTOM "custom"

/* The word for a content in configurations and files. */
const char *ics_config_content_name(ics_hit_content content);
/* What hit files contain; never ICS_CONTENT_AUTO or ICS_CONTENT_WAVEFORMS. */
ics_hit_content ics_config_content(const icestream_config *config);

/* Some values of keys need a GPU, such as graph.lanes: 2, and are errors with device.backend: cpu.
 * Returns the path
 * of the k-th such key of this configuration ("graph.lanes"); NULL: there are no more. */
const char *ics_config_gpu_key(const icestream_config *config, size_t k);

/* Whether there are particles: particles.file, or a particles.list that is not empty. */
bool ics_config_has_particles(const icestream_config *config);
/* Whether a source is given: source.files, source.directory or source.listen. The default of
 * source.files does not count. */
bool ics_config_has_source(const icestream_config *config);
/* Whether there is something to make steps of: particles, or a key of workload that is given. An
 * empty particles.list that is given counts, so that ics_config_check_light() refuses it. */
bool ics_config_has_light(const icestream_config *config);
/* Whether a run makes its steps itself: there is light, and no source is given. */
bool ics_config_generates(const icestream_config *config);
/* Checks that the light is not nothing. `command` needs light, and names itself in the error if
 * there is none; NULL: without any light the default workload is used. ICESTREAM_E_CONFIG: there is
 * no light, an empty list, or a workload without steps or photons. */
int ics_config_check_light(const icestream_config *config, const char *command,
                           icestream_error *error);
/* Returns the path of the k-th key that generated steps depend on, without particles.file, whose
 * content counts and not its name; NULL: there are no more. */
const char *ics_config_light_key(const icestream_config *config, size_t k);
/* Writes these keys with their values, one in a line. Check ferror(out) afterwards. */
void ics_config_print_light_settings(const icestream_config *config, FILE *out);

/* Adds an owner: the configuration lives until icestream_config_destroy() was called once more. Any
 * thread. */
void ics_config_hold(const icestream_config *config);

/* Makes a configuration of the run file and the settings of `base`, with more settings KEY=VALUE
 * after those; `option`, a constant such as "--set", gave them. Reads no file again.
 * ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. The caller destroys *out. */
int ics_config_derive(const icestream_config *base, const char *option, const char *const *sets,
                      size_t set_count, icestream_config **out, icestream_error *error);

/* Makes a configuration of the run file and the settings of `base`, in which the keys of the file
 * `path` replace others. Relative paths in it begin in its folder. `base` must not be the result of
 * this function. ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. The caller destroys *out. */
int ics_config_overlay(const icestream_config *base, const char *path, icestream_config **out,
                       icestream_error *error);

/* Like icestream_config_load(), but reads `text` as if it were the content of the file `name`. Does
 * not touch the file system. For tests and fuzzing. */
int ics_config_load_text(const char *name, const char *text, size_t length, const char *const *sets,
                         size_t set_count, icestream_config **out, icestream_error *error);

/* Writes where the value of a key ("ice.directory") was given: "run.yaml:7:14",
 * "--set ice.directory", or "default" (also if there is no such key). Returns buffer. */
const char *ics_config_place(const icestream_config *config, const char *key_path, char *buffer,
                             size_t size);

/* Adds the error "PLACE: error: KEY: ..." about the value of a key. Returns the status of `error`,
 * or ICESTREAM_E_CONFIG if it is NULL. */
int ics_config_error(const icestream_config *config, const char *key_path, icestream_error *error,
                     const char *format, ...) __attribute__((format(printf, 4, 5)));

/* If the error is ICESTREAM_E_CONFIG, writes the place of a key in front of its text. Returns the
 * error's status. */
int ics_config_blame(const icestream_config *config, const char *key_path, icestream_error *error);

/* Checks that the files and folders exist that the keys of a section ("ice.") name. Adds an error
 * for each that does not exist, with the place where it is named. Does not open them. 0,
 * ICESTREAM_E_CONFIG. */
int ics_config_check_files(const icestream_config *config, const char *section,
                           icestream_error *error);

/* Checks that an output is none of the files that the configuration is made of or names, because
 * that file would be lost. `what` is the option in the message. ICESTREAM_E_USAGE. */
int ics_config_check_output(const icestream_config *config, const char *what, const char *path,
                            icestream_error *error);

/* The programs of the user that a run starts. Those of hit files come first, in their order. */
typedef enum ics_user_program {
    ICS_PROGRAM_SHIP,
    ICS_PROGRAM_VERIFY,
    ICS_PROGRAM_COMMAND,
    ICS_PROGRAM_FETCH,
    ICS_PROGRAMS
} ics_user_program;

/* The key that names a program, and its words; they belong to the configuration. */
typedef struct ics_user_words {
    const char *key; /* "sink.command" */
    char **words;    /* [count]; no words: there is no program */
    size_t count;
} ics_user_words;

ics_user_words ics_config_program(const icestream_config *config, ics_user_program program);
/* Whether hit files are shipped, by sink.ship or by the run itself (sink.url without sink.ship). */
bool ics_config_ships(const icestream_config *config);
/* The key that delivers hit files, for messages. */
const char *ics_config_delivery(const icestream_config *config);
/* Whether hit files are shipped, or sink.verify or sink.command is to run on them. */
bool ics_config_delivers(const icestream_config *config);

/* Looks for a program: a name without a slash in the folders of PATH. *path is for the caller to
 * free; NULL: the configuration names none. ICESTREAM_E_CONFIG: there is no such program, or it may
 * not be run; the text says what was looked for. ICESTREAM_E_MEMORY. */
int ics_config_find_program(const icestream_config *config, ics_user_program program, char **path,
                            icestream_error *error);

/* Writes the keys whose values hits depend on, one in a line: "run.seed: 1". Keys on which hits
 * depend through ice, detector, light or detection are left out (keys.def). Check
 * ferror(out) afterwards. */
void ics_config_print_hit_settings(const icestream_config *config, FILE *out);

/* Returns the path of the k-th key on which hits depend only through ice, detector, light or
 * detection; NULL: there are no more. */
const char *ics_config_model_key(size_t k);

/* Returns the value of a key ("detector.oversize") as a configuration says it, as a new text for
 * the caller to free; empty: not given. NULL: no memory. */
char *ics_config_value_text(const icestream_config *config, const char *key_path);

/* Write all keys as a table of plain text, and as a JSON Schema for editors. Check ferror(out)
 * afterwards. ICESTREAM_E_MEMORY. */
void ics_config_print_keys(FILE *out);
/* Writes the keys of one section, or one key ("detector", "detector.oversize"). Returns false, and
 * writes nothing, if no key has this name. */
bool ics_config_print_section(const char *name, FILE *out);
/* Writes the paths of the keys whose last word is `word`, separated by commas
 * ("detector.oversize"). Returns whether there is one. */
bool ics_config_keys_ending(const char *word, char *text, size_t size);
int ics_config_print_json_schema(FILE *out, icestream_error *error);

#endif
