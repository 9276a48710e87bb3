/* What photons travel in: the models of a configuration, and the tables made of them. */
#ifndef ICS_TOOLS_MEASURE_WORLD_H
#define ICS_TOOLS_MEASURE_WORLD_H

#include "pipeline/models/models.h"
#include "tables/tables.h"

typedef struct ics_world {
    ics_models *models;
    ics_tables *tables;
} ics_world;

/* ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY; *out is empty then. */
int ics_world_create(const icestream_config *config, ics_world *out, icestream_error *error);
/* Fine with a zero-initialised world. */
void ics_world_destroy(ics_world *world);

#endif
