/* A collector: shared by collector.c, collector_rows.c, which writes rows early, and
 * collector_file.c, which writes the temporary file. */
#ifndef ICS_PHOTONS_COLLECT_COLLECTOR_STATE_H
#define ICS_PHOTONS_COLLECT_COLLECTOR_STATE_H

#include "pipeline/photons/collect/collector.h"
#include "pipeline/photons/collect/early_rows.h"
#include "pipeline/photons/collect/hit_pieces.h"

struct ics_collector {
    ics_hit_budget *budget;
    char *directory;
    ics_hit_pieces in_memory, in_file;
    size_t bytes;   /* bytes of the hits in memory */
    uint64_t count; /* number of all hits */
    int file;       /* the temporary file; -1: there is none yet */
    off_t file_end;
    bool can_get_name; /* the temporary file was made without one, and may get one */
    ics_early_rows rows;
    ics_hit_histograms *histograms; /* histograms of all hits; NULL: none are made */
};

/* Makes the temporary file, unless there is one. ICESTREAM_E_OUTPUT. */
int ics_collector_open_file(ics_collector *collector, icestream_error *error);
/* Appends hits to the temporary file. An ics_hits_receiver, whose user is the collector.
 * ICESTREAM_E_OUTPUT: some bytes may be written. */
int ics_collector_write(void *user, const icestream_hit *hits, size_t count,
                        icestream_error *error);
/* Cuts the temporary file to its length before a write that failed, because the part that was
 * written may be what fills the disk. Keeps errno. */
void ics_collector_undo_writing(ics_collector *collector, off_t end);
/* Writes the hits that are the next rows of the hit file, if there are many. ICESTREAM_E_OUTPUT,
 * ICESTREAM_E_MEMORY: the hits that were not written stay in memory. */
int ics_collector_write_ready(ics_collector *collector, icestream_error *error);

#endif
