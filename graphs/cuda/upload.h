/* The tables of a run in the memory of a GPU. */
#ifndef ICS_GRAPHS_CUDA_UPLOAD_H
#define ICS_GRAPHS_CUDA_UPLOAD_H

#include "base/icestream_error.h"
#include "graphs/cuda/toolkit.h"
#include "tables/tables.h"

/* A texture. All zero: there is none. */
typedef struct ics_texture {
    cudaArray_t array;
    cudaTextureObject_t object;
} ics_texture;

/* Belongs to one GPU. All zero: nothing was uploaded. */
typedef struct ics_upload {
    void *memory;           /* the arrays of the tables */
    ics_texture tilt;       /* the image of a tilt (ice_tilt_image) */
    ics_texture near;       /* the map of clearances, with fast maths */
    ics_texture deflection; /* the deflections of birefringence, with fast maths */
    void *near_cells;       /* the same as an array, with portable maths */
    uint64_t bytes;         /* of device memory */
} ics_upload;

/* Copies tables to the current device, whose number is `ordinal`. `fast_math`: also makes the
 * textures, which kernels with fast maths read; without, the array that portable kernels read.
 * *out: the tables with pointers of the device. After an error `upload` still has to be freed.
 * ICESTREAM_E_MEMORY, ICESTREAM_E_FAILED, ICESTREAM_E_DEVICE. */
int ics_upload_tables(int ordinal, const ics_tables *tables, bool fast_math, ics_upload *upload,
                      ice_tables *out, icestream_error *error);
/* Returns the bytes of device memory that this takes. */
uint64_t ics_upload_bytes(const ics_tables *tables, bool fast_math);
/* Frees the memory of the current device. */
void ics_upload_free(ics_upload *upload);

#endif
