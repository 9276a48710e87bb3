/* What a device is made from, and how the options follow from a configuration. */
#ifndef ICS_PHOTONS_DEVICES_OPTIONS_H
#define ICS_PHOTONS_DEVICES_OPTIONS_H

#include "graphs/gpu.h"
#include "pipeline/photons/config/config.h"

#include <stdatomic.h>

/* Treats a GPU as lost in mid-run, for tests on real machines: the environment variable
 * ICESTREAM_GPU_FAIL=ORDINAL:BATCHES. */
typedef struct ics_device_loss {
    int ordinal;      /* number of the GPU */
    uint32_t batches; /* batches that the GPU receives before; 0: no loss is simulated */
} ics_device_loss;

/* Call it before a batch goes to the GPU. *received counts the batches of this GPU, from 0 on, if a
 * loss is simulated. ICESTREAM_E_FAILED: the GPU is to be treated as lost. */
int ics_device_loss_check(const ics_device_loss *loss, int ordinal, uint32_t *received,
                          icestream_error *error);

typedef struct ics_device_options {
    ics_backend backend;       /* CPU or CUDA; AUTO means CPU here */
    int gpus[ICS_CONFIG_GPUS]; /* CUDA: [gpu_count], the ordinals of the GPUs */
    uint32_t gpu_count;
    bool cpu_too;                /* CUDA: the CPU computes in addition to the GPUs */
    bool fall_back;              /* whether the CPU continues if all GPUs are lost */
    uint32_t threads;            /* 0: one for each CPU that this process may use */
    const char *instruction_set; /* that of the CPU: "auto", "baseline", "avx2", "avx512" */
    /* The options of graphs. A CPU uses schedule (AUTO: its own choice), variants, custom, and pool
     * (0: its own choice; per thread). `ordinal` is not used: see `gpus`. */
    ics_gpu_options graph;
    /* The table that the device fills instead of recording hits; NULL: hits. Only a CPU can. */
    struct ics_device_table *table;
    /* The device is made to be described. With schedule AUTO a GPU then compiles no kernels, except
     * those with a header of the user. */
    bool gets_no_batch;
    ics_stage_compiling compiling; /* when a compiler begins to run for a header or device.check */
    const atomic_bool *cancel; /* if true, batches end with ICESTREAM_E_INTERRUPTED; may be NULL */
    char reason[1024];         /* why this backend was chosen; "" if the user asked for it */
    bool warn;                 /* the reason is a warning */
    /* The keys for a GPU that the CPU does not use, with their places; "" if there are none, or if
     * there is a GPU. */
    char unused[1024];
    ics_device_loss simulated;
} ics_device_options;

/* Reads the options from a configuration and chooses the backend. ICESTREAM_E_DEVICE: backend cuda
 * without a GPU (unless device.fallback is cpu: then the CPU, with a reason that is a warning), or
 * a device.index that this machine does not have. ICESTREAM_E_CONFIG, with the place in the file: a
 * setting for a GPU with backend cpu, or an unknown variant. If another backend was asked for and
 * there is no GPU, settings for a GPU have no effect, and out->unused lists them. */
int ics_device_options_from_config(const icestream_config *config, ics_device_options *out,
                                   icestream_error *error);

/* Which GPUs the choice of a backend counts. */
typedef enum ics_device_machine {
    ICS_MACHINE_HERE,        /* those of this machine */
    ICS_MACHINE_WITH_GPU,    /* those of this machine, and if it has none, one that is assumed */
    ICS_MACHINE_WITHOUT_GPU, /* none */
} ics_device_machine;

/* The same for another machine. *assumed (may be NULL): there is no GPU here, and a device cannot
 * be made from the options. */
int ics_device_options_for_machine(const icestream_config *config, ics_device_machine machine,
                                   ics_device_options *out, bool *assumed, icestream_error *error);

/* Reads the options of the first GPU, whether this machine has a GPU or not. ICESTREAM_E_CONFIG. */
int ics_device_gpu_options_from_config(const icestream_config *config, ics_gpu_options *out,
                                       icestream_error *error);

/* Changes options for GPUs into options for the CPU alone. */
void ics_device_options_for_cpu(ics_device_options *options);

#endif
