/* A table of a GPU where the CUDA runtime refuses something (graphs/cuda/table.c), without a GPU:
 * the test defines the functions of the runtime (fake/cuda_names.h). The build leaves it out where
 * the headers of the CUDA toolkit are missing.
 *
 * Promises: whatever is refused, everything that was made before is released, and the error names
 * the GPU and what helps; a batch that finds no memory leaves a table that can go on. The tables of
 * a run take as much memory as ics_upload_bytes() says, with textures, too. To join: a call of
 * another function of the runtime needs a fake here that can_do() may refuse.
 */
#include "graphs/cuda/upload.h"
#include "graphs/gpu_table.h"
#include "tables/tables_near_image.h"
#include "tests/support/small_table.h"
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

/* ---- the runtime ----------------------------------------------------------------------------- */

enum { BLOCKS = 16 };

static struct {
    void *blocks[BLOCKS]; /* memory of the device, NULL: free */
    size_t bytes;         /* of all blocks and arrays that were made */
    size_t array_bytes;   /* of the newest array */
    bool is_short;        /* its numbers have 16 bits */
    bool has_textures;    /* a table has none, because tables are portable */
    int arrays, textures, libraries, events, programs;
    int calls;  /* that could be refused */
    int refuse; /* the call with this number is refused; 0: none */
    cudaError_t with;
} cuda;

static void begin(void)
{
    memset(&cuda, 0, sizeof cuda);
}

static bool can_do(void)
{
    return ++cuda.calls != cuda.refuse;
}

static int blocks_in_use(void)
{
    int count = 0;
    for (int i = 0; i < BLOCKS; ++i) {
        count += cuda.blocks[i] != NULL;
    }
    return count;
}

static void expect_nothing_left(void)
{
    ck_assert_int_eq(blocks_in_use(), 0);
    ck_assert_int_eq(cuda.libraries, 0);
    ck_assert_int_eq(cuda.events, 0);
    ck_assert_int_eq(cuda.programs, 0);
    ck_assert_int_eq(cuda.arrays, 0);
    ck_assert_int_eq(cuda.textures, 0);
}

cudaError_t cudaMalloc(void **out, size_t size)
{
    if (!can_do()) {
        return cuda.with;
    }
    for (int i = 0; i < BLOCKS; ++i) {
        if (cuda.blocks[i] == NULL) {
            *out = cuda.blocks[i] = malloc(size);
            ck_assert_ptr_nonnull(*out);
            cuda.bytes += size;
            return cudaSuccess;
        }
    }
    ck_abort_msg("more than %d blocks", BLOCKS);
}

cudaError_t cudaFree(void *block)
{
    for (int i = 0; block != NULL && i < BLOCKS; ++i) {
        if (cuda.blocks[i] == block) {
            free(block);
            cuda.blocks[i] = NULL;
            return cudaSuccess;
        }
    }
    ck_assert_msg(block == NULL, "a block is freed that is not in use");
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t size, enum cudaMemcpyKind kind)
{
    (void)kind;
    memcpy(to, from, size);
    return can_do() ? cudaSuccess : cuda.with;
}

cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *format,
                            size_t width, size_t height, unsigned int flags)
{
    const int bits = format->x + format->y + format->z + format->w;
    ck_assert(cuda.has_textures && flags == cudaArrayDefault);
    cuda.array_bytes = width * (height > 0 ? height : 1) * (size_t)bits / 8;
    cuda.bytes += cuda.array_bytes;
    cuda.is_short = format->f == cudaChannelFormatKindSigned;
    ck_assert_int_eq(format->x, cuda.is_short ? 16 : 32);
    *array = (cudaArray_t)&cuda.arrays;
    ++cuda.arrays;
    return cudaSuccess;
}

/* Reads every byte that the runtime would read. */
cudaError_t cudaMemcpy2DToArray(cudaArray_t array, size_t x, size_t y, const void *from,
                                size_t pitch, size_t width, size_t height, enum cudaMemcpyKind kind)
{
    ck_assert_ptr_eq(array, &cuda.arrays);
    ck_assert(x + y == 0 && pitch == width);
    ck_assert_uint_eq(width * height, cuda.array_bytes);
    ck_assert_int_eq(kind, cudaMemcpyHostToDevice);
    void *copy = malloc(cuda.array_bytes);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, from, cuda.array_bytes);
    free(copy);
    return cudaSuccess;
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *texture,
                                    const struct cudaResourceDesc *resource,
                                    const struct cudaTextureDesc *description,
                                    const struct cudaResourceViewDesc *view)
{
    ck_assert_ptr_eq(resource->res.array.array, &cuda.arrays);
    ck_assert_ptr_null(view);
    ck_assert_int_eq(description->readMode,
                     cuda.is_short ? cudaReadModeNormalizedFloat : cudaReadModeElementType);
    *texture = 1;
    ++cuda.textures;
    return cudaSuccess;
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture)
{
    ck_assert_uint_eq(texture, 1);
    --cuda.textures;
    return cudaSuccess;
}

cudaError_t cudaFreeArray(cudaArray_t array)
{
    ck_assert_ptr_eq(array, &cuda.arrays);
    --cuda.arrays;
    return cudaSuccess;
}

cudaError_t cudaMemset(void *to, int value, size_t size)
{
    memset(to, value, size);
    return can_do() ? cudaSuccess : cuda.with;
}

cudaError_t cudaSetDevice(int ordinal)
{
    ck_assert_int_eq(ordinal, 3);
    return cudaSuccess;
}

cudaError_t cudaGetLastError(void)
{
    return cudaSuccess;
}

const char *cudaGetErrorName(cudaError_t result)
{
    return result == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation" : "cudaErrorOther";
}

const char *cudaGetErrorString(cudaError_t result)
{
    return result == cudaErrorMemoryAllocation ? "out of memory" : "other";
}

cudaError_t cudaLibraryLoadData(cudaLibrary_t *out, const void *code,
                                enum cudaJitOption *jit_options, void **jit_values,
                                unsigned int jit_count, enum cudaLibraryOption *options,
                                void **values, unsigned int count)
{
    (void)jit_options, (void)jit_values, (void)options, (void)values;
    ck_assert_ptr_nonnull(code);
    ck_assert_uint_eq(jit_count + count, 0);
    if (!can_do()) {
        return cuda.with;
    }
    *out = (cudaLibrary_t)&cuda.libraries;
    ++cuda.libraries;
    return cudaSuccess;
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library)
{
    ck_assert_ptr_eq(library, &cuda.libraries);
    --cuda.libraries;
    return cudaSuccess;
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *out, cudaLibrary_t library, const char *name)
{
    ck_assert_str_eq(name, "gpu_table");
    *out = (cudaKernel_t)library;
    return can_do() ? cudaSuccess : cuda.with;
}

cudaError_t cudaEventCreate(cudaEvent_t *out)
{
    if (!can_do()) {
        return cuda.with;
    }
    *out = (cudaEvent_t)&cuda.events;
    ++cuda.events;
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    ck_assert_ptr_eq(event, &cuda.events);
    --cuda.events;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    ck_assert_ptr_eq(event, &cuda.events);
    ck_assert_ptr_null(stream);
    return can_do() ? cudaSuccess : cuda.with;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to)
{
    ck_assert_ptr_eq(from, to);
    *milliseconds = 1.0f;
    return can_do() ? cudaSuccess : cuda.with;
}

cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                             size_t shared, cudaStream_t stream)
{
    (void)arguments;
    ck_assert_ptr_eq(kernel, &cuda.libraries);
    ck_assert_uint_gt(grid.x * block.x, 0);
    ck_assert_uint_eq(shared, 0);
    ck_assert_ptr_null(stream);
    return can_do() ? cudaSuccess : cuda.with;
}

/* ---- what the table uses of other files ------------------------------------------------------ */

int ics_gpu_describe(int ordinal, ics_gpu_device *out, icestream_error *error)
{
    (void)error;
    ck_assert_int_eq(ordinal, 3);
    *out = (ics_gpu_device){.name = "fake", .architecture = 90, .processors = 2};
    return ICESTREAM_OK;
}

int ics_program_create(const ics_program_options *options, ics_program **out,
                       icestream_error *error)
{
    static char image[4];
    static ics_program program = {.image = image, .bytes = sizeof image};
    (void)error;
    ck_assert_ptr_nonnull(strstr(options->definitions, "#define GPU_TABLE_AXES 4\n"));
    *out = &program;
    ++cuda.programs;
    return ICESTREAM_OK;
}

void ics_program_destroy(ics_program *program)
{
    cuda.programs -= program != NULL;
}

const ics_kernel_resources *ics_program_kernel(const ics_program *program, const char *name)
{
    (void)program, (void)name;
    return NULL;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static stage_world world_of_ice(void)
{
    stage_world world = stage_world_create(world_medium_uniform(2.5, 0.9, 0.0, 98.0),
                                           world_detector_far(), world_light_line(400.0));
    stage_world_tables(&world);
    return world;
}

/* Makes a table, with squares or without, and *cells. `limit`: device.memory_limit (bytes). */
static int create(const stage_world *world, bool has_squares, uint64_t limit, ics_gpu_table **out,
                  icestream_error *error)
{
    uint64_t sums = 0, squares = 0;
    const ice_tabulation stage = small_table(&sums, has_squares ? &squares : NULL);
    const ics_gpu_options options = {
        .ordinal = 3, .variants = world_variants(), .memory_limit = limit};
    return ics_gpu_table_create(&options, world->tables, &stage, out, error);
}

START_TEST(nothing_is_left_of_a_table_that_was_refused)
{
    stage_world world = world_of_ice();
    const bool has_squares = _i % 2 == 1;
    const cudaError_t with = _i < 2 ? cudaErrorMemoryAllocation : cudaErrorIllegalAddress;
    int refused = 0, explained = 0, status = ICESTREAM_E_FAILED;
    for (int call = 1; status != ICESTREAM_OK; ++call) {
        icestream_error error = {.text = ""};
        ics_gpu_table *table = NULL;
        begin();
        cuda.refuse = call;
        cuda.with = with;
        status = create(&world, has_squares, 0, &table, &error);
        ck_assert((table != NULL) == (status == ICESTREAM_OK));
        if (status != ICESTREAM_OK) {
            ck_assert_int_eq(status, _i < 2 ? ICESTREAM_E_MEMORY : ICESTREAM_E_FAILED);
            ck_assert_ptr_eq(strstr(error.text, "GPU 3: "), error.text);
            explained += strstr(error.text, "expected fewer bins, no table.squares") != NULL;
            ++refused;
        }
        ics_gpu_table_destroy(table);
        expect_nothing_left();
    }
    /* A library, a kernel, 3 blocks and 2 copies, a block and zeros for each column, 2 events. */
    ck_assert_int_eq(refused, has_squares ? 13 : 11);
    ck_assert_int_eq(explained, _i >= 2 ? 0 : has_squares ? 2 : 1);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(a_refused_column_is_explained)
{
    stage_world world = world_of_ice();
    icestream_error error = {.text = ""};
    ics_gpu_table *table = NULL;
    begin();
    cuda.refuse = 8; /* the sums: after library, kernel, two blocks with copies, block */
    cuda.with = cudaErrorMemoryAllocation;
    ck_assert_int_eq(create(&world, true, 0, &table, &error), ICESTREAM_E_MEMORY);
    ck_assert_str_eq(error.text, "GPU 3: found too little free memory for 1354752 bytes of a table "
                                 "of 169344 cells, expected fewer bins, no table.squares, or a "
                                 "device with more memory");
    expect_nothing_left();
    stage_world_destroy(&world);
}
END_TEST

START_TEST(a_limit_refuses_before_anything_is_allocated)
{
    stage_world world = world_of_ice();
    icestream_error error = {.text = ""};
    ics_gpu_table *table = NULL;
    begin();
    ck_assert_int_eq(create(&world, true, 1000000, &table, &error), ICESTREAM_E_MEMORY);
    ck_assert_ptr_nonnull(strstr(error.text, "GPU 3: a table of 169344 cells needs "));
    ck_assert_ptr_nonnull(strstr(error.text, "expected at most device.memory_limit = 1000000"));
    ck_assert_int_eq(cuda.calls, 2); /* library and kernel */
    expect_nothing_left();
    stage_world_destroy(&world);
}
END_TEST

/* Memory for a batch is refused, and the same batch is computed afterwards. */
START_TEST(a_refused_batch_can_be_repeated)
{
    stage_world world = world_of_ice();
    const ice_emission emission = {
        .dz = 1, .beta = 1, .photons = 7, .flags = ICE_EMISSION_ISOTROPIC};
    const ice_tabulate_origin origin = {.ux = 1, .vy = 1, .wz = 1, .weight = 1};
    const ics_gpu_table_light light = {.emissions = &emission, .origins = &origin, .count = 1};
    for (int block = 1; block <= 3; ++block) { /* emissions, origins, offsets */
        icestream_error error = {.text = ""};
        ics_gpu_table_result result;
        ics_gpu_table *table = NULL;
        begin();
        ck_assert_int_eq(create(&world, false, 0, &table, &error), ICESTREAM_OK);
        const int before = blocks_in_use();
        cuda.refuse = cuda.calls + block;
        cuda.with = cudaErrorMemoryAllocation;
        ck_assert_int_eq(ics_gpu_table_fill(table, &light, &result, &error), ICESTREAM_E_MEMORY);
        ck_assert_msg(strstr(error.text, "GPU 3: cudaMalloc: out of memory") == error.text, "%s",
                      error.text);
        ck_assert_int_eq(ics_gpu_table_fill(table, &light, &result, &error), ICESTREAM_OK);
        ck_assert_uint_eq(result.account.created, 7);
        ck_assert_int_eq(blocks_in_use(), before + 3);
        ics_gpu_table_destroy(table);
        expect_nothing_left();
    }
    stage_world_destroy(&world);
}
END_TEST

/* Tilted birefringent ice, of which fast maths has three textures; its detector is of usual size.
 */
START_TEST(uploaded_tables_have_their_size)
{
    static const double b[] = {0.2, 0.3, 0.4}, a[] = {0.01, 0.01, 0.02},
                        at[1][3] = {{5.0, 5.0, 5.0}};
    const bool fast_math = _i % 2 == 1, is_large = _i / 2 == 1;
    ice_medium *medium = world_medium_layered(-15.0, 10.0, 3, b, a);
    world_medium_add(medium, ICE_HAS_TILT_LINE | ICE_HAS_BIREFRINGENCE);
    stage_world world =
        stage_world_create(medium, is_large ? world_detector_far() : world_detector(at, 1, 1.0),
                           world_light_line(400.0));
    icestream_error error = {.text = ""};
    ics_upload upload = {0};
    ice_tables out;
    ck_assert(ics_tables_near_is_short(stage_world_tables(&world)) == !is_large);
    begin();
    cuda.has_textures = fast_math;
    const uint64_t said = ics_upload_bytes(world.tables, fast_math);
    ck_assert_int_eq(ics_upload_tables(3, world.tables, fast_math, &upload, &out, &error),
                     ICESTREAM_OK);
    ck_assert_uint_eq(cuda.bytes, said);
    ck_assert_uint_eq(upload.bytes, said);
    if (!fast_math) {
        const ice_tables *tables = &world.tables->device;
        ck_assert_uint_eq(said - world.tables->bytes, (size_t)tables->clearance_nx *
                                                          (size_t)tables->clearance_ny *
                                                          sizeof(ice_near_cell));
    }
    ck_assert_int_eq(cuda.textures, fast_math ? 3 : 0);
    ics_upload_free(&upload);
    expect_nothing_left();
    stage_world_destroy(&world);
}
END_TEST

ICS_TEST_MAIN("gpu_table_memory")
{
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, nothing_is_left_of_a_table_that_was_refused, 0, 4);
    tcase_add_test(all, a_refused_column_is_explained);
    tcase_add_test(all, a_limit_refuses_before_anything_is_allocated);
    tcase_add_test(all, a_refused_batch_can_be_repeated);
    tcase_add_loop_test(all, uploaded_tables_have_their_size, 0, 4);
    suite_add_tcase(suite, all);
}
