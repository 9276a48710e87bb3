#include "graphs/cuda/upload.h"

#include "base/error.h"
#include "graphs/cuda/check.h"
#include "tables/deflection_image.h"
#include "tables/near_image.h"
#include "tables/short_texels.h"
#include "tables/tilt_image.h"

#include <stdlib.h>

/* What a texture is made of: `rows` rows of `columns` texels, of 1 or 4 numbers each. A texture of
 * one row has one dimension. Short numbers have 16 bits (tables/short_texels.h). */
typedef struct texels {
    const void *data; /* float, or int16_t */
    size_t columns, rows, numbers;
    enum cudaTextureFilterMode filter;
    bool is_short;
} texels;

/* Outside a texture the texels of its edge hold. */
static int make_texture(int ordinal, const texels *from, ics_texture *out, uint64_t *bytes,
                        icestream_error *error)
{
    const size_t size = from->is_short ? sizeof(int16_t) : sizeof(float);
    const int bits = (int)size * 8, more = from->numbers > 1 ? bits : 0;
    const struct cudaChannelFormatDesc format = {bits, more, more, more,
                                                 from->is_short ? cudaChannelFormatKindSigned
                                                                : cudaChannelFormatKindFloat};
    const size_t line = from->columns * from->numbers * size;
    CUDA_TRY(ordinal, error,
             cudaMallocArray(&out->array, &format, from->columns, from->rows > 1 ? from->rows : 0,
                             cudaArrayDefault));
    *bytes += line * from->rows;
    CUDA_TRY(ordinal, error,
             cudaMemcpy2DToArray(out->array, 0, 0, from->data, line, line, from->rows,
                                 cudaMemcpyHostToDevice));
    const struct cudaResourceDesc resource = {.resType = cudaResourceTypeArray,
                                              .res.array.array = out->array};
    const struct cudaTextureDesc texture = {
        .addressMode = {cudaAddressModeClamp, cudaAddressModeClamp, cudaAddressModeClamp},
        .filterMode = from->filter,
        .readMode = from->is_short ? cudaReadModeNormalizedFloat : cudaReadModeElementType};
    CUDA_TRY(ordinal, error, cudaCreateTextureObject(&out->object, &resource, &texture, NULL));
    return ICESTREAM_OK;
}

/* Makes a texture from numbers that `fill` computes. */
static int upload_image(int ordinal, const ice_tables *tables, texels image,
                        void (*fill)(const ice_tables *tables, float *numbers), ics_texture *out,
                        uint64_t *bytes, icestream_error *error)
{
    const size_t count = image.columns * image.rows * image.numbers;
    if (count == 0) {
        return ICESTREAM_OK;
    }
    const size_t most = count * (sizeof(float) + (image.is_short ? sizeof(int16_t) : 0));
    float *numbers = malloc(most);
    if (numbers == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for %zu bytes of a texture",
                             most);
    }
    fill(tables, numbers);
    image.data = numbers;
    if (image.is_short) {
        int16_t *words = (int16_t *)(void *)(numbers + count);
        ics_tables_shorten_texels(numbers, count, words);
        image.data = words;
    }
    const int status = make_texture(ordinal, &image, out, bytes, error);
    free(numbers);
    return status;
}

/* The textures, without their numbers; one without columns does not exist. */
static texels tilt_texels(const ice_tables *tables)
{
    const ics_tables_image_size size = ics_tables_image_size_of(tables);
    return (texels){NULL, size.columns, size.rows, 1, cudaFilterModeLinear, true};
}

static texels near_texels(const ice_tables *tables)
{
    return (texels){NULL,
                    (size_t)tables->clearance_nx,
                    (size_t)tables->clearance_ny,
                    ICS_NEAR_NUMBERS,
                    cudaFilterModePoint,
                    ics_tables_near_is_short(tables)};
}

static texels deflection_texels(const ice_tables *tables)
{
    const bool is_bent = (tables->features & ICE_HAS_BIREFRINGENCE) != 0;
    return (texels){
        NULL, is_bent ? ICS_DEFLECTION_TEXELS : 0, 1, ICS_DEFLECTION_NUMBERS, cudaFilterModeLinear,
        false};
}

static uint64_t bytes_of(texels image)
{
    return (uint64_t)(image.columns * image.rows * image.numbers) *
           (image.is_short ? sizeof(int16_t) : sizeof(float));
}

/* The size of the map of clearances for kernels with portable maths. */
static size_t near_cells_bytes(const ice_tables *tables)
{
    return (size_t)tables->clearance_nx * (size_t)tables->clearance_ny * sizeof(ice_near_cell);
}

uint64_t ics_upload_bytes(const ics_tables *tables, bool fast_math)
{
    const ice_tables *host = &tables->device;
    return tables->bytes + (fast_math ? bytes_of(near_texels(host)) + bytes_of(tilt_texels(host)) +
                                            bytes_of(deflection_texels(host))
                                      : near_cells_bytes(host));
}

/* Makes this map. */
static int upload_near_cells(int ordinal, const ice_tables *tables, ics_upload *upload,
                             icestream_error *error)
{
    const size_t bytes = near_cells_bytes(tables);
    CUDA_TRY(ordinal, error, cudaMalloc(&upload->near_cells, bytes));
    upload->bytes += bytes;
    ice_near_cell *cells = aligned_alloc(_Alignof(ice_near_cell), bytes);
    if (cells == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY,
                             "out of memory for %zu bytes of the map of clearances", bytes);
    }
    ics_tables_near_fill(tables, cells);
    const cudaError_t copied = cudaMemcpy(upload->near_cells, cells, bytes, cudaMemcpyHostToDevice);
    free(cells);
    CUDA_TRY(ordinal, error, copied);
    return ICESTREAM_OK;
}

int ics_upload_tables(int ordinal, const ics_tables *tables, bool fast_math, ics_upload *upload,
                      ice_tables *out, icestream_error *error)
{
    CUDA_TRY(ordinal, error, cudaMalloc(&upload->memory, tables->bytes));
    upload->bytes = tables->bytes;
    CUDA_TRY(ordinal, error,
             cudaMemcpy(upload->memory, tables->memory, tables->bytes, cudaMemcpyHostToDevice));
    if (fast_math) {
        const ice_tables *host = &tables->device;
        ICS_TRY(upload_image(ordinal, host, tilt_texels(host), ics_tables_image_fill, &upload->tilt,
                             &upload->bytes, error));
        ICS_TRY(upload_image(ordinal, host, near_texels(host), ics_tables_near_texels,
                             &upload->near, &upload->bytes, error));
        ICS_TRY(upload_image(ordinal, host, deflection_texels(host), ics_tables_deflection_texels,
                             &upload->deflection, &upload->bytes, error));
    } else {
        ICS_TRY(upload_near_cells(ordinal, &tables->device, upload, error));
    }
    *out = ics_tables_at(tables, upload->memory);
    if (upload->tilt.object != 0) {
        out->tilt.texture = upload->tilt.object;
    }
    if (fast_math) {
        out->near_texture = upload->near.object;
        out->deflection_texture = upload->deflection.object;
    } else {
        out->near_cells = upload->near_cells;
    }
    return ICESTREAM_OK;
}

static void free_texture(ics_texture *texture)
{
    if (texture->object != 0) {
        (void)cudaDestroyTextureObject(texture->object);
    }
    if (texture->array != NULL) {
        (void)cudaFreeArray(texture->array);
    }
}

void ics_upload_free(ics_upload *upload)
{
    free_texture(&upload->tilt);
    free_texture(&upload->near);
    free_texture(&upload->deflection);
    (void)cudaFree(upload->near_cells);
    (void)cudaFree(upload->memory);
    *upload = (ics_upload){0};
}
