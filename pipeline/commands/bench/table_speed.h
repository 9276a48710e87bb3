/* `icestream bench` of a configuration that makes a table instead of hits. */
#ifndef ICS_COMMANDS_BENCH_TABLE_SPEED_H
#define ICS_COMMANDS_BENCH_TABLE_SPEED_H

#include "pipeline/commands/bench/measure.h"

/* Measures how fast the table of stages.tabulate is filled and prints it. All schedules fill a
 * table in the same way, so there is one row. ICESTREAM_E_USAGE: an option that is about hits or
 * schedules. Other errors as in ics_tabulate_measure, and ICESTREAM_E_OUTPUT. */
int ics_bench_table(const ics_bench *bench, FILE *out, icestream_error *error);

#endif
