/* Collects the hits of one file. Sorted pieces of hits go in, one sorted sequence comes out. The
 * memory is limited, because hits go to a temporary file when a budget is used up. */
#ifndef ICS_PHOTONS_COLLECT_COLLECTOR_H
#define ICS_PHOTONS_COLLECT_COLLECTOR_H

#include "base/cleanup.h"
#include "pipeline/icestream.h"
#include "pipeline/photons/collect/early_rows.h"
#include "pipeline/photons/collect/hit_histograms.h"
#include "pipeline/photons/devices/photon_intervals.h"
#include "pipeline/photons/files/format/trailer.h"
#include "stages/photon.h"

#include <stdatomic.h>

/* The memory for hits that several collectors share, also on several threads (bytes). */
typedef struct ics_hit_budget {
    atomic_size_t used;
    size_t limit;
} ics_hit_budget;

typedef struct ics_collector ics_collector;

/* `directory`: for a temporary file without a name, made when the budget is used up; NULL: TMPDIR
 * or /tmp. The budget must outlive the collector. ICESTREAM_E_MEMORY. */
int ics_collector_create(ics_hit_budget *budget, const char *directory, ics_collector **out,
                         icestream_error *error);
/* Frees the hits and the temporary file. Accepts NULL. */
void ics_collector_destroy(ics_collector *collector);
ICS_CAN_DESTROY(ics_collector, ics_collector_destroy)

/* Makes the collector count all hits in histograms (checked configurations). Call it before any
 * hits are added. ICESTREAM_E_MEMORY. */
int ics_collector_make_histograms(ics_collector *collector, const ics_histogram_config *configs,
                                  size_t count, icestream_error *error);
/* Adds the photons of a batch to the histograms of photons, as ics_hit_histograms_add_photons(),
 * and the steps whose first photon is in the batch to those of steps. `steps`: [count], the step of
 * every emission. A collector without histograms ignores them. */
void ics_collector_add_photons(ics_collector *collector, const uint64_t *cells,
                               const uint64_t *large, const icestream_step *steps,
                               const ice_emission *emissions, size_t count);
/* Stores the histograms of all hits as `histograms` of the metadata of a hit file
 * (ics_hit_histograms_json). A collector that makes none stores nothing. ICESTREAM_E_MEMORY. */
int ics_collector_put_histograms(const ics_collector *collector, json_t *metadata,
                                 icestream_error *error);

/* Adds one piece of hits (from malloc, sorted by ics_hit_sort_order), which the collector owns from
 * now on, also after a failure. If the budget is exceeded, all pieces in memory go to the temporary
 * file as one piece. ICESTREAM_E_MEMORY: the piece is lost. ICESTREAM_E_OUTPUT: the temporary file
 * cannot be written, the cause says why; all hits are kept in memory, and the next call, also one
 * with 0 hits, tries again. */
int ics_collector_add(ics_collector *collector, icestream_hit *hits, size_t count,
                      icestream_error *error);

/* Allows the collector to write hits into its temporary file in the form of a hit file, while later
 * batches are still computed. Call it before any hits are added, if the directory is that of the
 * hit file. */
void ics_collector_allow_early_rows(ics_collector *collector);
/* As ics_collector_add(), for the hits of a batch with these photons of the file. If the photons
 * before them are back as well, and many hits wait, the hits go to the temporary file. */
int ics_collector_add_batch(ics_collector *collector, icestream_hit *hits, size_t count,
                            ics_photon_interval photons, icestream_error *error);

/* Sets what is called for the hits of each batch that are written as rows. If hits are about to
 * leave the memory in another way, it is called for all batches in memory, with ICS_NO_ROW. */
void ics_collector_set_listener(ics_collector *collector, ics_rows_listener listener, void *user);
/* Calls the listener for the hits of each batch in memory, with ICS_NO_ROW. */
void ics_collector_visit_memory(const ics_collector *collector);
/* Whether rows may be written, so that batches can still become rows. */
bool ics_collector_allows_rows(const ics_collector *collector);
/* Gives the file of the rows a name (ics_early_rows_name). The row n is at the byte
 * ICS_NPY_OWN_HEADER + 64 n. *named false also: no rows were written, or no more can be. */
void ics_collector_name_rows(const ics_collector *collector, const char *path, bool *named);
/* Waits until the rows are on the disk. ICESTREAM_E_OUTPUT. */
int ics_collector_sync_rows(const ics_collector *collector, icestream_error *error);

/* All rows of a hit file, in a file that has no name and room for a header before the rows. */
typedef struct ics_collected_rows {
    int file; /* the file of the collector */
    uint64_t count;
    ics_trailer_checksums sums; /* checksums of the rows, except the last block */
} ics_collected_rows;

/* Sets *taken to whether the temporary file has exactly the rows of the hit file. Then the caller
 * frees out->sums. True at most once: the maker of a file that failed may have lost rows, and
 * merges instead. ICESTREAM_E_MEMORY. */
int ics_collector_take_rows(ics_collector *collector, ics_collected_rows *out, bool *taken,
                            icestream_error *error);

/* Moves all hits of another collector that shares the budget here; `from` is empty afterwards. Both
 * make the same histograms, or none. On
 * failure both are as they were: ICESTREAM_E_MEMORY; ICESTREAM_E_OUTPUT: the temporary files cannot
 * be read or written, the cause says why. The budget is not checked: call ics_collector_add with 0
 * hits for that. */
int ics_collector_take(ics_collector *collector, ics_collector *from, icestream_error *error);

/* Number of hits that were collected. */
uint64_t ics_collector_count(const ics_collector *collector);

/* Receives the next portion of sorted hits. Returns 0, or a status that ends the merge. */
typedef int (*ics_hits_receiver)(void *user, const icestream_hit *hits, size_t count,
                                 icestream_error *error);

/* Gives all hits to the receiver in the order of ics_hit_sort_order. The collector keeps them:
 * if the receiver failed to write them, another merge gives them again. ICESTREAM_E_MEMORY,
 * ICESTREAM_E_OUTPUT: the temporary file cannot be read, or rows that ics_collector_take_rows()
 * gave have changed; ICESTREAM_E_INTERRUPTED: *cancel (may be NULL) became true; or what the
 * receiver returned. */
int ics_collector_merge(ics_collector *collector, ics_hits_receiver receive, void *user,
                        const atomic_bool *cancel, icestream_error *error);

#endif
