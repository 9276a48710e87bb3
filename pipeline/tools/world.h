/* What photons travel in: the models of a configuration, and the tables made of them. */
#ifndef IS_WORLD_H
#define IS_WORLD_H

#include "kernels/tables.h"
#include "pipeline/models/models.h"

typedef struct is_world {
    is_models *models;
    is_tables *tables;
} is_world;

/* IS_E_CONFIG, IS_E_MEMORY; *out is empty then. */
int is_world_create(const is_config *config, is_world *out, is_error *error);
/* Fine with a zero-initialised world. */
void is_world_destroy(is_world *world);

#endif
