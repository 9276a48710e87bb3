/* The files of the live page, which the metrics listener serves: live_page/ as text. */
#ifndef ICS_TELEMETRY_LIVE_PAGE_H
#define ICS_TELEMETRY_LIVE_PAGE_H

#include "kernels/embedded.h"

extern const ics_embedded_source ics_live_page_files[];
extern const size_t ics_live_page_file_count;

/* The file of the page that the path of a request names, and its media type. NULL: there is none.
 */
const char *ics_live_page_find(const char *path, const char **type);

#endif
