#include "graphs/cuda/upload.h"

#include "base/error.h"
#include "graphs/cuda/check.h"
#include "stages/reach.h"
#include "tables/tables_tilt_image.h"

#include <stdlib.h>

/* What a texture is made of: `rows` rows of `columns` texels of `texel` bytes. */
typedef struct texels {
    const void *data;
    size_t columns, rows, texel;
    enum cudaChannelFormatKind kind;
    enum cudaTextureFilterMode filter;
} texels;

/* Outside a texture the texels of its edge hold. */
static int make_texture(int ordinal, const texels *from, ics_texture *out, uint64_t *bytes,
                        icestream_error *error)
{
    const struct cudaChannelFormatDesc format = {.x = (int)from->texel * 8, .f = from->kind};
    const size_t line = from->columns * from->texel;
    CUDA_TRY(ordinal, error,
             cudaMallocArray(&out->array, &format, from->columns, from->rows, cudaArrayDefault));
    *bytes += line * from->rows;
    CUDA_TRY(ordinal, error,
             cudaMemcpy2DToArray(out->array, 0, 0, from->data, line, line, from->rows,
                                 cudaMemcpyHostToDevice));
    const struct cudaResourceDesc resource = {.resType = cudaResourceTypeArray,
                                              .res.array.array = out->array};
    const struct cudaTextureDesc texture = {
        .addressMode = {cudaAddressModeClamp, cudaAddressModeClamp, cudaAddressModeClamp},
        .filterMode = from->filter,
        .readMode = cudaReadModeElementType};
    CUDA_TRY(ordinal, error, cudaCreateTextureObject(&out->object, &resource, &texture, NULL));
    return ICESTREAM_OK;
}

static int upload_tilt(int ordinal, const ice_tables *tables, ics_upload *upload,
                       icestream_error *error)
{
    const ics_tables_image_size size = ics_tables_image_size_of(tables);
    if (size.columns == 0) {
        return ICESTREAM_OK;
    }
    const size_t count = (size_t)size.columns * size.rows;
    float *nodes = malloc(count * sizeof *nodes);
    if (nodes == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY,
                             "out of memory for %zu bytes of the image of a tilt",
                             count * sizeof *nodes);
    }
    ics_tables_image_fill(tables, nodes);
    const texels from = {nodes,
                         size.columns,
                         size.rows,
                         sizeof *nodes,
                         cudaChannelFormatKindFloat,
                         cudaFilterModeLinear};
    const int status = make_texture(ordinal, &from, &upload->tilt, &upload->bytes, error);
    free(nodes);
    return status;
}

/* Returns the cells of the map of clearances. */
static texels near_texels(const ice_tables *tables)
{
    const texels cells = {tables->near_axes,
                          (size_t)tables->clearance_nx,
                          (size_t)tables->clearance_ny,
                          ice_has_wide_cells(tables) ? sizeof(uint32_t) : sizeof(uint16_t),
                          cudaChannelFormatKindUnsigned,
                          cudaFilterModePoint};
    return cells;
}

uint64_t ics_upload_bytes(const ics_tables *tables, bool fast_math)
{
    if (!fast_math) {
        return tables->bytes;
    }
    const ics_tables_image_size size = ics_tables_image_size_of(&tables->device);
    const texels near = near_texels(&tables->device);
    return tables->bytes + (uint64_t)size.columns * size.rows * sizeof(float) +
           near.columns * near.rows * near.texel;
}

int ics_upload_tables(int ordinal, const ics_tables *tables, bool fast_math, ics_upload *upload,
                      ice_tables *out, icestream_error *error)
{
    CUDA_TRY(ordinal, error, cudaMalloc(&upload->memory, tables->bytes));
    upload->bytes = tables->bytes;
    CUDA_TRY(ordinal, error,
             cudaMemcpy(upload->memory, tables->memory, tables->bytes, cudaMemcpyHostToDevice));
    if (fast_math) {
        ICS_TRY(upload_tilt(ordinal, &tables->device, upload, error));
        const texels near = near_texels(&tables->device);
        ICS_TRY(make_texture(ordinal, &near, &upload->near, &upload->bytes, error));
    }
    *out = ics_tables_at(tables, upload->memory);
    if (upload->tilt.object != 0) {
        out->tilt.texture = upload->tilt.object;
    }
    if (upload->near.object != 0) {
        out->near_texture = upload->near.object;
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
    (void)cudaFree(upload->memory);
    *upload = (ics_upload){0};
}
