/* A device: takes batches of emissions, gives batches of hits. A GPU, the CPU's cores, or a group
 * of them: several GPUs, with or without the CPU. */
#ifndef ICS_DEVICES_DEVICE_H
#define ICS_DEVICES_DEVICE_H

#include "graphs/gpu.h"
#include "pipeline/config/config.h"
#include "pipeline/devices/batch.h"

typedef struct ics_device ics_device;

/* The end of a GPU in mid-run, simulated for tests on real machines: the environment variable
 * ICESTREAM_GPU_FAIL=ORDINAL:BATCHES. */
typedef struct ics_device_loss {
    int ordinal;
    uint32_t batches; /* that it takes before; 0: it does not end */
} ics_device_loss;

typedef struct ics_device_options {
    ics_backend backend;         /* CPU or CUDA; AUTO: CPU */
    int gpus[ICS_CONFIG_GPUS];   /* CUDA: ordinals, [gpu_count]; the first is that of `gpu`; */
    uint32_t gpu_count;          /* with more than one, or with cpu_too, the device is a group */
    bool cpu_too;                /* the CPU computes beside the GPUs */
    bool fall_back;              /* when a GPU fails, the work goes on on the CPU */
    ics_schedule schedule;       /* AUTO: the device's choice */
    uint32_t threads;            /* 0: one per CPU that this process may use */
    uint32_t pool;               /* photon slots, 0: the device's choice */
    const char *instruction_set; /* of the CPU: "auto", "baseline", "avx2", "avx512" */
    ice_variants variants;
    const char *custom[ICS_STAGES]; /* the user's stage headers, NULL: a built-in variant */
    ics_gpu_options gpu; /* only of a GPU; schedule, pool, variants and custom are those above */
    const atomic_bool
        *cancel;       /* when true, batches end with ICESTREAM_E_INTERRUPTED; may be NULL */
    char reason[1024]; /* why this backend, for people; "": it was asked for */
    bool warn;         /* the reason is a warning */
    ics_device_loss simulated;
} ics_device_options;

/* Reads the options from a configuration, finds the backend, and checks what is asked of it:
 * backend cuda without a GPU is ICESTREAM_E_DEVICE (with device.fallback cpu: the CPU, and a reason
 * that warns); a schedule or setting that the device does not have, or an unknown variant, is
 * ICESTREAM_E_CONFIG with its place in the file; so is a device.index that the machine does not
 * have, with ICESTREAM_E_DEVICE. */
int ics_device_options_from_config(const icestream_config *config, ics_device_options *out,
                                   icestream_error *error);

/* What a configuration asks of a GPU, whether there is one or not. ICESTREAM_E_CONFIG. */
int ics_device_gpu_options_from_config(const icestream_config *config, ics_gpu_options *out,
                                       icestream_error *error);

/* Makes options that were meant for a GPU fit the CPU. */
void ics_device_options_for_cpu(ics_device_options *options);

/* Starts the device and its threads. `models.tables` must be tables->device; tables, models and the
 * strings of the options must outlive the device. Finished batches go to `finished`, on any thread;
 * with finished.post == NULL they wait for ics_device_take(). A GPU with schedule AUTO measures
 * schedules on its first batch. ICESTREAM_E_MEMORY, ICESTREAM_E_CONFIG (what the device cannot do),
 * ICESTREAM_E_DEVICE, ICESTREAM_E_FAILED. */
int ics_device_create(const ics_device_options *options, const ics_tables *tables,
                      ics_hit_models models, ics_post finished, ics_device **out,
                      icestream_error *error);
/* Waits for the batches that it has, then frees everything. Accepts NULL. */
void ics_device_destroy(ics_device *device);

/* Batches that the device may hold at a time, waiting ones included. */
uint32_t ics_device_credits(const ics_device *device);
/* What batches should be like: ics_batch_create. Changes when a GPU is given up. */
ics_batch_limits ics_device_batch_limits(const ics_device *device);
/* Hands a batch over, which is within most_steps and most_photons of the limits. False: no credit
 * is left; take a batch first. */
bool ics_device_submit(ics_device *device, ics_batch *batch);
/* Waits for a finished batch, in any order; only without finished.post. NULL: none is out. */
ics_batch *ics_device_take(ics_device *device);

/* Carries all steps through the device and returns their hits, sorted, in memory that the caller
 * frees: for tests, compare and bench. Only without finished.post. photon_limit: photons per batch,
 * 0: the device's wish. *hits is NULL when there are none. */
int ics_device_run_steps(ics_device *device, const icestream_step *steps, size_t count,
                         uint64_t photon_limit, icestream_hit **hits, size_t *hit_count,
                         icestream_account *account, icestream_error *error);

/* What the device settled on and what it did, for reports. After the first batch has come back,
 * only `usage` changes, unless a GPU is given up. Of a group: what its first GPU that lives settled
 * on, `usage` of all GPUs together, and `limits` that all members can do with. */
typedef struct ics_device_facts {
    bool is_gpu;           /* where photons go; false once a GPU was given up and none is left */
    uint32_t gpus;         /* that photons go to; 0 where ics_gpu is false */
    char name[256];        /* "cpu", that of the GPU, or of a group "2 GPUs: NAME (GPU 0), ..." */
    ics_schedule schedule; /* AUTO: not chosen yet */
    uint32_t threads;      /* CPU: that compute; GPU: that make hits */
    uint32_t pool;         /* photon slots: of a CPU thread, of all lanes of a GPU */
    char instruction_set[16]; /* "" on a GPU */
    ics_batch_limits limits;
    ics_gpu_options gpu; /* GPU: in force */
    ics_gpu_usage usage; /* of the GPU, also after it was given up; else zeros */
} ics_device_facts;
void ics_device_facts_of(const ics_device *device, ics_device_facts *out);

/* What one device of a group does, or the device itself where it is no group. */
typedef struct ics_device_member_facts {
    char name[256]; /* "cpu", or that of the GPU; "GPU 3" where it could not be started */
    bool is_gpu;
    int ordinal;               /* of a GPU; else -1 */
    bool alive;                /* false: lost, its batches went to the others */
    uint64_t batches, photons; /* carried to their end */
    double seconds;            /* in which it had a batch */
    double photons_per_second; /* lately; until that is known, what is assumed; 0: nothing is */
    uint32_t held;             /* batches with it now */
} ics_device_member_facts;
/* 1, or the devices of the group, lost ones included; a CPU that comes in for the last GPU is one
 * more. */
uint32_t ics_device_member_count(const ics_device *device);
/* False: there is no member with this index. Any thread. */
bool ics_device_member_facts_of(const ics_device *device, uint32_t index,
                                ics_device_member_facts *out);

/* One line about the device for people: "cpu, 2 threads, avx512, wavefront schedule". Returns
 * buffer. */
const char *ics_device_text(const ics_device *device, char *buffer, size_t size);

/* Parts of the facts. */
bool ics_device_is_gpu(const ics_device *device);
uint32_t ics_device_threads(const ics_device *device);
ics_schedule ics_device_schedule(const ics_device *device);
uint32_t ics_device_pool(const ics_device *device);
/* Lives as long as the device; "" on a GPU. */
const char *ics_device_instruction_set(const ics_device *device);
/* What photons that it gets now are computed with. */
ics_maths_used ics_device_maths(const ics_device *device);
/* As it was at creation; lives as long as the device. Of a group: of all members. */
const char *ics_device_name(const ics_device *device);
/* Zeros on a CPU. */
void ics_device_gpu_usage(const ics_device *device, ics_gpu_usage *out);
/* In which at least one kernel ran, s; 0 on a CPU. */
double ics_device_kernel_seconds(const ics_device *device);
/* Options in force; false: it is no GPU. */
bool ics_device_gpu_options(const ics_device *device, ics_gpu_options *out);

/* What the device had to tell so far, a line each. */
typedef struct ics_device_notes {
    char choice[4096];   /* how schedule AUTO was decided */
    char warnings[4096]; /* what was not done as asked, a GPU that was given up */
} ics_device_notes;
void ics_device_notes_of(const ics_device *device, ics_device_notes *out);
/* The next line of the notes that was not taken yet, "warning: " in front of a warning; false:
 * there is none. Any thread. */
bool ics_device_news(ics_device *device, char *line, size_t size);

#endif
