/* What a user may choose about a graph: schedule, maths, compaction. This header includes no other
 * of icestream, so that a configuration can hold these choices without knowing how a graph works.
 */
#ifndef ICS_GRAPHS_OPTIONS_H
#define ICS_GRAPHS_OPTIONS_H

#include <stdbool.h>

/* The single list of schedules: constant, name in a configuration, word in file names and C names.
 * graphs/schedule.c has the row that describes each of them, kernels/cuda/device/WORD.h its
 * kernels. The order is that of reports and of the tests. */
#define ICS_SCHEDULE_LIST(X)                                                                       \
    X(WAVEFRONT, "wavefront", wavefront)                                                           \
    X(EVENT_WAVEFRONT, "event-wavefront", event_wavefront)                                         \
    X(MONOLITHIC, "monolithic", monolithic)                                                        \
    X(JOB_QUEUE, "job-queue", job_queue)                                                           \
    X(THREAD_PER_STEP, "thread-per-step", thread_per_step)                                         \
    X(WARP_WAVEFRONT, "warp-wavefront", warp_wavefront)

typedef enum ics_schedule {
    ICS_SCHEDULE_AUTO, /* a GPU takes the fastest one that trials have found; a CPU
                          takes wavefront */
#define X(constant, name, word) ICS_SCHEDULE_##constant,
    ICS_SCHEDULE_LIST(X)
#undef X
        ICS_SCHEDULE_COUNT
} ics_schedule;

/* The name that a schedule has in a configuration, never NULL. */
const char *ics_graph_schedule_name(ics_schedule schedule);
/* Finds a schedule by its name. Returns false if there is none with this name. */
bool ics_graph_schedule_find(const char *name, ics_schedule *out);
/* Whether a CPU can run this schedule; true for AUTO, which means wavefront on a CPU (graph.c). */
bool ics_graph_schedule_on_cpu(ics_schedule schedule);

/* Which functions compute photons. AUTO: fast on a GPU, portable on a CPU. */
typedef enum ics_math { ICS_MATH_AUTO, ICS_MATH_FAST, ICS_MATH_PORTABLE } ics_math;

/* What the kernels of a GPU leave out, so that `bench/impact.py` finds what it costs. Photons
 * of such kernels do not obey physics.md. */
typedef enum ics_without {
    ICS_WITHOUT_NOTHING,
    ICS_WITHOUT_RANDOM,    /* ICE_WITHOUT_RANDOM in stages/random.h */
    ICS_WITHOUT_DIVERGENCE /* GPU_WITHOUT_DIVERGENCE in kernels/cuda/device/run.h */
} ics_without;

/* How compaction orders the photons of a pool. */
typedef enum ics_compact_sort {
    ICS_SORT_NONE,
    ICS_SORT_DEPTH, /* by layer of the ice */
    ICS_SORT_CELL   /* by cell of the grid of strings, then by layer */
} ics_compact_sort;

/* When a loop compacts its pool. */
typedef enum ics_compact_when {
    ICS_COMPACT_TAIL,   /* when no photon is left to create and more than half of the slots in use
                           are free */
    ICS_COMPACT_ALWAYS, /* after every trip */
    ICS_COMPACT_EVERY   /* after a given number of waves */
} ics_compact_when;

#endif
