/* How a queue is doing, for `icestream status`. */
#ifndef ICS_PRODUCTION_QUEUE_STATUS_H
#define ICS_PRODUCTION_QUEUE_STATUS_H

#include "pipeline/production/queue/address.h"

struct json_t;

/* Asks the broker. *out, which the caller owns, is {"queue": address, "waiting", "in_work", "done",
 * "dead": numbers of tickets, "oldest_s": age of the oldest ticket that is not done (s; null: there
 * is none), "rate_per_s": tickets that were done in the last minute, or since the first of the last
 * 1000, per second, "workers": [{"worker", "host", "pid", "state": "alive", "lost" (also a
 * process that has ended on this machine) or "ended",
 * "heartbeat_s": age of the last heartbeat (s; null if it ended), "in_work"}], "failures": the last
 * ten dead letters, the newest first, [{"name", "worker", "attempts", "reason"}]}. Errors as
 * ics_queue_link_call; ICESTREAM_E_FAILED: the broker's answer is no JSON. */
int ics_queue_status(const ics_queue_login *login, struct json_t **out, icestream_error *error);

#endif
