/* A comparison of hits: made and judged by compare.c, explained by compare/differences.c, printed
 * by compare/report.c. compare/light.c chooses the light of the second configuration. */
#ifndef ICS_COMMANDS_COMPARE_COMPARE_H
#define ICS_COMMANDS_COMPARE_COMPARE_H

#include "pipeline/commands/compare/verdict.h"
#include "pipeline/commands/measure/rows.h"
#include "pipeline/photons/files/format/digest.h"
#include "pipeline/photons/models/light/light.h"
#include "pipeline/production/telemetry/task_progress.h"

/* One configuration with one schedule. */
typedef struct ics_compare_participant {
    const icestream_config *config;
    bool against; /* whether the configuration is the second one, that of --against */
    ics_schedule schedule;
    ics_row row;
} ics_compare_participant;

/* The first participant compared with another one. */
typedef struct ics_compare_pair {
    size_t other;          /* index of the other participant */
    bool expect_identical; /* the hits must be identical; otherwise compatible */
    char differences[512]; /* what hits depend on and what differs, for people */
    bool same_seed;
    bool expect_account; /* the photon accounts must be equal, if the hits must be identical */
    bool same_account;
    bool holds; /* hits and accounts are as expected */
    ics_verdict verdict;
} ics_compare_pair;

/* Which steps the second configuration uses. */
typedef enum ics_compare_light_kind {
    ICS_COMPARE_LIGHT_SAME,    /* those of the first one, which suit both */
    ICS_COMPARE_LIGHT_OWN,     /* its own steps, made of the same particles or workload */
    ICS_COMPARE_LIGHT_ACCEPTED /* those of the first one, although they were made for other values
                                  than those of one of the configurations, or of both */
} ics_compare_light_kind;

/* What decides which wavelengths a configuration draws, and with which weights. */
typedef struct ics_compare_spectra {
    ics_range drawn[ICS_SPECTRA_MAX]; /* [count] (nm): of each spectrum with the bias */
    size_t count;
    double oversize;
    char weights[ICS_DIGEST_TEXT]; /* digest of oversize and bias */
} ics_compare_spectra;

typedef struct ics_compare_light {
    json_t *first; /* what light of the first configuration is made with (models/light_record.h) */
    json_t *differences; /* [{"key", "steps", "run"}]: settings of light, first and second value */
    size_t unrecorded;   /* step files without a record of their light */
    ics_compare_light_kind kind;
    bool is_accepted; /* the second configuration accepts steps that do not suit it */
    bool by_weight;   /* the light differs: weights are compared, and not numbers of hits */
    bool is_cut;      /* one configuration draws wavelengths outside the band */
    ics_range band;   /* the wavelengths that both draw, for comparisons by weight (nm) */
    ics_compare_spectra spectra; /* of the first configuration */
} ics_compare_light;

enum { ICS_COMPARE_PARTICIPANTS = 2 * ICS_SCHEDULE_COUNT };

typedef struct ics_comparison {
    const icestream_config *config, *against;
    const icestream_compare_options *options;
    ics_origin origin, against_origin;
    ics_step_list steps;
    ics_step_list against_steps; /* of the second configuration, if it has its own */
    ics_compare_light light;
    ics_task_progress progress;
    ics_compare_participant participants[ICS_COMPARE_PARTICIPANTS];
    size_t count;
    ics_compare_pair pairs[ICS_COMPARE_PARTICIPANTS];
} ics_comparison;

/* Lists everything that a hit depends on and that differs between two participants, down to the
 * numbers in the models: "scatter (hg, my.h), seed (1, 2)". The text is empty if their hits have to
 * be identical. */
void ics_compare_list_differences(const ics_comparison *comparison,
                                  const ics_compare_participant *first,
                                  const ics_compare_participant *second, char *buffer, size_t size);

/* Chooses the light of the second configuration, whose models are given: fills `light` and
 * `against_steps`. ICESTREAM_E_CONFIG: it names other particles, another workload or other step
 * files than the first one. ICESTREAM_E_INPUT: the steps do not suit it. ICESTREAM_E_MEMORY, and
 * the errors of ics_step_list_generate(). */
int ics_compare_light_choose(ics_comparison *comparison, const ics_models *models,
                             icestream_error *error);
/* Finds the wavelengths that a configuration draws, and what its weights depend on.
 * ICESTREAM_E_MEMORY. */
int ics_compare_band_find(const ics_models *models, ics_compare_spectra *out,
                          icestream_error *error);
/* Stores the band that both configurations draw, given the spectra of the second one. Only spectra
 * that steps use count. */
void ics_compare_band_choose(ics_comparison *comparison, const ics_compare_spectra *theirs);

/* Lists the settings of light that differ: "detector.oversize (5, 1)". */
void ics_compare_light_list(const ics_compare_light *light, char *text, size_t size);
/* Says whose light is used. */
void ics_compare_light_print(const ics_comparison *comparison, FILE *out);

/* Print a comparison as text for people, or as JSON. `holds`: all pairs are as expected.
 * ICESTREAM_E_MEMORY, ICESTREAM_E_OUTPUT. */
int ics_compare_print_text(const ics_comparison *comparison, FILE *out, icestream_error *error);
int ics_compare_print_json(const ics_comparison *comparison, bool holds, FILE *out,
                           icestream_error *error);

#endif
