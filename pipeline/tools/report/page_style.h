/* The style sheet of the page: page/report.css as text. */
#ifndef ICS_TOOLS_REPORT_PAGE_STYLE_H
#define ICS_TOOLS_REPORT_PAGE_STYLE_H

#include "kernels/embedded.h"

extern const ics_embedded_source ics_page_styles[];
extern const size_t ics_page_style_count;

#endif
