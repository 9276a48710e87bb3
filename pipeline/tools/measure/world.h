/* The world of a configuration: its models and the tables that are made of them. */
#ifndef ICS_TOOLS_MEASURE_WORLD_H
#define ICS_TOOLS_MEASURE_WORLD_H

#include "pipeline/devices/batch.h"
#include "pipeline/models/models.h"
#include "tables/tables.h"

typedef struct ics_world {
    ics_models *models;
    ics_tables *tables;
} ics_world;

/* Builds models and tables. The caller frees *out with ics_world_destroy; after an error *out is
 * empty. ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. */
int ics_world_create(const icestream_config *config, ics_world *out, icestream_error *error);

/* Builds only the tables, from models that the caller has. The caller destroys *out.
 * ICESTREAM_E_CONFIG. */
int ics_world_create_tables(const icestream_config *config, const ics_models *models,
                            ics_tables **out, icestream_error *error);

/* Returns what a device needs to make hits of arrivals. The world must outlive the result. */
ics_hit_models ics_world_hit_models(const ics_world *world);

/* Accepts a world of zeros. */
void ics_world_destroy(ics_world *world);

#endif
