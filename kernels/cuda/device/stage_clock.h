/* How long the stages of a loop take, for profiles (gpu_stamp() of device/stamp.h): what kernels
 * and the host share, in the common subset of C11 and CUDA C. */
#ifndef ICS_KERNELS_CUDA_DEVICE_STAGE_CLOCK_H
#define ICS_KERNELS_CUDA_DEVICE_STAGE_CLOCK_H

/* What a stamp ends. */
typedef enum ics_stamp {
    ICS_STAMP_STAGE,
    ICS_STAMP_TRIP /* the decision and the compaction before a trip */
} ics_stamp;

/* All times in ns, since the lane was made. */
typedef struct ics_stage_clock {
    unsigned long long last;      /* the time of the last stamp; 0: there was none */
    unsigned long long stages[6]; /* cycles by ics_clock */
} ics_stage_clock;

#endif
