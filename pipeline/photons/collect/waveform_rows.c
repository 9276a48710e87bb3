#include "pipeline/photons/collect/waveform_rows.h"

#include "base/error.h"

#include <string.h>

/* An ics_bin_receiver. */
static int append_row(void *user, const icestream_waveform_bin *row, icestream_error *error)
{
    return ics_table_writer_append(user, row, 1, error);
}

/* An ics_hits_receiver. The rows of the collector are sums. */
static int add_sums(void *user, const icestream_hit *hits, size_t count, icestream_error *error)
{
    for (size_t i = 0; i < count; ++i) {
        ics_bin_sum sum;
        memcpy(&sum, &hits[i], sizeof sum);
        ICS_TRY(ics_hit_bins_rows_add(user, &sum, 1, error));
    }
    return ICESTREAM_OK;
}

int ics_waveform_rows_write(ics_collector *collector, const ics_bin_rule *rule,
                            ics_table_writer *writer, const atomic_bool *cancel,
                            ics_bin_totals *out, icestream_error *error)
{
    ICS_DESTROYS(ics_hit_bins_rows_destroy) ics_bin_rows *rows = NULL;
    ICS_TRY(ics_hit_bins_rows_create(rule, append_row, writer, &rows, error));
    ICS_TRY(ics_collector_merge(collector, add_sums, rows, cancel, error));
    return ics_hit_bins_rows_end(rows, out, error);
}
