/* The stage tabulate of a wave and of one photon (stages/tabulate/tabulate.h). Samples of many
 * segments are gathered in a block. Strips of samples then go through all steps (strips.h). The
 * memory of their cells is asked for at once, and the samples are added to the table 32 samples
 * later, so that the processor computes while it waits for memory.
 */
#ifndef ICS_KERNELS_CPU_ISA_TABULATE_H
#define ICS_KERNELS_CPU_ISA_TABULATE_H

#include "kernels/cpu/isa/strips.h"

/* Adds units to a cell. Returns the new sum, which must be below 2^63. The callers pass a constant
 * for `alone`: an atomic addition waits for earlier loads and stores, and is needed only if other
 * threads add to the table. */
ICE_FN uint64_t ics_tabulate_sum(uint64_t *cell, uint64_t units, bool alone)
{
    return alone ? (*cell += units) : __atomic_add_fetch(cell, units, __ATOMIC_RELAXED);
}

/* Adds a sample to the table, and its bits to `sums`. */
ICE_FN void ics_tabulate_add_one(const ice_tabulation *table, ics_tabulate_how how,
                                 const ics_tabulate_block *block, uint32_t k, uint64_t *sums)
{
    const uint32_t cell = block->cell[k];
    *sums |= ics_tabulate_sum(&table->sums[cell], block->units[k], how.alone);
    if (how.squares) {
        *sums |= ics_tabulate_sum(&table->squares[cell], block->squares[k], how.alone);
    }
}

/* Adds the samples begin .. end - 1 of the block, at most a strip, to the table. A photon with an
 * end among its samples ends there, and later samples of it do not count. */
ICE_FN void ics_tabulate_add_with(ics_tabulate_job *job, ics_tabulate_how how,
                                  const ics_tabulate_block *block, uint32_t begin, uint32_t end,
                                  uint32_t *fates)
{
    const ice_tabulation table = *job->table;
    const uint32_t *original = block->ways.original;
    uint64_t samples = 0, sums = 0; /* `sums`: all bits of all new sums */
    /* Only the photon of the first sample can have ended in an earlier strip. */
    if (end - begin == ICS_TABULATE_STRIP && !block->strip_ends[begin / ICS_TABULATE_STRIP] &&
        fates[original[block->way[begin]]] == ICE_ALIVE) {
        ICS_FOR_STRIP(k)
        {
            ics_tabulate_add_one(&table, how, block, begin + k, &sums);
        }
        samples = ICS_TABULATE_STRIP;
    } else {
        for (uint32_t k = begin; k < end; ++k) {
            uint32_t *fate = &fates[original[block->way[k]]];
            if (*fate == ICE_ALIVE && block->ends[k]) {
                *fate = ICE_LEFT;
            }
            if (*fate == ICE_ALIVE) {
                ++samples;
                ics_tabulate_add_one(&table, how, block, k, &sums);
            }
        }
    }
    job->samples += samples;
    job->overflows |= sums >> 63 != 0;
}

/* Brings the samples of the block into the table. */
ICE_FN void ics_tabulate_flush_with(ics_tabulate_job *job, ics_tabulate_how how,
                                    const ice_tables *tables, uint32_t *fates,
                                    ics_tabulate_block *block)
{
    const uint32_t count = block->count;
    for (uint32_t begin = 0; begin < count + ICS_TABULATE_LAG; begin += ICS_TABULATE_STRIP) {
        if (begin < count) {
            ics_tabulate_find(job, how, tables, begin, block);
        }
        if (begin >= ICS_TABULATE_LAG) {
            const uint32_t from = begin - ICS_TABULATE_LAG, rest = count - from;
            ics_tabulate_add_with(
                job, how, block, from,
                from + (rest < ICS_TABULATE_STRIP ? rest : (uint32_t)ICS_TABULATE_STRIP), fates);
        }
    }
}

#define ICS_TABULATE_FLUSH(name, geometry, alone, squares)                                         \
    static void ics_tabulate_flush_##name(ics_tabulate_job *job, const ice_tables *tables,         \
                                          uint32_t *fates, ics_tabulate_block *block)              \
    {                                                                                              \
        const ics_tabulate_how how = {geometry, alone, squares};                                   \
        ics_tabulate_flush_with(job, how, tables, fates, block);                                   \
    }
ICS_TABULATE_FLUSH(spherical, ICE_TABULATE_SPHERICAL, true, false)
ICS_TABULATE_FLUSH(cylindrical, ICE_TABULATE_CYLINDRICAL, true, false)
ICS_TABULATE_FLUSH(spherical_squared, ICE_TABULATE_SPHERICAL, true, true)
ICS_TABULATE_FLUSH(cylindrical_squared, ICE_TABULATE_CYLINDRICAL, true, true)
ICS_TABULATE_FLUSH(spherical_shared, ICE_TABULATE_SPHERICAL, false, false)
ICS_TABULATE_FLUSH(cylindrical_shared, ICE_TABULATE_CYLINDRICAL, false, false)
ICS_TABULATE_FLUSH(spherical_shared_squared, ICE_TABULATE_SPHERICAL, false, true)
ICS_TABULATE_FLUSH(cylindrical_shared_squared, ICE_TABULATE_CYLINDRICAL, false, true)
#if defined(ICE_CUSTOM_tabulate)
ICS_TABULATE_FLUSH(custom, ICE_TABULATE_CUSTOM, job->is_alone, job->table->squares != NULL)
#endif

typedef void ics_tabulate_flusher(ics_tabulate_job *, const ice_tables *, uint32_t *,
                                  ics_tabulate_block *);

/* Returns the function that brings samples into the table. */
static ics_tabulate_flusher *ics_tabulate_flusher_of(const ics_tabulate_job *job)
{
    /* by geometry, whether the thread is alone, whether the table has squares */
    static ics_tabulate_flusher *const all[2][2][2] = {
        {{ics_tabulate_flush_cylindrical_shared, ics_tabulate_flush_cylindrical_shared_squared},
         {ics_tabulate_flush_cylindrical, ics_tabulate_flush_cylindrical_squared}},
        {{ics_tabulate_flush_spherical_shared, ics_tabulate_flush_spherical_shared_squared},
         {ics_tabulate_flush_spherical, ics_tabulate_flush_spherical_squared}}};
#if defined(ICE_CUSTOM_tabulate)
    if (job->table->geometry == ICE_TABULATE_CUSTOM) {
        return ics_tabulate_flush_custom;
    }
#endif
    return all[job->table->geometry == ICE_TABULATE_SPHERICAL][job->is_alone]
              [job->table->squares != NULL];
}

/* Brings the samples of the block into the table, and empties the block. `fates`: of the photons of
 * the segments. */
static void ics_tabulate_flush(ics_tabulate_job *job, const ice_tables *tables, uint32_t *fates,
                               ics_tabulate_block *block)
{
    if (block->count > 0) {
        /* The rest of the last strip repeats its last segment, so that it is computed as well. */
        const int32_t last = block->way[block->count - 1];
        ICS_VECTOR_LOOP
        ICS_FOR_STRIP(k)
        {
            block->way[block->count + k] = last;
            block->number[block->count + k] = 0;
        }
        ics_tabulate_flusher_of(job)(job, tables, fates, block);
        block->count = 0;
    }
}

/* Adds the samples of segments 0 to count - 1 of block->ways to the table. `fates`: of their
 * photons, which end at their first sample outside. */
static void ics_tabulate_add_ways(ics_tabulate_job *job, const ice_tables *tables, uint32_t *fates,
                                  uint32_t count, ics_tabulate_block *block)
{
    const uint32_t kept = ics_tabulate_pack(count, &block->ways);
    block->count = 0;
    ics_tabulate_look_ahead(tables, ics_whole_vectors(kept), &block->ways);
    ics_tabulate_accept(job->table, kept, &block->ways);
    for (uint32_t i = 0; i < kept; ++i) {
        const int32_t samples = block->ways.count[i];
        for (int32_t first = 0; first < samples; first += ICS_TABULATE_STRIP) {
            /* More than needed may be written: the next samples overwrite it. */
            int32_t *way = &block->way[block->count], *number = &block->number[block->count];
            ICS_VECTOR_LOOP
            ICS_FOR_STRIP(k)
            {
                way[k] = (int32_t)i;
                number[k] = first + (int32_t)k;
            }
            const int32_t rest = samples - first;
            block->count += (uint32_t)(rest < ICS_TABULATE_STRIP ? rest : ICS_TABULATE_STRIP);
            if (block->count > ICS_TABULATE_BLOCK - ICS_TABULATE_STRIP) {
                ics_tabulate_flush(job, tables, fates, block);
            }
        }
    }
    ics_tabulate_flush(job, tables, fates, block);
}

/* Gives photons the fixed absorption depth of a table. A photon that was not emitted keeps its
 * negative number. */
static float ics_tabulate_depth(const ice_tabulation *table, float drawn)
{
    return drawn < 0.0f ? drawn : table->absorption_lengths;
}

#endif
