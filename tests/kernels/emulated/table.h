/* The kernel that fills a table on the emulated grid. */
#ifndef EMULATED_TABLE_H
#define EMULATED_TABLE_H

#include "kernels/cuda/device/table_work.h"

typedef struct grid_table {
    const ice_tables *tables;
    const ice_tabulation *table; /* a small_table() */
    const ics_table_work *work;
} grid_table;

/* Runs one launch with this number of blocks. */
void grid_table_run(const grid_table *arguments, uint32_t blocks);

#endif
