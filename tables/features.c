/* The features of the ice as rows, one for each line of ICE_FEATURES (stages/tables.h). */
#include "base/error.h"
#include "tables/internal.h"

#include <math.h>

typedef struct feature_row {
    uint32_t (*find)(const ice_medium *medium);
    int (*build)(ics_table_builder *builder, const ice_medium *medium,
                 const ice_detector *detector);
} feature_row;

static const feature_row rows[] = {
#define ROW(name, bits) {ics_tables_find_##name, ics_tables_build_##name},
    ICE_FEATURES(ROW)
#undef ROW
};

enum { ROWS = sizeof rows / sizeof *rows };

uint32_t ics_tables_find_features(const ice_medium *medium)
{
    uint32_t found = 0;
    for (size_t i = 0; i < ROWS; ++i) {
        found |= rows[i].find(medium);
    }
    return found;
}

/* The reach bound needs an absorption above 0 in every direction. */
static int set_least_absorption(ics_table_builder *builder, const ice_medium *medium)
{
    const double least = ics_tables_least_absorption(medium);
    builder->tables->least_absorption = (float)least;
    if (isnormal((float)least) && least > 0.0) {
        return ICESTREAM_OK;
    }
    return ics_error_set(
        builder->error, ICESTREAM_E_CONFIG,
        "anisotropy: found a factor of absorption of %g, expected more than 0 in all directions",
        least);
}

int ics_tables_build_features(ics_table_builder *builder, const ice_medium *medium,
                              const ice_detector *detector)
{
    ice_tables *tables = builder->tables;
    tables->flow_x = (float)cos(medium->flow_azimuth);
    tables->flow_y = (float)sin(medium->flow_azimuth);
    for (size_t i = 0; i < ROWS; ++i) {
        const uint32_t found = rows[i].find(medium);
        tables->features |= found;
        if (found != 0) {
            ICS_TRY(rows[i].build(builder, medium, detector));
        }
    }
    return set_least_absorption(builder, medium);
}
