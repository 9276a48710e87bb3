/* Serves metrics to Prometheus by HTTP (GET /metrics), on this machine only.
 *
 * Another thread answers from the last published snapshot, so clients cannot disturb the run. At
 * most 8 clients are served at a time. A client that is silent for 10 s is disconnected.
 */
#ifndef ICS_TELEMETRY_METRICS_LISTENER_H
#define ICS_TELEMETRY_METRICS_LISTENER_H

#include "pipeline/telemetry/metrics.h"

typedef struct ics_metrics_listener ics_metrics_listener;

/* Listens on HOST:PORT, where HOST is 127.0.0.1, localhost (the same) or [::1]; port 0: any free
 * port. ICESTREAM_E_CONFIG: not such an address; ICESTREAM_E_FAILED: it cannot listen there, for
 * example because the port is in use; ICESTREAM_E_MEMORY. */
int ics_metrics_listener_create(const char *address, ics_metrics_listener **out,
                                icestream_error *error);
/* Ends the thread; waits until the present answer is complete. Accepts NULL. */
void ics_metrics_listener_destroy(ics_metrics_listener *listener);

/* Sets the snapshot that is served from now on. Before the first one the answer is 503. Any thread.
 */
void ics_metrics_listener_publish(ics_metrics_listener *listener, const ics_metrics *metrics);
/* The port on which the listener listens. */
uint16_t ics_metrics_listener_port(const ics_metrics_listener *listener);

/* Checks the text of an address, for `validate`. ICESTREAM_E_CONFIG. */
int ics_metrics_address_check(const char *address, icestream_error *error);

#endif
