/* Compares a benchmark with an earlier one of the same work on the same machine. */
#ifndef ICS_COMMANDS_BENCH_AGAINST_H
#define ICS_COMMANDS_BENCH_AGAINST_H

#include "pipeline/icestream.h"

#include <jansson.h>
#include <stdio.h>

/* The benchmarks that can be compared have at least this many repeats: the noise is taken from
 * them. */
enum { ICS_AGAINST_REPEATS = 3 };

/* Returns {"processor": its name, "processors": how many this process may use}, which the JSON of a
 * benchmark has as "machine"; NULL: no memory. */
json_t *ics_against_machine(void);

/* Reads what `icestream bench --json` has written; the caller releases *out. ICESTREAM_E_INPUT. */
int ics_against_read(const char *path, json_t **out, icestream_error *error);

/* Judges the rows that both reports have. The time of a row is that of its kernels on a GPU, and
 * that of the run on a CPU. Its noise is how far the median of the repeats is above the best one; a
 * row is slower or faster if its best time differs by more than the noises of both, added in
 * quadrature, and by more than 0.5 %. Stores an array of {"name", "threads", "code", "before",
 * "now": s, "change", "noise", "verdict": "faster", "slower" or "same"} in *out, which the caller
 * releases. ICESTREAM_E_INPUT: other work, another machine, too few repeats or no common row;
 * ICESTREAM_E_MEMORY. */
int ics_against_judge(const char *path, const json_t *before, const json_t *now, json_t **out,
                      icestream_error *error);

/* Writes the verdicts as a table. ICESTREAM_E_MEMORY. */
int ics_against_print(const char *path, const json_t *verdicts, bool markdown, FILE *out,
                      icestream_error *error);

/* Returns ICESTREAM_E_DIFFERENT and names the rows that are slower; ICESTREAM_OK: none is. */
int ics_against_result(const char *path, const json_t *verdicts, icestream_error *error);

#endif
