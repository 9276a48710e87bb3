/* What a run would need on a CPU and on a GPU: made by plan.c, printed by plan_text.c and
 * plan_json.c. */
#ifndef ICS_TOOLS_PLAN_PLAN_H
#define ICS_TOOLS_PLAN_PLAN_H

#include "graphs/gpu.h"
#include "pipeline/icestream.h"

typedef struct ics_plan_on_cpu {
    bool wanted;
    ics_schedule schedule;
    uint32_t threads;
    char instruction_set[16];
    uint32_t pool;      /* photon slots of a thread */
    size_t slot_bytes;  /* of one slot */
    size_t table_bytes; /* shared by all threads */
} ics_plan_on_cpu;

typedef struct ics_plan_on_gpu {
    bool wanted;
    ics_gpu_device device;                       /* name "": there is none */
    ics_gpu_error absent;                        /* why there is none */
    int architecture;                            /* that is planned for */
    bool assumed;                                /* neither given nor found */
    ics_gpu_plan *schedules[ICS_SCHEDULE_COUNT]; /* [count] */
    size_t count;
    char missing[sizeof((icestream_error *)0)->text]; /* why there is no plan; "": there is */
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
