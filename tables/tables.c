#include "stages/create_cherenkov.h"
#include "tables/tables_internal.h"

#include <stdio.h>
#include <stdlib.h>

void *ics_tables_array(ics_table_builder *builder, void *pointer, size_t count, size_t size)
{
    void *data = calloc(count ? count : 1, size);
    if (data == NULL) {
        snprintf(builder->why, builder->why_size, "out of memory for a table of %zu entries",
                 count);
        return NULL;
    }
    memcpy(pointer, &data, sizeof data);
    builder->arrays[builder->array_count].pointer = pointer;
    builder->arrays[builder->array_count].data = data;
    builder->arrays[builder->array_count].bytes = (count ? count : 1) * size;
    ++builder->array_count;
    return data;
}

static size_t aligned(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

/* Moves all arrays into one block. */
static int pack(ics_table_builder *builder, ics_tables *out)
{
    size_t total = 0;
    for (size_t i = 0; i < builder->array_count; ++i) {
        total += aligned(builder->arrays[i].bytes);
    }
    char *block = aligned_alloc(64, total);
    if (block == NULL) {
        snprintf(builder->why, builder->why_size, "out of memory for %zu bytes of tables", total);
        return -1;
    }
    memset(block, 0, total); /* the gaps between arrays, too: ics_tables_visit() shows them */
    out->memory = block;
    out->bytes = total;
    out->pointer_count = builder->array_count;
    for (size_t i = 0; i < builder->array_count; ++i) {
        memcpy(block, builder->arrays[i].data, builder->arrays[i].bytes);
        memcpy(builder->arrays[i].pointer, &block, sizeof block);
        out->pointers[i] = (size_t)((char *)builder->arrays[i].pointer - (char *)&out->device);
        block += aligned(builder->arrays[i].bytes);
    }
    return 0;
}

int ics_tables_create(const ice_medium *medium, const ice_detector *detector,
                      const ice_light *light, const ics_table_options *options, ics_tables **out,
                      char *why, size_t why_size)
{
    *out = NULL;
    ics_tables *result = calloc(1, sizeof *result);
    if (result == NULL) {
        snprintf(why, why_size, "out of memory for tables");
        return -1;
    }
    ics_table_builder builder = {.tables = &result->device, .why = why, .why_size = why_size};
    ice_tables *tables = &result->device;
    tables->seed_low = (uint32_t)options->seed;
    tables->seed_high = (uint32_t)(options->seed >> 32);
    for (uint32_t round = 0; round < ICE_PHILOX_ROUNDS; ++round) {
        tables->key_low[round] = tables->seed_low + round * ICE_WEYL_LOW;
    }
    tables->bounce_limit = options->bounce_limit;
    tables->reach_cull = options->reach_cull;
    int failed = ics_tables_build_ice(&builder, medium) ||
                 ics_tables_build_light(&builder, light) ||
                 ics_tables_build_detector(&builder, detector) ||
                 ics_tables_build_features(&builder, medium, detector) || pack(&builder, result);
    for (size_t i = 0; i < builder.array_count; ++i) {
        free(builder.arrays[i].data);
    }
    if (failed) {
        free(result);
        return -1;
    }
    *out = result;
    return 0;
}

void ics_tables_destroy(ics_tables *tables)
{
    if (tables == NULL) {
        return;
    }
    free(tables->memory);
    free(tables);
}

ice_tables ics_tables_at(const ics_tables *tables, const void *base)
{
    ice_tables moved = tables->device;
    for (size_t i = 0; i < tables->pointer_count; ++i) {
        const char *pointer;
        memcpy(&pointer, (const char *)&moved + tables->pointers[i], sizeof pointer);
        pointer = (const char *)base + (pointer - (const char *)tables->memory);
        memcpy((char *)&moved + tables->pointers[i], &pointer, sizeof pointer);
    }
    return moved;
}

void ics_tables_visit(const ics_tables *tables,
                      void (*visit)(void *user, const void *bytes, size_t size), void *user)
{
    char device[sizeof tables->device];
    memcpy(device, &tables->device, sizeof device);
    for (size_t i = 0; i < tables->pointer_count; ++i) {
        memset(device + tables->pointers[i], 0, sizeof(void *));
    }
    visit(user, device, sizeof device);
    visit(user, tables->pointers, tables->pointer_count * sizeof *tables->pointers);
    visit(user, tables->memory, tables->bytes);
}

double ics_tables_arrival_delay(const ice_tables *tables, const ice_emission *emission,
                                const ice_arrival *arrival)
{
    const ice_block draw =
        ice_draw_of(tables, ice_identity_of(emission, arrival->photon_id), ICE_BLOCK_CREATE);
    const double shift = ice_start_shift(emission->length, emission->flags, draw.a);
    const double index = tables->features & ICE_HAS_SPECTRAL_OPTICS
                             ? (double)ice_spectral_at(tables, arrival->wavelength).group_index
                             : ice_group_index_double(arrival->wavelength);
    return (shift / emission->beta + arrival->path * index) / ICE_LIGHT_SPEED;
}

double ics_tables_wavelength(const ice_tables *tables, uint32_t spectrum, double u)
{
    /* A double just below 1 must not be rounded up to 1, which is outside the table. */
    const float below_one = 1.0f - 0x1p-24f;
    return ice_wavelength(tables, spectrum, ice_min((float)u, below_one));
}
