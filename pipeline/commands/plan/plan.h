/* What a run would need on a CPU and on a GPU. plan/make.c makes a plan, plan/text.c and
 * plan/json.c print it. */
#ifndef ICS_COMMANDS_PLAN_PLAN_H
#define ICS_COMMANDS_PLAN_PLAN_H

#include "graphs/gpu.h"
#include "pipeline/icestream.h"
#include "pipeline/photons/devices/gpu_sums.h"

typedef struct ics_plan_on_cpu {
    bool wanted; /* whether photons would run on the CPU; otherwise the rest is 0 */
    ics_schedule schedule;
    uint32_t threads;
    char instruction_set[16];
    uint32_t pool;      /* photon slots of a thread */
    size_t slot_bytes;  /* bytes of one slot */
    size_t table_bytes; /* bytes of the tables, which all threads share */
} ics_plan_on_cpu;

/* The kernel that fills a table (stages.tabulate). */
typedef struct ics_plan_table {
    bool wanted; /* whether the configuration makes a table; otherwise the rest is 0 */
    ics_kernel_resources kernel;
    uint64_t cells, bytes; /* of the sums, with under- and overflow, and with the squares */
} ics_plan_table;

typedef struct ics_plan_on_gpu {
    bool wanted;            /* whether photons could run on a GPU; otherwise the rest is 0 */
    ics_gpu_device device;  /* the GPU of this machine; its name is "" if there is none */
    icestream_error absent; /* why there is no GPU */
    int architecture;       /* the architecture that is planned for: 90 is sm_90 */
    bool assumed;           /* the architecture was neither given nor found */
    ics_gpu_plan *schedules[ICS_SCHEDULE_COUNT]; /* [count] */
    size_t count;
    ics_plan_table table;
    char
        sums[ICS_DEVICE_GPU_SUMS_TEXT]; /* where sums of hits would be made; "" if there are none */
    bool makes_sums;                    /* the GPU would make them */
    char missing[sizeof((icestream_error *)0)->text]; /* why there is no plan; "" if there is one */
} ics_plan_on_gpu;

typedef struct ics_plan {
    ics_plan_on_cpu cpu;
    ics_plan_on_gpu gpu;
} ics_plan;

/* Names where the program of a schedule comes from: "compiled", "cached" or "installed". */
const char *ics_plan_origin_text(ics_program_origin origin);

/* Returns the kernel of a schedule that needs the most registers. A schedule has at least one. */
const ics_kernel_resources *ics_plan_largest_kernel(const ics_gpu_plan *schedule);

/* Print a plan as text for people, or as JSON. ICESTREAM_E_MEMORY, ICESTREAM_E_OUTPUT. */
int ics_plan_print_text(const ics_plan *plan, FILE *out, icestream_error *error);
int ics_plan_print_json(const ics_plan *plan, FILE *out, icestream_error *error);

#endif
