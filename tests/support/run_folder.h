/* For tests of whole runs: a folder with steps/ and hits/, runs in it, and their results. Every
 * function fails the test on errors. */
#ifndef RUN_FOLDER_H
#define RUN_FOLDER_H

#include "pipeline/icestream.h"
#include "tests/support/scratch_files.h"

#include <jansson.h>

typedef struct run_folder {
    scratch folder;
    char steps[SCRATCH_PATH], hits[SCRATCH_PATH];
    icestream_run_options options;
    icestream_error error; /* of the last run */
} run_folder;

enum { RUN_FOLDER_SETS = 18 };

/* Settings with which few photons give many hits. */
#define RUN_FOLDER_WIDE "detector.oversize=5", "detector.keep_hit_photons=false"

run_folder run_folder_open(void);
void run_folder_close(const run_folder *place);

/* The path of a file in one of the folders. Returns `path`. */
const char *run_folder_path(const char *folder, const char *name, char path[2 * SCRATCH_PATH]);
/* Whether a file exists in this folder. */
bool run_folder_exists(const char *folder, const char *name);
/* Whether a file exists in hits/. */
bool run_folder_has_hits(const run_folder *place, const char *name);

/* Isotropic light of 400 nm next to a module of hex86; some photons reach the module. */
icestream_step run_folder_bright(uint32_t step_id, uint32_t photons);
/* Bright steps of four kinds in turn, by their id: isotropic light, a whole cascade, a beam from
 * the surface of a module that is not thinned, a track. */
icestream_step run_folder_varied(uint32_t step_id, uint32_t photons);
/* Writes a step file of these steps. */
void run_folder_steps(const run_folder *place, const char *name, const icestream_step *steps,
                      size_t count);
/* Writes a step file of `count` bright steps, whose ids count up from `first`. */
void run_folder_bright_steps(const run_folder *place, const char *name, uint32_t first,
                             uint32_t count, uint32_t photons);

/* Runs all .npy files of steps/ with two threads, RUN_FOLDER_WIDE and these settings, NULL after
 * the last. A setting that the configuration does not accept fails the test. */
int run_folder_run(run_folder *place, const char *const *sets);
/* The same for a run that must succeed. Returns its log; the caller frees it. */
char *run_folder_log(run_folder *place, const char *const *sets);

/* All hits of a hit file. The caller frees them. */
icestream_hit *run_folder_hits(const run_folder *place, const char *name, size_t *count);
/* The content of summary.json. The caller frees it. */
json_t *run_folder_summary(const run_folder *place);
/* A whole number in a group of the summary. */
json_int_t run_folder_count(const json_t *summary, const char *group, const char *name);
/* The number of step files with this result ("done", "skipped") in summary.json. */
json_int_t run_folder_files(const run_folder *place, const char *result);

#endif
