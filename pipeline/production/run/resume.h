/* --resume keeps complete outputs of earlier runs. Before anything is computed, this file checks
 * with which maths they were computed. A reader checks later whether an output is complete and
 * belongs to its input (units/unit.h). */
#ifndef ICS_PRODUCTION_RUN_RESUME_H
#define ICS_PRODUCTION_RUN_RESUME_H

#include "pipeline/production/run/state.h"

/* Whether a run may compute with fast maths first and with portable maths later. */
bool ics_run_may_mix_maths(const icestream_config *config);
/* Compares the maths of each hit file that the run would keep with the maths of its device, which
 * must exist. If they differ: ICESTREAM_E_OUTPUT, and the error names all these files. If
 * device.fallback allows a run to mix maths, a warning counts them instead. ICESTREAM_E_MEMORY. */
int ics_run_check_maths(ics_run_state *run, icestream_error *error);

/* Looks for hit files of several step files in sink.directory, so that their hits are not computed
 * again: with --resume for all of them, without it and without --force for those that runs made
 * before version 0.3.0. ICESTREAM_E_MEMORY, ICESTREAM_E_OUTPUT. */
int ics_run_find_merged(ics_run_state *run, icestream_error *error);

/* Compares the settings of each named hit file that exists with those of the run; the particles or
 * the workload of which a run makes its steps are settings, too. Files that are
 * not sound do not count: they are made again. ICESTREAM_E_OUTPUT: hits of other settings; the
 * error has one line for each setting that differs. ICESTREAM_E_MEMORY. */
int ics_run_check_settings(const ics_run_state *run, icestream_error *error);

/* Compares the settings of the checkpoints of named step files with those of the run, with or
 * without --resume. ICESTREAM_E_OUTPUT: checkpoints of other settings, one line for each setting
 * that differs. ICESTREAM_E_MEMORY. */
int ics_run_check_checkpoints(ics_run_state *run, icestream_error *error);

#endif
