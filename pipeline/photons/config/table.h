/* The axes of a table (table.axes). */
#ifndef ICS_PHOTONS_CONFIG_TABLE_H
#define ICS_PHOTONS_CONFIG_TABLE_H

#include "pipeline/photons/config/config.h"

enum { ICS_CONFIG_AXES = 5 };
/* Bins of a table with their under- and overflow. */
#define ICS_CONFIG_TABLE_CELLS 3221225472.0

/* Returns the choice of stages.tabulate. */
ics_tabulate ics_config_tabulate(const icestream_config *config);

/* Returns the number, from 0, of a coordinate of a built-in geometry; -1: it has none with this
 * name. */
int ics_config_table_coordinate(ics_tabulate geometry, const char *name);

/* Whether the table has an axis: of table.axes, or without table.axes of clsim's axes. For
 * stages.tabulate other than NONE. */
bool ics_config_table_has_axis(const icestream_config *config, const char *name);

/* Whether the table has an axis at which a photon can end (table.outside): a distance or the delay.
 * With a header of the user there is none, because the header itself ends photons. For
 * stages.tabulate other than NONE. */
bool ics_config_table_ends(const icestream_config *config);

/* Returns the path of the k-th key on which a table depends only through its keys `table`, such as
 * "table.step"; NULL: there are no more. */
const char *ics_config_table_key(size_t k);

/* Checks that the axes fit to stages.tabulate, and that no key of a table is without effect. Adds
 * errors. ICESTREAM_E_CONFIG. */
int ics_config_table_check(const icestream_config *config, icestream_error *error);

/* Gives keys that mean nothing to a table the value with which its light is made: a table knows no
 * modules, so detector.oversize is 1. */
void ics_config_table_complete(icestream_config *config);
/* Writes that detector.oversize was given and has no effect. Returns buffer; NULL: it was not. */
const char *ics_config_table_unused(const icestream_config *config, char *buffer, size_t size);

/* Refuses a configuration with stages.tabulate for a command that records hits.
 * ICESTREAM_E_CONFIG. */
int ics_config_table_refuse(const icestream_config *config, const char *command,
                            icestream_error *error);

#endif
