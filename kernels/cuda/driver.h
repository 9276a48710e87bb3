/* What the NVIDIA driver of this machine says, without the CUDA runtime: so a build without CUDA
 * can report it, too, and a driver that is too old for the runtime has a name.
 *
 * The library is libcuda.so.1, which the driver installs, where the system keeps libraries. */
#ifndef ICS_KERNELS_CUDA_DRIVER_H
#define ICS_KERNELS_CUDA_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

/* The lowest architecture that has kernels: the first one whose threads of a warp wait for each
 * other only where the code says so. */
enum { ICS_GPU_OLDEST = 70, ICS_DRIVER_GPUS = 16 };

typedef enum ics_compute_mode {
    ICS_COMPUTE_DEFAULT = 0,
    ICS_COMPUTE_PROHIBITED = 2,
    ICS_COMPUTE_EXCLUSIVE = 3 /* one process at a time */
} ics_compute_mode;

typedef struct ics_driver_gpu {
    char name[128];
    int architecture; /* 90 for sm_90; 0: the driver does not say */
    int mode;         /* an ics_compute_mode */
    uint64_t memory_bytes;
} ics_driver_gpu;

typedef struct ics_driver {
    char release[64]; /* "580.65.06"; "": the kernel has no module of the driver */
    int version;      /* of CUDA, 13000 for 13.0; 0: no driver */
    int count;        /* of GPUs that CUDA_VISIBLE_DEVICES lets this process see */
    ics_driver_gpu gpus[ICS_DRIVER_GPUS]; /* the first of them */
    char fault[768]; /* why no GPU can be used, what was found and what is expected; behind a
                        semicolon a remedy; "": one can */
} ics_driver;

/* Asks the driver. The first call of a process that sees GPUs takes as long as that of any CUDA
 * program (gpu.md, "Several GPUs"). */
void ics_driver_look(ics_driver *out);

/* The version of CUDA that the driver supports, 13000 for 13.0; 0: there is no driver. Fast. */
int ics_driver_version(void);

#endif
