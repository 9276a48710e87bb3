/* Earlier names of claims.h, until all callers have the new ones. */
#ifndef ICS_SPOOL_FOLDER_CLAIMS_H
#define ICS_SPOOL_FOLDER_CLAIMS_H

#include "pipeline/spool/claims.h"

#define ics_folder_claims_options ics_claims_options
#define ics_folder_claims_create  ics_claims_create

#endif
