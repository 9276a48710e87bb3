/* Shared by the files that build tables. */
#ifndef ICS_TABLES_TABLES_INTERNAL_H
#define ICS_TABLES_TABLES_INTERNAL_H

#include "tables/tables.h"

/* Arrays under construction: each is an allocation of its own until all sizes are known, then all
 * move into one block (which is what a GPU uploads). */
typedef struct ics_table_builder {
    ice_tables *tables;
    struct {
        void *pointer; /* the member of ice_tables that keeps the array's address */
        void *data;
        size_t bytes;
    } arrays[ICS_TABLE_ARRAYS_MAX];
    size_t array_count;
    char *why; /* a sentence on failure */
    size_t why_size;
} ics_table_builder;

/* A zeroed array of count items. `pointer` is the address of the member of ice_tables (a pointer to
 * const items) that is to point at it, now and after packing. NULL: out of memory. */
void *ics_tables_array(ics_table_builder *builder, void *pointer, size_t count, size_t size);

/* Of scattering functions with mean cosine g, a share f of the simplified Liu function and a share
 * r of molecular scattering. */
ice_scatter_constants ics_tables_scatter_constants(double g, double f, double r);
ice_sum ics_tables_split_sum(double value);
/* Height among the layers that a photon may gain or lose within ICE_CLEAR_RANGE, m, from where
 * ice_is_clear_range_known() says so. */
double ics_tables_clear_range(const ice_medium *medium);
/* Absorption in any direction is at least so many times that of the layers' tables. */
double ics_tables_least_absorption(const ice_medium *medium);

/* The parts. Return 0, or -1 with `why` filled. */
int ics_tables_build_ice(ics_table_builder *builder, const ice_medium *medium);
int ics_tables_build_light(ics_table_builder *builder, const ice_light *light);
int ics_tables_build_features(ics_table_builder *builder, const ice_medium *medium,
                              const ice_detector *detector);
int ics_tables_build_tilt(ics_table_builder *builder, const ice_tilt *tilt);
int ics_tables_build_detector(ics_table_builder *builder, const ice_detector *detector);

#endif
