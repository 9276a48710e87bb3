/* Keys of run files that need code of their own. Private to config_keys.c. */
#ifndef IS_CONFIG_FIELDS_H
#define IS_CONFIG_FIELDS_H

#include "pipeline/config/schema.h"

/* Spectra below this number are built in (physics.md 2.4); light.spectra begins here. */
enum { IS_CONFIG_FIRST_SPECTRUM = 7, IS_CONFIG_SPECTRA_MAX = 256 - IS_CONFIG_FIRST_SPECTRUM };

/* The targets are struct is_config. */
extern const is_schema_custom is_config_index;     /* device.index */
extern const is_schema_custom is_config_excluded;  /* detector.excluded */
extern const is_schema_custom is_config_angular;   /* detector.angular_polynomial */
extern const is_schema_custom is_config_spectra;   /* light.spectra */
extern const is_schema_custom is_config_direction; /* workload.direction */
extern const is_schema_custom is_config_command;   /* sink.command */
extern const is_schema_custom is_config_when;      /* graph.compact.when */
extern const is_schema_custom is_config_particles; /* particles.list, config_particles.c */

#endif
