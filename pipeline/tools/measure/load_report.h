/* The load of the multiprocessors of a GPU, and the times of waves and the photons that waited in
 * them, as tables and as JSON. */
#ifndef ICS_TOOLS_MEASURE_LOAD_REPORT_H
#define ICS_TOOLS_MEASURE_LOAD_REPORT_H

#include "pipeline/tools/measure/rows.h"

/* Prints the loads of the rows that have one: how busy the multiprocessors are in all, and in each
 * part of a launch; and the times of the waves of those that have them, with the photons that
 * waited. Prints nothing if there is
 * none. ICESTREAM_E_MEMORY. */
int ics_load_print(const ics_row *const *rows, size_t count, bool markdown, FILE *out,
                   icestream_error *error);

/* Returns a load as a JSON object, or NULL if there is no memory. The caller releases it. */
json_t *ics_load_json(const ics_load *load);

/* Returns the times of waves, with the photons that waited, as a JSON object, or NULL if there is
 * no memory. The caller releases it. times->waves > 0. */
json_t *ics_load_waves_json(const ics_wave_times *times);

#endif
