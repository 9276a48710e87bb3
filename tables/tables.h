/* From models in double precision to the tables that stages read. */
#ifndef ICS_TABLES_TABLES_H
#define ICS_TABLES_TABLES_H

#include "base/icestream_error.h"
#include "physics/model.h"
#include "stages/photon.h"
#include "stages/tables.h"

typedef struct ics_table_options {
    uint64_t seed;
    uint32_t bounce_limit; /* segments after which a photon is stopped, >= 1 */
    bool reach_cull;       /* drop photons that cannot reach any module any more */
} ics_table_options;

/* The largest number of arrays in the tables of a run. */
enum { ICS_TABLE_ARRAYS_MAX = 32 };

/* The tables of one run, and their memory. */
typedef struct ics_tables {
    ice_tables device; /* the tables as stage functions read them */
    void *memory;      /* one block that all pointers of `device` point into */
    size_t bytes;
    size_t pointers[ICS_TABLE_ARRAYS_MAX]; /* offsets in `device` of the pointers, bytes */
    size_t pointer_count;
} ics_tables;

/* What tables have of a detector, whatever the ice and the light are. Of a large detector this is
 * nearly all of the work, so tables of the same detector share it. */
typedef struct ics_detector_part ics_detector_part;

/* The errors of ics_tables_create() that a detector causes; *out is NULL then. The detector may be
 * destroyed before the part. */
int ics_tables_part_create(const ice_detector *detector, ics_detector_part **out,
                           icestream_error *error);
/* Accepts NULL. */
void ics_tables_part_destroy(ics_detector_part *part);

/* Builds all tables of a run; the caller owns *out. Returns ICESTREAM_OK, ICESTREAM_E_MEMORY, or
 * ICESTREAM_E_CONFIG: the tables cannot represent the model. That happens if ice or water does not
 * scatter or absorb, if the density of a spectrum is zero everywhere, if anisotropy leaves no
 * absorption in some direction, if the detector has no modules, or if a module has a type or an
 * orientation that does not exist. *out is NULL then. */
int ics_tables_create(const ice_medium *medium, const ice_detector *detector,
                      const ice_light *light, const ics_table_options *options, ics_tables **out,
                      icestream_error *error);
/* The same, of a part that was made of this detector. The part may be destroyed afterwards. NULL:
 * it is made here. */
int ics_tables_create_with(const ice_medium *medium, const ice_detector *detector,
                           const ics_detector_part *part, const ice_light *light,
                           const ics_table_options *options, ics_tables **out,
                           icestream_error *error);
/* Accepts NULL. */
void ics_tables_destroy(ics_tables *tables);

/* Returns the tables for a copy of `memory` that begins at `base`, on this machine or on a GPU. */
ice_tables ics_tables_at(const ics_tables *tables, const void *base);

/* Returns the radius (m) of the smallest sphere around the centre of a module that contains the
 * body of this type; of a mesh, the member `reach`. */
double ics_tables_type_reach(const ice_module_type *type);

/* Calls `visit` with all bytes of the tables, for digests. Blocks and their order are always the
 * same. Addresses are replaced by zeros, so that equal tables have equal bytes. A block consists of
 * 32-bit words (numbers) and of 64-bit words (offsets of addresses). */
void ics_tables_visit(const ics_tables *tables,
                      void (*visit)(void *user, const void *bytes, size_t size), void *user);

/* Returns the features that a medium has: bits ICE_HAS_..., without the two that describe only how
 * tables are laid out (ICE_HAS_EVEN_ANISOTROPY, ICE_HAS_MEAN_BIREFRINGENCE). */
uint32_t ics_tables_find_features(const ice_medium *medium);

/* Returns the time (ns) from the time of the step to the arrival, in double precision
 * (physics.md 9). It is the sum of two times: the emitter travels to the point where the photon
 * starts, which is computed again from the random numbers of the photon, and the photon travels at
 * its group velocity. */
double ics_tables_arrival_delay(const ice_tables *tables, const ice_emission *emission,
                                const ice_arrival *arrival);

#endif
