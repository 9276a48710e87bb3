/* The world of a configuration: its models and the tables that are made of them. `icestream run`,
 * sessions and the commands all get it here. */
#ifndef ICS_PHOTONS_SESSION_WORLD_H
#define ICS_PHOTONS_SESSION_WORLD_H

#include "pipeline/photons/devices/device.h"
#include "pipeline/photons/models/models.h"
#include "tables/tables.h"

typedef struct ics_world {
    ics_models *models;
    ics_tables *tables;
    /* Of `icestream run`, which sums the hits of a batch if sink.hits is waveforms; not owned.
     * NULL: hits stay hits. */
    const icestream_config *sums;
} ics_world;

/* Loads the models, and adds to their warnings what is doubtful about the configuration and about
 * the light that a run makes itself. The caller destroys *out. ICESTREAM_E_CONFIG,
 * ICESTREAM_E_MEMORY. */
int ics_world_load_models(const icestream_config *config, ics_models **out, icestream_error *error);

/* Builds models and tables. The caller frees *out with ics_world_destroy; after an error *out is
 * empty. ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. */
int ics_world_create(const icestream_config *config, ics_world *out, icestream_error *error);

/* Builds only the tables, from models that the caller has. The caller destroys *out.
 * ICESTREAM_E_CONFIG. */
int ics_world_create_tables(const icestream_config *config, const ics_models *models,
                            ics_tables **out, icestream_error *error);

/* Returns what a device needs to make hits of arrivals. The world must outlive the result. */
ics_hit_models ics_world_hit_models(const ics_world *world);

/* Returns how many threads make steps of particles for this device. */
uint32_t ics_world_makers(const ics_device_facts *facts);

/* Accepts a world of zeros. */
void ics_world_destroy(ics_world *world);

#endif
