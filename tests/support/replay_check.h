/* Hits of small worlds, replayed on the CPU and on a GPU, with all results as bytes. */
#ifndef REPLAY_CHECK_H
#define REPLAY_CHECK_H

#include "pipeline/photons/replay/replay.h"
#include "tests/support/stage_world.h"

/* Every world is replayed with two targets: equal ice, and another one. */
enum { REPLAY_TARGETS = 2 };

typedef struct replay_place {
    uint32_t features;
    ice_crossing_rule crossing;
    double oversize;
    bool keep;
} replay_place;

/* Ice with all features together, and every way to cross a module. */
enum { REPLAY_PLACES = 3 };
extern const replay_place replay_places[REPLAY_PLACES];

/* Hits of isotropic light and of a cascade in one of the places, in the order of photons. */
typedef struct replay_sample {
    stage_world world, others[REPLAY_TARGETS];
    icestream_hit *hits;   /* [count] */
    icestream_step *steps; /* [count] */
    size_t count;
} replay_sample;

/* Simulates the hits, 100 or more. The caller frees them. */
replay_sample replay_sample_create(const replay_place *place);
void replay_sample_free(replay_sample *sample);

/* All results, one behind the other. */
typedef struct replay_results {
    unsigned char *bytes; /* [size], the caller frees them */
    size_t size, hits, layers;
} replay_results;

/* Replays the hits. `gpu`: on this GPU; NULL: on the CPU. */
int replay_sample_fly(const replay_sample *sample, bool sums, const ics_gpu_options *gpu,
                      replay_results *out, icestream_error *error);

/* Checks that the GPU gives the bytes of the CPU. */
void replay_sample_check(const replay_sample *sample, bool sums, const ics_gpu_options *gpu);

#endif
