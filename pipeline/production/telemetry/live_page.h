/* The files of the live page, which the metrics listener serves: live_page/ as text. */
#ifndef ICS_PRODUCTION_TELEMETRY_LIVE_PAGE_H
#define ICS_PRODUCTION_TELEMETRY_LIVE_PAGE_H

#include "kernels/embedded.h"

extern const ics_embedded_source ics_live_page_files[];
extern const size_t ics_live_page_file_count;

#endif
