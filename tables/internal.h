/* Shared by the files that build tables. */
#ifndef ICS_TABLES_INTERNAL_H
#define ICS_TABLES_INTERNAL_H

#include "tables/tables.h"

/* Tables under construction. Each array is one allocation until all sizes are known; then all
 * arrays move into one block, which is copied to a GPU. */
typedef struct ics_table_builder {
    ice_tables *tables;
    struct {
        void *pointer; /* the member of ice_tables that points at the array */
        void *data;
        size_t bytes;
        bool is_shared; /* the array belongs to an ics_detector_part */
    } arrays[ICS_TABLE_ARRAYS_MAX];
    size_t array_count;
    icestream_error *error; /* the reason of a failure, may be NULL */
} ics_table_builder;

/* Makes a zeroed array of `count` items, which belongs to the builder. `member` is the address of a
 * member of ice_tables (a pointer to const items) and `array` that of a pointer to items: the
 * function sets both to the array, and ics_tables_pack() sets the member again. Returns
 * ICESTREAM_OK or ICESTREAM_E_MEMORY. */
int ics_tables_array(ics_table_builder *builder, void *member, size_t count, size_t size,
                     void *array);
/* Moves all arrays into one block, which `out` owns. Returns ICESTREAM_OK or ICESTREAM_E_MEMORY. */
int ics_tables_pack(ics_table_builder *builder, ics_tables *out);

/* Moves the arrays of another builder of the same tables to the end of the list of this one. */
void ics_tables_move_arrays(ics_table_builder *builder, ics_table_builder *from);
/* Frees all arrays that are not shared. */
void ics_tables_free_arrays(ics_table_builder *builder);
/* Begins tables, which have no content yet, with those of a detector's part. */
void ics_tables_copy_part(ice_tables *tables, const ics_detector_part *part);
/* Gives the builder the arrays of the part with which its tables began. The part must stay until
 * the tables are packed. */
void ics_tables_share_arrays(ics_table_builder *builder, const ics_detector_part *part);

/* Returns the constants of the scattering functions for a mean cosine g, a share f of the
 * simplified Liu function and a share r of molecular scattering. The parameters that the scatter
 * variant declares are those of the medium. */
ice_scatter_constants ics_tables_scatter_constants(const ice_medium *medium, double g, double f,
                                                   double r);
/* Returns `value` in two parts: the nearest float, and the rest as a float. */
ice_sum ics_tables_split_sum(double value);
/* Returns how far (m) a photon's height in the layers can change, up or down, within
 * ICE_CLEAR_RANGE of a point for which ice_is_clear_range_known() is true. Tilt makes this larger
 * than ICE_CLEAR_RANGE. */
double ics_tables_clear_range(const ice_medium *medium);
/* Returns the smallest factor, over all directions, by which anisotropy multiplies the absorption
 * of a layer; 1 without anisotropy of the absorption. */
double ics_tables_least_absorption(const ice_medium *medium);

/* Build the tables of the layers, of light, of all features, and of the detector. The detector
 * comes before the features. Return ICESTREAM_OK, ICESTREAM_E_MEMORY or
 * ICESTREAM_E_CONFIG. */
int ics_tables_build_ice(ics_table_builder *builder, const ice_medium *medium);
int ics_tables_build_light(ics_table_builder *builder, const ice_light *light);
int ics_tables_build_features(ics_table_builder *builder, const ice_medium *medium,
                              const ice_detector *detector);
int ics_tables_build_detector(ics_table_builder *builder, const ice_detector *detector);

/* Builds the tables of types, orientations and cables, and sets the features of the detector. The
 * tables of modules and strings must be filled, and strings become wider if they have cables.
 * Without types and cables the function does nothing. Returns ICESTREAM_OK, ICESTREAM_E_MEMORY or
 * ICESTREAM_E_CONFIG. */
int ics_tables_build_shapes(ics_table_builder *builder, const ice_detector *detector,
                            ice_string *strings);
/* Builds the trees of the types that are meshes, and writes into bodies[type] where each begins.
 * The function above calls it. Returns ICESTREAM_OK, ICESTREAM_E_MEMORY or ICESTREAM_E_CONFIG. */
int ics_tables_build_meshes(ics_table_builder *builder, const ice_detector *detector,
                            ice_body *bodies);

/* Two functions for each feature NAME in ICE_FEATURES (stages/tables.h), defined in
 * tables/NAME.c. ics_tables_find_NAME() returns those of the feature's bits that a medium
 * has, 0 if the medium is without the feature. ics_tables_build_NAME() builds the tables of a
 * medium that has the feature; it may add bits to ice_tables.features. It returns ICESTREAM_OK,
 * ICESTREAM_E_MEMORY or ICESTREAM_E_CONFIG. */
#define ICS_TABLES_FEATURE(name, bits)                                                             \
    uint32_t ics_tables_find_##name(const ice_medium *medium);                                     \
    int ics_tables_build_##name(ics_table_builder *builder, const ice_medium *medium,              \
                                const ice_detector *detector);
ICE_FEATURES(ICS_TABLES_FEATURE)
#undef ICS_TABLES_FEATURE

#endif
