/* The stages as strict C11: compiled by headers_are_device_clean.sh. */
#include "tests/stages/every_stage.h"

void every_stage_function(const ice_variants *variants, const ice_tables *tables,
                          const ice_emission *emission, ice_arrival *arrival, uint32_t *fates,
                          ice_account *account);

void every_stage_function(const ice_variants *variants, const ice_tables *tables,
                          const ice_emission *emission, ice_arrival *arrival, uint32_t *fates,
                          ice_account *account)
{
    every_stage(variants, tables, emission, arrival, fates, account);
}
