/* The sinks of a run: where the hits of a unit go. A sink is one constant in one file, and other
 * files ask its answers and call its functions; they never ask which sink it is.
 *
 *   file_sink     one hit file for each unit, with its metadata, or the file of its waveforms
 *   stream_sink   messages on standard output, one for each unit and in the order of the units
 *
 * Before they are written, the hits of a unit are in its collector (pipeline/photons/collect).
 * Sessions, tables and measurements keep theirs in memory (pipeline/photons/engine/memory_sink.h).
 */
#ifndef ICS_PRODUCTION_UNITS_SINKS_H
#define ICS_PRODUCTION_UNITS_SINKS_H

#include "base/icestream_error.h"

#include <stdbool.h>

struct ics_unit;

typedef struct ics_sink {
    /* Whether each unit gets a file with a name. Then units may be written in any order and again,
     * and later runs find the hits. Otherwise units are written once, in their order. */
    bool files;
    /* On the writer's thread, which may wait for the disk or for a reader of the stream: writes all
     * hits of the collector, unless the claim is lost (work->lost) or other workers have written
     * them (work->matches). ICESTREAM_E_INPUT: the name of the output belongs to other hits;
     * ICESTREAM_E_OUTPUT, whose cause says whether it may pass; ICESTREAM_E_INTERRUPTED,
     * ICESTREAM_E_MEMORY. */
    int (*write)(struct ics_unit *unit, icestream_error *error);
} ics_sink;

extern const ics_sink ics_sink_files, ics_sink_stream;

#endif
