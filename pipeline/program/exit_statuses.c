#include "pipeline/program/exit_statuses.h"

#include "pipeline/icestream.h"

#include <stdio.h>

typedef struct status_row {
    int exit_status;
    const char *text;
} status_row;

static const status_row statuses[] = {
#define X(name, value, exit_status, text) {exit_status, text},
    ICESTREAM_STATUS_LIST(X)
#undef X
};

enum { STATUS_COUNT = sizeof statuses / sizeof *statuses };

void ics_exit_statuses_visit(void (*visit)(int exit_status, const char *text))
{
    for (size_t i = 0; i < STATUS_COUNT; ++i) {
        size_t first = 0;
        while (statuses[first].exit_status != statuses[i].exit_status) {
            ++first;
        }
        if (first < i) {
            continue; /* was visited with the first one */
        }
        char text[512];
        size_t length = (size_t)snprintf(text, sizeof text, "%s", statuses[i].text);
        for (size_t k = i + 1; k < STATUS_COUNT && length < sizeof text; ++k) {
            if (statuses[k].exit_status == statuses[i].exit_status) {
                length +=
                    (size_t)snprintf(text + length, sizeof text - length, "; %s", statuses[k].text);
            }
        }
        visit(statuses[i].exit_status, text);
    }
}
