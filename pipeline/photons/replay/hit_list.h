/* The hits of one or several hit files in memory, and the configuration of the run that made
 * them. */
#ifndef ICS_PHOTONS_REPLAY_HIT_LIST_H
#define ICS_PHOTONS_REPLAY_HIT_LIST_H

#include "pipeline/photons/replay/steps.h"

typedef struct ics_hit_file {
    const char *path; /* not owned */
    uint64_t rows;
    char digest[ICS_DIGEST_TEXT]; /* SHA-256 of the file */
} ics_hit_file;

typedef struct ics_hit_list {
    icestream_hit *hits; /* [count], in the order of the files */
    size_t count;
    ics_hit_file *files; /* [file_count] */
    size_t file_count;
    /* The metadata of the first file, whose `inputs` names the step files of all files. */
    json_t *metadata;
    ics_replay_photon *photons; /* [photon_count], ascending, each photon once */
    size_t photon_count;
} ics_hit_list;

/* Reads and checks whole hit files. The caller frees *out with ics_hit_list_free.
 * ICESTREAM_E_INPUT: a file is damaged, edited or no hit file (files.md 4.4); the runs of two files
 * differ in seed, maths, settings or the light that they make; a file is given twice; there is no
 * hit. ICESTREAM_E_MEMORY. */
int ics_hit_list_read(const char *const *paths, size_t count, ics_hit_list *out,
                      icestream_error *error);
/* Accepts a list of zeros. */
void ics_hit_list_free(ics_hit_list *list);

/* Keeps about `most` hits, at equal distances in the list. */
void ics_hit_list_sample(ics_hit_list *list, size_t most);

/* Makes the settings KEY=VALUE of the run that made a hit file, from its trailer (files.md 2.2).
 * *out: [*count] texts; the caller frees them and the array. ICESTREAM_E_INPUT: the file has no
 * trailer; the trailer lists no settings, or of a long list of particles only the digest; a stage
 * was a user's header. ICESTREAM_E_MEMORY. */
int ics_hit_settings(const char *path, char ***out, size_t *count, icestream_error *error);
void ics_hit_settings_free(char **settings, size_t count);

/* Checks that a configuration is that of the run that made the hits: versions of physics and random
 * numbers, seed, all settings, ice, detector and light. ICESTREAM_E_CONFIG: it is not; the text
 * names the settings that differ, with both values. ICESTREAM_E_MEMORY. */
int ics_hit_list_check_config(const ics_hit_list *list, const icestream_config *config,
                              const ics_models *models, icestream_error *error);

#endif
