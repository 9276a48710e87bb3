#include "graphs/options.h"

#include <string.h>

static const char *const schedule_names[ICS_SCHEDULE_COUNT] = {[ICS_SCHEDULE_AUTO] = "auto",
#define X(constant, name, word) [ICS_SCHEDULE_##constant] = (name),
                                                               ICS_SCHEDULE_LIST(X)
#undef X
};

const char *ics_graph_schedule_name(ics_schedule schedule)
{
    return (unsigned)schedule < ICS_SCHEDULE_COUNT ? schedule_names[schedule] : "unknown";
}

bool ics_graph_schedule_find(const char *name, ics_schedule *out)
{
    for (int i = 0; i < ICS_SCHEDULE_COUNT; ++i) {
        if (strcmp(name, schedule_names[i]) == 0) {
            *out = (ics_schedule)i;
            return true;
        }
    }
    return false;
}
