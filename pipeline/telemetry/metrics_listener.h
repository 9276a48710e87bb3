/* Serves metrics to Prometheus: GET /metrics by HTTP, on this machine only.
 *
 * A thread of its own answers from the last snapshot that was published; nothing that a client does
 * reaches the run. At most 8 clients at a time, each 10 seconds long without a word.
 */
#ifndef IS_METRICS_LISTENER_H
#define IS_METRICS_LISTENER_H

#include "pipeline/telemetry/metrics.h"

typedef struct is_metrics_listener is_metrics_listener;

/* Listens on HOST:PORT, where HOST is 127.0.0.1, localhost (the same) or [::1]; port 0: any that is
 * free. IS_E_CONFIG: no such address, or one that other machines reach; IS_E_FAILED: it cannot
 * listen there (the port is in use); IS_E_MEMORY. */
int is_metrics_listener_create(const char *address, is_metrics_listener **out, is_error *error);
/* Ends the thread; waits for an answer under way. Accepts NULL. */
void is_metrics_listener_destroy(is_metrics_listener *listener);

/* What is answered from now on; before the first snapshot it is 503. Any thread. */
void is_metrics_listener_publish(is_metrics_listener *listener, const is_metrics *metrics);
/* The port that it listens on. */
uint16_t is_metrics_listener_port(const is_metrics_listener *listener);

/* Whether an address could be listened on; for checks of a configuration. IS_E_CONFIG. */
int is_metrics_address_check(const char *address, is_error *error);

#endif
