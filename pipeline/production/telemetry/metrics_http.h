/* Requests and answers of the metrics listener, with libmicrohttpd. On the library's thread. */
#ifndef ICS_PRODUCTION_TELEMETRY_METRICS_HTTP_H
#define ICS_PRODUCTION_TELEMETRY_METRICS_HTTP_H

#include "pipeline/photons/files/access_token.h"

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

/* Answers with a text that stays valid for ever. */
enum MHD_Result ics_metrics_http_answer(struct MHD_Connection *connection, unsigned status,
                                        const char *type, const char *text);
/* Answers with "200 OK" and text[size], which is freed afterwards. */
enum MHD_Result ics_metrics_http_answer_made(struct MHD_Connection *connection, const char *type,
                                             char *text, size_t size);
/* Answers with a line for people. MHD_HTTP_UNAUTHORIZED asks browsers for a password. */
enum MHD_Result ics_metrics_http_answer_line(struct MHD_Connection *connection, unsigned status,
                                             const char *text);

/* Whether the request names this machine by localhost or by an address. A page in a browser can
 * reach this port under another name, if the owner of that name lets it point here; it must not
 * read the metrics. */
bool ics_metrics_http_is_host_ours(struct MHD_Connection *connection);

/* Whether the request carries the token: as `Authorization: Bearer TOKEN`, or as the password of
 * HTTP's basic authentication, which browsers ask for; the name of the user does not matter. So the
 * token is in no address, where logs and histories would keep it. */
bool ics_metrics_http_has_token(struct MHD_Connection *connection, const ics_access_token *token);

#endif
