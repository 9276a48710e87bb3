/* What a checkpoint says about itself, for `icestream status` and `icestream info`. The file is
 * only read, without its lock, also while a run writes it. */
#ifndef ICS_PRODUCTION_CHECKPOINT_ABOUT_H
#define ICS_PRODUCTION_CHECKPOINT_ABOUT_H

#include "pipeline/icestream.h"

#include <jansson.h>

/* Whether the file begins like a checkpoint; false if it cannot be read. */
bool ics_checkpoint_about_is(const char *path);

/* Describes a checkpoint: {"path", "photons", "hits": of all whole records, whose sums are not
 * checked, "photons_total": of the step file, "share", "file": the step file, "worker", "host":
 * where it was begun, "time": of the last change, "origin": what the hits depend on}. null: not
 * known, because an earlier version wrote the file; photons_total and share also if the steps are
 * made by the run. ICESTREAM_E_INPUT: the file is no checkpoint, or cannot be read;
 * ICESTREAM_E_MEMORY. */
int ics_checkpoint_about(const char *path, json_t **out, icestream_error *error);

/* One line of such a description for people, without the path: "59.1 % of 2.3 million photons, 12
 * hits; begun by the worker farm-7 on node1". */
void ics_checkpoint_about_text(const json_t *about, char *text, size_t size);

#endif
