#include "pipeline/photons/engine/step_feed.h"

#include "pipeline/icestream.h"

#include <stdlib.h>

int ics_step_feed_begin(ics_step_feed *feed)
{
    feed->rows = malloc(ICS_STEP_FEED_ROWS * sizeof *feed->rows);
    ics_step_watch_begin(&feed->watch);
    return feed->rows != NULL ? ICESTREAM_OK : ICESTREAM_E_MEMORY;
}

void ics_step_feed_end(ics_step_feed *feed)
{
    free(feed->rows);
    feed->rows = NULL;
    feed->cursor = (ics_step_cursor){0};
}

static int fill(ics_step_feed *feed, const ics_step_source *source, float least_beta,
                ics_batch *batch, icestream_error *error)
{
    bool full = false;
    for (;;) {
        if (source->pass_over != NULL) {
            source->pass_over(source->user, &feed->cursor);
        }
        ICS_TRY(ics_batch_fill(batch, &feed->cursor, &full, error));
        if (full) {
            return ICESTREAM_OK;
        }
        size_t got = 0;
        ICS_TRY(source->read(source->user, feed->rows, ICS_STEP_FEED_ROWS, &got, error));
        feed->cursor =
            (ics_step_cursor){.steps = feed->rows, .count = got, .position = feed->cursor.position};
        ics_step_watch_look(&feed->watch, least_beta, feed->rows, got);
        if (got == 0) {
            feed->at_end = true;
            return ICESTREAM_OK;
        }
    }
}

int ics_step_feed_fill(ics_step_feed *feed, const ics_step_source *source,
                       const ics_batch_limits *limits, uint64_t photons, float least_beta,
                       ics_batch **batch, icestream_error *error)
{
    int status = ICESTREAM_OK;
    if (*batch == NULL) {
        status = ics_batch_create(limits, photons, batch, error);
    } else {
        ics_batch_reset(*batch, limits, photons);
    }
    if (status == ICESTREAM_OK) {
        status = fill(feed, source, least_beta, *batch, error);
    }
    if (status != ICESTREAM_OK || (*batch)->count == 0) {
        ics_batch_destroy(*batch);
        *batch = NULL;
    }
    return status;
}
