/* The list of schedules that a tool runs. */
#ifndef ICS_COMMANDS_MEASURE_SCHEDULES_H
#define ICS_COMMANDS_MEASURE_SCHEDULES_H

#include "graphs/graph.h"
#include "pipeline/icestream.h"

typedef struct ics_schedule_list {
    ics_schedule items[ICS_SCHEDULE_COUNT]; /* [count], each at most once */
    size_t count;
} ics_schedule_list;

/* Returns all schedules of a device, in the order of ics_schedule. The list of a GPU ends with
 * auto. On the CPU auto is another name of wavefront and is not in the list. */
ics_schedule_list ics_schedules_of_device(bool gpu);

/* Reads a list such as "wavefront,monolithic". ICESTREAM_E_USAGE: a name is unknown or given twice,
 * or the device does not have the schedule. */
int ics_schedules_parse(const char *text, bool gpu, ics_schedule_list *out, icestream_error *error);

#endif
