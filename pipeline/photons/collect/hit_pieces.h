/* Sorted pieces of hits, in memory or in a temporary file, and their merge into one sorted
 * sequence.
 */
#ifndef ICS_PHOTONS_COLLECT_HIT_PIECES_H
#define ICS_PHOTONS_COLLECT_HIT_PIECES_H

#include "pipeline/photons/collect/collector.h"
#include "pipeline/photons/devices/photon_intervals.h"

#include <sys/types.h>

/* Hits that a merge gives to its receiver at a time: 256 KiB. */
enum { ICS_HIT_PIECES_PORTION = 4096 };

/* One sorted piece: `hits` in memory, or `count` hits at `offset` of the temporary file. */
typedef struct ics_hit_piece {
    icestream_hit *hits;
    size_t count;
    off_t offset;
    ics_photon_interval photons; /* photons of the batch of the hits in memory; empty: unknown */
} ics_hit_piece;

typedef struct ics_hit_pieces {
    ics_hit_piece *items; /* [count] */
    size_t count, capacity;
} ics_hit_pieces;

/* Makes room for `more` pieces. ICESTREAM_E_MEMORY. */
int ics_hit_pieces_reserve(ics_hit_pieces *list, size_t more, icestream_error *error);
/* ICESTREAM_E_MEMORY: the list is as before. */
int ics_hit_pieces_append(ics_hit_pieces *list, ics_hit_piece piece, icestream_error *error);
/* Reads hits from the temporary file. ICESTREAM_E_OUTPUT. */
int ics_hit_pieces_read(int file, icestream_hit *hits, size_t count, off_t offset,
                        icestream_error *error);
/* Gives all hits to the receiver in the order of ics_hit_sort_order. The errors of
 * ics_collector_merge. Seven parameters, because a spill merges only the pieces in memory, and a
 * hit file gets both. */
int ics_hit_pieces_merge(const ics_hit_pieces *in_memory, const ics_hit_pieces *in_file, int file,
                         ics_hits_receiver receive, void *user, const atomic_bool *cancel,
                         icestream_error *error);

#endif
