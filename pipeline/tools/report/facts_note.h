/* What a report lacks, in words. */
#ifndef ICS_TOOLS_REPORT_FACTS_NOTE_H
#define ICS_TOOLS_REPORT_FACTS_NOTE_H

#include "pipeline/tools/report/facts.h"

/* Adds a text to facts->notes. */
void ics_facts_note(ics_facts *facts, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
