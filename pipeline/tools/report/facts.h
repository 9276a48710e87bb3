/* What a report says, gathered from a sink's folder: journals, summary, hit files, quarantine, and
 * the models of the run's configuration. */
#ifndef ICS_TOOLS_REPORT_FACTS_H
#define ICS_TOOLS_REPORT_FACTS_H

#include "pipeline/models/models.h"
#include "pipeline/telemetry/journal_summary.h"
#include "pipeline/telemetry/sink_folder.h"
#include "pipeline/tools/report/history.h"
#include "pipeline/tools/report/hit_counts.h"

typedef struct ics_facts {
    const char *folder; /* not owned */
    double time;        /* when the facts were gathered (s since 1970) */
    ics_sink_folder here;
    ics_journal_summary *journal; /* of all journals; without events if there is none */
    ics_history *history;
    json_t *summary;    /* summary.json; NULL: there is none */
    json_t *quarantine; /* as ics_sink_folder_look_quarantine() */
    ics_hit_counts *hits;
    json_t *files;             /* [{"file", "rows", "bytes"}] of the hit files that were read */
    json_t *damaged;           /* [{"file", "reason"}] of those that cannot be used */
    json_t *metadata;          /* of the first hit file; NULL: there is none */
    icestream_account account; /* sum over the hit files; `created` 0: none has an account */
    icestream_config *config;  /* NULL: it cannot be loaded */
    ics_models *models;        /* those of the hits; NULL: `notes` say why */
    json_t *notes;             /* texts: what the report lacks, and why */
} ics_facts;

/* Gathers the facts. The caller frees *out with ics_facts_free, also after an error. Damaged hit
 * files and damaged lines of a journal are facts. ICESTREAM_E_INPUT: the folder does not exist,
 * has no results of a run, or a journal cannot be read; ICESTREAM_E_MEMORY. */
int ics_facts_gather(const char *folder, ics_facts *out, icestream_error *error);
void ics_facts_free(ics_facts *facts);

#endif
