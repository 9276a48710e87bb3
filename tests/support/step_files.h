/* For tests of step files: good steps, files of them, and the errors of bad files. */
#ifndef STEP_FILES_H
#define STEP_FILES_H

#include "pipeline/photons/files/step_reader.h"

enum { STEP_FILE_HEADER = 1024, STEP_FILE_SPECTRA = 7 /* of the run that reads them */ };

/* A step that passes all checks: 200 photons, y = step % 100. */
icestream_step step_file_good(uint64_t event, uint32_t step);
/* Writes a file of these steps, which may replace another one. Fails the test on errors. */
void step_file_write(const char *path, const icestream_step *steps, size_t count);
/* Opens and checks a file. Returns the status, with the summary or the error. */
int step_file_check(const char *path, ics_step_summary *summary, icestream_error *error);
/* Fails the test unless the file is refused as bad input with its name and this text. */
void step_file_refuse(const char *path, const char *expected);

#endif
