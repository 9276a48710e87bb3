/* Which schedules a tool runs. */
#ifndef IS_SCHEDULES_H
#define IS_SCHEDULES_H

#include "graphs/graph.h"
#include "pipeline/icestream.h"

typedef struct is_schedule_list {
    is_schedule items[IS_SCHEDULE_COUNT]; /* [count], each at most once */
    size_t count;
} is_schedule_list;

/* All schedules of a device, in the order of is_schedule; a GPU's end with auto, which is a choice
 * to be measured there and another name of wavefront on the CPU. */
is_schedule_list is_schedules_of_device(bool gpu);

/* Reads "wavefront,monolithic". IS_E_USAGE: an unknown name, one that the device does not have, one
 * that is there twice. */
int is_schedules_parse(const char *text, bool gpu, is_schedule_list *out, is_error *error);

#endif
