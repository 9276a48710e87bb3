/* Keys of run files that need their own code; keys.def names them. Private to the
 * configuration. */
#ifndef ICS_PHOTONS_CONFIG_FIELDS_H
#define ICS_PHOTONS_CONFIG_FIELDS_H

#include "pipeline/photons/config/schema/schema.h"

struct icestream_config; /* pipeline/photons/config/config.h */

/* Spectra below ICS_CONFIG_FIRST_SPECTRUM are built in (physics.md 2.4); light.spectra has the
 * others. */
enum { ICS_CONFIG_FIRST_SPECTRUM = 7, ICS_CONFIG_SPECTRA_MAX = 256 - ICS_CONFIG_FIRST_SPECTRUM };

extern const ics_schema_list ics_config_excluded;   /* detector.excluded */
extern const ics_schema_list ics_config_spectra;    /* light.spectra */
extern const ics_schema_list ics_config_axes;       /* table.axes */
extern const ics_schema_list ics_config_command;    /* sink.command */
extern const ics_schema_list ics_config_histograms; /* sink.histograms */
extern const ics_schema_list ics_config_prefixes;   /* source.allow */

extern const ics_schema_node ics_config_types;     /* detector.types */
extern const ics_schema_node ics_config_om_tables; /* detector.om_tables */
extern const ics_schema_node ics_config_particles; /* particles.list */

/* The targets are struct icestream_config. */
extern const ics_schema_custom ics_config_index;     /* device.index */
extern const ics_schema_custom ics_config_angular;   /* detector.angular_polynomial */
extern const ics_schema_custom ics_config_direction; /* workload.direction */
extern const ics_schema_custom ics_config_join;      /* graph.join */
extern const ics_schema_custom ics_config_tune;      /* graph.tune */
extern const ics_schema_custom ics_config_when;      /* graph.compact.when */

/* Whether the settings of the kernels in graph.tune that have no size of a block fit the one that
 * they get from graph.block or by default. Returns false, and writes what was found and what was
 * expected, if not. */
bool ics_config_tune_fits(const struct icestream_config *config, char *reason, size_t size);

#endif
