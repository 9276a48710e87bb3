/* From models in double precision to the tables that stages read. */
#ifndef ICS_TABLES_TABLES_H
#define ICS_TABLES_TABLES_H

#include "physics/model.h"
#include "stages/photon.h"
#include "stages/tables.h"

typedef struct ics_table_options {
    uint64_t seed;
    uint32_t bounce_limit; /* segments after which a photon is stopped, >= 1 */
    bool reach_cull;       /* drop photons that cannot reach any module any more */
} ics_table_options;

/* Arrays that all tables together have at most. */
enum { ICS_TABLE_ARRAYS_MAX = 32 };

/* The tables of one run and the memory behind them. */
typedef struct ics_tables {
    ice_tables device; /* what stage functions take */
    void *memory;      /* one block that all pointers of `device` point into */
    size_t bytes;
    size_t pointers[ICS_TABLE_ARRAYS_MAX]; /* where in `device` those pointers are, bytes */
    size_t pointer_count;
} ics_tables;

/* Builds all tables. Returns 0, or -1 with a sentence in `why`: out of memory, or a model that the
 * tables cannot represent (a layer without scattering or absorption at some wavelength of the
 * spectra, a module grid beyond its size). */
int ics_tables_create(const ice_medium *medium, const ice_detector *detector,
                      const ice_light *light, const ics_table_options *options, ics_tables **out,
                      char *why, size_t why_size);
/* Accepts NULL. */
void ics_tables_destroy(ics_tables *tables);

/* The tables as they are for a copy of `memory` that begins at `base`, on this machine or on a GPU.
 */
ice_tables ics_tables_at(const ics_tables *tables, const void *base);

/* Calls `visit` with all bytes of the tables, in blocks and in an order that are always the same.
 * Addresses are shown as zeros, so that equal tables show equal bytes. Every block consists of
 * 32-bit words (numbers) and of 64-bit ones (places of addresses). For digests. */
void ics_tables_visit(const ics_tables *tables,
                      void (*visit)(void *user, const void *bytes, size_t size), void *user);

/* Time from the emission's own time to the arrival, ns, in double precision: the flight of the
 * emitter to the photon's start (which is recomputed from the photon's random numbers) and the
 * flight of the photon at its group velocity. */
double ics_tables_arrival_delay(const ice_tables *tables, const ice_emission *emission,
                                const ice_arrival *arrival);

/* Draws a wavelength as the create stage does: u in [0,1), spectrum < light.count. nm. */
double ics_tables_wavelength(const ice_tables *tables, uint32_t spectrum, double u);

#endif
