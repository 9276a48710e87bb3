/* The models with which the hits of a folder were made. */
#ifndef ICS_TOOLS_REPORT_FACTS_MODELS_H
#define ICS_TOOLS_REPORT_FACTS_MODELS_H

#include "pipeline/tools/report/facts.h"

/* Loads the configuration that the journal names, or the settings that the hit files record, and
 * keeps the models only if their digests are those of the hits. What does not succeed becomes a
 * note. ICESTREAM_E_MEMORY. */
int ics_facts_load_models(ics_facts *facts, icestream_error *error);

#endif
