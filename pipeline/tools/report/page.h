/* The page of `icestream report`: one HTML file without anything from elsewhere. page.c writes its
 * frame, and each page_PART.c some of its sections. */
#ifndef ICS_TOOLS_REPORT_PAGE_H
#define ICS_TOOLS_REPORT_PAGE_H

#include "pipeline/tools/report/facts.h"
#include "pipeline/tools/report/html.h"
#include "pipeline/tools/report/page_parts.h"
#include "pipeline/tools/report/picture.h"

/* Writes the page. Check ferror(out) afterwards. Pictures that cannot be drawn become notes.
 * ICESTREAM_E_MEMORY. */
int ics_page_write(ics_facts *facts, FILE *out, icestream_error *error);

#endif
