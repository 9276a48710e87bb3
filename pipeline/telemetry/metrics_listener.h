/* Serves metrics to Prometheus: GET /metrics by HTTP, on this machine only.
 *
 * A thread of its own answers from the last snapshot that was published; nothing that a client does
 * reaches the run. At most 8 clients at a time, each 10 seconds long without a word.
 */
#ifndef ICS_TELEMETRY_METRICS_LISTENER_H
#define ICS_TELEMETRY_METRICS_LISTENER_H

#include "pipeline/telemetry/metrics.h"

typedef struct ics_metrics_listener ics_metrics_listener;

/* Listens on HOST:PORT, where HOST is 127.0.0.1, localhost (the same) or [::1]; port 0: any that is
 * free. ICESTREAM_E_CONFIG: no such address, or one that other machines reach; ICESTREAM_E_FAILED:
 * it cannot listen there (the port is in use); ICESTREAM_E_MEMORY. */
int ics_metrics_listener_create(const char *address, ics_metrics_listener **out,
                                icestream_error *error);
/* Ends the thread; waits for an answer under way. Accepts NULL. */
void ics_metrics_listener_destroy(ics_metrics_listener *listener);

/* What is answered from now on; before the first snapshot it is 503. Any thread. */
void ics_metrics_listener_publish(ics_metrics_listener *listener, const ics_metrics *metrics);
/* The port that it listens on. */
uint16_t ics_metrics_listener_port(const ics_metrics_listener *listener);

/* Whether an address could be listened on; for checks of a configuration. ICESTREAM_E_CONFIG. */
int ics_metrics_address_check(const char *address, icestream_error *error);

#endif
