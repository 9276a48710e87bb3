/* The kernel that fills a table, as a thread function of the emulated grid. */
#include "tests/kernels/emulated/grid.h"

/* The shape of tests/support/small_table.h. */
#define GPU_TABLE_GEOMETRY ICE_TABULATE_SPHERICAL
#define GPU_TABLE_AXES     4
#define GPU_TABLE_COORDINATES                                                                      \
    {                                                                                              \
        0, 1, 2, 3                                                                                 \
    }
#define GPU_TABLE_POWERS                                                                           \
    {                                                                                              \
        2, 1, 1, 2                                                                                 \
    }
static int has_squares;
#define GPU_TABLE_SQUARES has_squares
#include "kernels/cuda/device/table.h"
#include "tests/kernels/emulated/table.h"

static void run_table(void *user)
{
    const grid_table *arguments = user;
    gpu_table(*arguments->tables, *arguments->table, *arguments->work);
}

void grid_table_run(const grid_table *arguments, uint32_t blocks)
{
    grid_table copy = *arguments;
    has_squares = arguments->table->squares != NULL;
    grid_run(blocks, GRID_BLOCK, run_table, &copy);
}
