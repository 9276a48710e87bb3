/* Serves the numbers of a run by HTTP: GET /metrics for Prometheus, and for people a page at / that
 * reads /status.json every second.
 *
 * Another thread answers from the last published snapshot, so clients cannot disturb the run. At
 * most 64 connections are open at a time, and with more than 32 the oldest is shut. A client that
 * is silent for 10 s is disconnected.
 */
#ifndef ICS_PRODUCTION_TELEMETRY_METRICS_LISTENER_H
#define ICS_PRODUCTION_TELEMETRY_METRICS_LISTENER_H

#include "base/cleanup.h"
#include "pipeline/production/telemetry/live_history.h"
#include "pipeline/production/telemetry/metrics.h"

typedef struct ics_metrics_listener ics_metrics_listener;

typedef struct ics_metrics_listener_options {
    /* HOST:PORT, where HOST is 127.0.0.1, localhost (the same) or [::1], or with a token any
     * address; port 0: any free port. */
    const char *address;
    const char *token_file; /* clients must send the token in it; NULL: there is none */
    ics_live_about about;   /* its texts must outlive the listener */
} ics_metrics_listener_options;

/* Listens. ICESTREAM_E_CONFIG: not such an address, or a token file that cannot be used;
 * ICESTREAM_E_FAILED: it cannot listen there, for example because the port is in use.
 */
int ics_metrics_listener_create(const ics_metrics_listener_options *options,
                                ics_metrics_listener **out, icestream_error *error);
/* Ends the thread; waits until the present answer is complete. Accepts NULL. */
void ics_metrics_listener_destroy(ics_metrics_listener *listener);
ICS_CAN_DESTROY(ics_metrics_listener, ics_metrics_listener_destroy)

/* Sets the snapshot that is served from now on, and answers the pages that wait for it. Before the
 * first one the answer of /metrics is 503. One thread at a time. */
void ics_metrics_listener_publish(ics_metrics_listener *listener, const ics_metrics *metrics);
/* Publishes the last snapshot, and waits until the open pages have it: at most 2 s, and without
 * pages not at all. The same thread. */
void ics_metrics_listener_end(ics_metrics_listener *listener, const ics_metrics *metrics);
/* Writes the address of the page, such as http://127.0.0.1:9464/ . Returns `url`. */
enum { ICS_METRICS_URL = 320 };
const char *ics_metrics_listener_url(const ics_metrics_listener *listener,
                                     char url[ICS_METRICS_URL]);

/* Checks the address and the token file without listening, for `validate`. ICESTREAM_E_CONFIG.
 */
int ics_metrics_listener_check(const ics_metrics_listener_options *options, icestream_error *error);

#endif
