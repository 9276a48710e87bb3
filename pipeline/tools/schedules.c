#include "pipeline/tools/schedules.h"

#include "pipeline/error.h"

#include <string.h>

is_schedule_list is_schedules_of_device(bool gpu)
{
    is_schedule_list list = {.count = 0};
    for (int i = IS_SCHEDULE_AUTO + 1; i < IS_SCHEDULE_COUNT; ++i)
        if (gpu || is_schedule_on_cpu((is_schedule)i))
            list.items[list.count++] = (is_schedule)i;
    if (gpu)
        list.items[list.count++] = IS_SCHEDULE_AUTO;
    return list;
}

static int add_name(const char *name, size_t length, bool gpu, is_schedule_list *list,
                    is_error *error)
{
    char copy[32] = "";
    is_schedule schedule;
    if (length < sizeof copy)
        memcpy(copy, name, length);
    if (!is_schedule_find(copy, &schedule) || !(gpu || is_schedule_on_cpu(schedule)))
        return is_error_set(error, IS_E_USAGE,
                            "--schedules: found '%.*s', expected schedules of the %s, separated "
                            "by commas (wavefront,monolithic)",
                            (int)(length < 200 ? length : 200), name, gpu ? "GPU" : "CPU");
    for (size_t i = 0; i < list->count; ++i)
        if (list->items[i] == schedule)
            return is_error_set(error, IS_E_USAGE, "--schedules: '%s' is there twice", copy);
    list->items[list->count++] = schedule;
    return IS_OK;
}

int is_schedules_parse(const char *text, bool gpu, is_schedule_list *out, is_error *error)
{
    *out = (is_schedule_list){.count = 0};
    for (const char *start = text;;) {
        size_t length = strcspn(start, ",");
        int status = add_name(start, length, gpu, out, error);
        if (status != IS_OK || start[length] == '\0')
            return status;
        start += length + 1;
    }
}
