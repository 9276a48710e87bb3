/* For tests of claims: every test has an empty shared folder `place`.
 *
 * How to join: add open_place() and close_place() to the test case as fixture, add files with
 * claims_add(), make workers with claims_worker(), and claim with claims_take() and its relatives
 * (tests/support/claims_folder.h). */
#ifndef CLAIMS_PLACE_H
#define CLAIMS_PLACE_H

#include "tests/support/claims_folder.h"
#include "tests/support/test_main.h"

static claims_folder place;

static inline void open_place(void)
{
    claims_folder_open(&place);
}

static inline void close_place(void)
{
    claims_folder_close(&place);
}

#endif
