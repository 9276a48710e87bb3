/* The parts of the page, and what they share. */
#ifndef ICS_TOOLS_REPORT_PAGE_PARTS_H
#define ICS_TOOLS_REPORT_PAGE_PARTS_H

#include "pipeline/tools/report/facts.h"
#include "pipeline/tools/report/picture.h"

typedef struct ics_page {
    FILE *out;
    ics_facts *facts;
    int pictures;      /* so far */
    bool has_pictures; /* false after gnuplot failed: tables are open */
} ics_page;

/* Draws the picture of a script and writes it as a figure; ends the script. `caption`: HTML of the
 * program, without texts of files. A picture that cannot be drawn is left out, and the first one
 * becomes a note. ICESTREAM_E_MEMORY. */
int ics_page_figure(ics_page *page, ics_picture *picture, const char *caption,
                    icestream_error *error);

/* A time axis that begins with the runs: its unit and how many seconds the unit has. */
const char *ics_page_time_unit(double seconds, double *unit);
/* An axis of numbers from 0 to `most`: the end of its title, such as " (million)", and the unit. */
const char *ics_page_count_unit(double most, double *unit);

/* Writes sections of the page. ICESTREAM_E_MEMORY. */
int ics_page_run(ics_page *page, icestream_error *error);     /* history, devices, queues */
int ics_page_files(ics_page *page, icestream_error *error);   /* files and their latencies */
int ics_page_hits(ics_page *page, icestream_error *error);    /* times, scatters */
int ics_page_modules(ics_page *page, icestream_error *error); /* hits per module */
int ics_page_ice(ics_page *page, icestream_error *error);     /* layers, and the light made */
void ics_page_account(const ics_page *page);                  /* how photons ended */
void ics_page_troubles(ics_page *page);                       /* warnings, quarantine, faults */
void ics_page_provenance(ics_page *page);                     /* versions, digests, settings */

#endif
