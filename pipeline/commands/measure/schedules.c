#include "pipeline/commands/measure/schedules.h"

#include "base/error.h"

#include <string.h>

ics_schedule_list ics_schedules_of_device(bool gpu)
{
    ics_schedule_list list = {.count = 0};
    for (int i = ICS_SCHEDULE_AUTO + 1; i < ICS_SCHEDULE_COUNT; ++i) {
        if (gpu || ics_graph_schedule_on_cpu((ics_schedule)i)) {
            list.items[list.count++] = (ics_schedule)i;
        }
    }
    if (gpu) {
        list.items[list.count++] = ICS_SCHEDULE_AUTO;
    }
    return list;
}

static int add_name(const char *name, size_t length, bool gpu, ics_schedule_list *list,
                    icestream_error *error)
{
    char copy[32] = "";
    ics_schedule schedule;
    if (length < sizeof copy) {
        memcpy(copy, name, length);
    }
    if (!ics_graph_schedule_find(copy, &schedule) ||
        !(gpu || ics_graph_schedule_on_cpu(schedule))) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "--schedules: found '%.*s', expected schedules of the %s, separated "
                             "by commas (wavefront,monolithic)",
                             (int)(length < 200 ? length : 200), name, gpu ? "GPU" : "CPU");
    }
    for (size_t i = 0; i < list->count; ++i) {
        if (list->items[i] == schedule) {
            return ics_error_set(error, ICESTREAM_E_USAGE, "--schedules: '%s' is given twice",
                                 copy);
        }
    }
    list->items[list->count++] = schedule;
    return ICESTREAM_OK;
}

int ics_schedules_parse(const char *text, bool gpu, ics_schedule_list *out, icestream_error *error)
{
    *out = (ics_schedule_list){.count = 0};
    for (const char *start = text;;) {
        size_t length = strcspn(start, ",");
        int status = add_name(start, length, gpu, out, error);
        if (status != ICESTREAM_OK || start[length] == '\0') {
            return status;
        }
        start += length + 1;
    }
}
