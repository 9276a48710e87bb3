/* What the builders of all tables share: the arrays and the block that they move to, and the
 * constants of scattering. */
#include "base/error.h"
#include "base/memory.h"
#include "tables/internal.h"

#include <stdlib.h>
#include <string.h>

int ics_tables_array(ics_table_builder *builder, void *member, size_t count, size_t size,
                     void *array)
{
    void *data = ics_memory_zeros(count ? count : 1, size);
    if (data == NULL) {
        return ics_error_set(builder->error, ICESTREAM_E_MEMORY,
                             "out of memory for a table of %zu entries", count);
    }
    memcpy(member, &data, sizeof data);
    memcpy(array, &data, sizeof data);
    builder->arrays[builder->array_count].pointer = member;
    builder->arrays[builder->array_count].data = data;
    builder->arrays[builder->array_count].is_shared = false;
    builder->arrays[builder->array_count].bytes = (count ? count : 1) * size;
    ++builder->array_count;
    return ICESTREAM_OK;
}

void ics_tables_move_arrays(ics_table_builder *builder, ics_table_builder *from)
{
    for (size_t i = 0; i < from->array_count; ++i) {
        builder->arrays[builder->array_count++] = from->arrays[i];
    }
    from->array_count = 0;
}

void ics_tables_free_arrays(ics_table_builder *builder)
{
    for (size_t i = 0; i < builder->array_count; ++i) {
        if (!builder->arrays[i].is_shared) {
            free(builder->arrays[i].data);
        }
    }
    builder->array_count = 0;
}

static size_t aligned(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

int ics_tables_pack(ics_table_builder *builder, ics_tables *out)
{
    size_t total = 0;
    for (size_t i = 0; i < builder->array_count; ++i) {
        total += aligned(builder->arrays[i].bytes);
    }
    char *block = aligned_alloc(64, total);
    if (block == NULL) {
        return ics_error_set(builder->error, ICESTREAM_E_MEMORY,
                             "out of memory for %zu bytes of tables", total);
    }
    ics_memory_prefer_large(block, total);
    out->memory = block;
    out->bytes = total;
    out->pointer_count = builder->array_count;
    for (size_t i = 0; i < builder->array_count; ++i) {
        const size_t bytes = builder->arrays[i].bytes;
        memcpy(block, builder->arrays[i].data, bytes);
        /* The gaps between arrays, too, have a value: ics_tables_visit() shows them. */
        memset(block + bytes, 0, aligned(bytes) - bytes);
        memcpy(builder->arrays[i].pointer, &block, sizeof block);
        out->pointers[i] = (size_t)((char *)builder->arrays[i].pointer - (char *)&out->device);
        block += aligned(bytes);
    }
    return ICESTREAM_OK;
}

ice_sum ics_tables_split_sum(double value)
{
    const float high = (float)value;
    const ice_sum sum = {high, (float)(value - high)};
    return sum;
}

_Static_assert((int)ICE_SCATTER_PARAMETERS == (int)ICE_PARAMETERS_MAX,
               "stages have room for all parameters of a medium");

ice_scatter_constants ics_tables_scatter_constants(const ice_medium *medium, double g, double f,
                                                   double r)
{
    ice_scatter_constants constants = {
        .g = (float)g,
        .one_minus_g_squared = (float)((1.0 - g) * (1.0 - g)),
        .liu_exponent = (float)((1.0 - g) / (1.0 + g)),
        .liu_fraction = (float)f,
        .inverse_liu = f > 0.0 ? (float)(1.0 / f) : 0.0f,
        .inverse_henyey = f < 1.0 ? (float)(1.0 / (1.0 - f)) : 0.0f,
    };
    if (medium->scatter_count == 0) {
        constants.molecules =
            (ice_molecule_constants){.fraction = (float)r,
                                     .inverse = r > 0.0 ? (float)(1.0 / r) : 0.0f,
                                     .inverse_rest = r < 1.0 ? (float)(1.0 / (1.0 - r)) : 0.0f};
    }
    for (size_t i = 0; i < medium->scatter_count; ++i) {
        constants.parameters[i] = (float)medium->scatter[i].value;
    }
    return constants;
}
