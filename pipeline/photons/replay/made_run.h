/* The run that made hits: its configuration, its world, and the steps of the hits' photons.
 * `reweight` and `gradient` replay hits of such a run. */
#ifndef ICS_PHOTONS_REPLAY_MADE_RUN_H
#define ICS_PHOTONS_REPLAY_MADE_RUN_H

#include "pipeline/photons/files/format/layout.h"
#include "pipeline/photons/replay/hit_list.h"
#include "pipeline/photons/replay/replay.h"
#include "pipeline/photons/session/world.h"

typedef struct ics_made_run {
    const icestream_config *config;
    icestream_config *rebuilt; /* the configuration, if the trailer gave it; else NULL */
    ics_world world;
    ics_hit_list list;
    uint64_t hit_count, photon_count; /* of the files; the list may be a sample of them */
    icestream_step *steps;            /* [list.count], the step of each hit */
    json_t *inputs;                   /* SHA-256 of the step files, an array */
    ics_replay_options replay;        /* without targets */
    ics_gpu_options gpu;              /* of the GPU, if one is used */
} ics_made_run;

typedef struct ics_made_run_options {
    const char *const *hits; /* [hit_count], hit files, at least one */
    size_t hit_count;
    const char *steps;   /* the step file; NULL: as ics_replay_steps_find() finds it */
    size_t sample;       /* about this number of hits instead of all; 0: all */
    const char *backend; /* what flies the photons: "cpu", "cuda", or "auto" (NULL): a GPU for hits
                            of fast maths, and for many hits if there is one */
} ics_made_run_options;

/* Reads the hits, and makes the world and the steps of their photons. `config` NULL: the trailer of
 * the first file decides. The caller frees *out with ics_made_run_free.
 * ICESTREAM_E_INPUT: a hit file or a step file is wrong or missing, or cannot be rebuilt from its
 * trailer; ICESTREAM_E_CONFIG: the configuration is not that of the hits, or has a stage header of
 * the user; ICESTREAM_E_DIFFERENT: hits of maths that this machine cannot repeat;
 * ICESTREAM_E_DEVICE: there is no GPU; ICESTREAM_E_USAGE, ICESTREAM_E_MEMORY. */
int ics_made_run_create(const icestream_config *config, const ics_made_run_options *options,
                        ics_made_run *out, icestream_error *error);
/* Accepts a run of zeros. */
void ics_made_run_free(ics_made_run *run);

/* Makes the metadata that files of weights and of derivatives share (files.md 14). The caller owns
 * *out. ICESTREAM_E_MEMORY. */
int ics_made_run_metadata(const ics_made_run *run, json_t **out, icestream_error *error);

/* Fills the first 24 bytes of a row of such a file (files.md 14): the identity of a hit. */
enum { ICS_MADE_RUN_HEAD = 24, ICS_MADE_RUN_HEAD_FIELDS = 7 };
void ics_made_run_head(const icestream_hit *hit, unsigned char row[ICS_MADE_RUN_HEAD]);
/* The fields of these bytes, then one array of `count` numbers. */
void ics_made_run_fields(const char *name, uint32_t count,
                         ics_layout_field fields[ICS_MADE_RUN_HEAD_FIELDS + 1]);

#endif
