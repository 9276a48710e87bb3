/* For tests of whole runs: every test has an empty folder `place` with steps/ and hits/.
 *
 * How to join: add open_place() and close_place() to the test case as fixture, write step files
 * into the folder (tests/support/run_folder.h) and call run_cpu(). */
#ifndef RUN_PLACE_H
#define RUN_PLACE_H

#include "pipeline/icestream.h"
#include "tests/support/run_folder.h"
#include "tests/support/test_main.h"

#include <check.h>

static run_folder place;

static inline void open_place(void)
{
    place = run_folder_open();
}

static inline void close_place(void)
{
    run_folder_close(&place);
}

/* Runs all step files on the CPU with up to two more settings; NULL: none. */
static inline int run_cpu(const char *first, const char *second)
{
    return run_folder_run(
        &place, (const char *[]){"device.backend=cpu", first, first != NULL ? second : NULL, NULL});
}

/* run_cpu() that must succeed. */
static inline void run_well(const char *first, const char *second)
{
    ck_assert_msg(run_cpu(first, second) == ICESTREAM_OK, "%s", place.error.text);
}

#endif
