/* Which schedules a tool runs. */
#ifndef ICS_TOOLS_MEASURE_SCHEDULES_H
#define ICS_TOOLS_MEASURE_SCHEDULES_H

#include "graphs/graph.h"
#include "pipeline/icestream.h"

typedef struct ics_schedule_list {
    ics_schedule items[ICS_SCHEDULE_COUNT]; /* [count], each at most once */
    size_t count;
} ics_schedule_list;

/* All schedules of a device, in the order of ics_schedule; a GPU's end with auto, which is a choice
 * to be measured there and another name of wavefront on the CPU. */
ics_schedule_list ics_schedules_of_device(bool gpu);

/* Reads "wavefront,monolithic". ICESTREAM_E_USAGE: an unknown name, one that the device does not
 * have, one that is there twice. */
int ics_schedules_parse(const char *text, bool gpu, ics_schedule_list *out, icestream_error *error);

#endif
