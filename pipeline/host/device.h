/* A device: takes batches of emissions, gives batches of hits. A GPU, the CPU's cores, or a group
 * of them: several GPUs, with or without the CPU. */
#ifndef IS_DEVICE_H
#define IS_DEVICE_H

#include "graphs/gpu.h"
#include "pipeline/config/config.h"
#include "pipeline/host/batch.h"

typedef struct is_device is_device;

/* The end of a GPU in mid-run, simulated for tests on real machines: the environment variable
 * ICESTREAM_GPU_FAIL=ORDINAL:BATCHES. */
typedef struct is_device_loss {
    int ordinal;
    uint32_t batches; /* that it takes before; 0: it does not end */
} is_device_loss;

typedef struct is_device_options {
    is_backend backend;          /* CPU or CUDA; AUTO: CPU */
    int gpus[IS_CONFIG_GPUS];    /* CUDA: ordinals, [gpu_count]; the first is that of `gpu`; */
    uint32_t gpu_count;          /* with more than one, or with cpu_too, the device is a group */
    bool cpu_too;                /* the CPU computes beside the GPUs */
    bool fall_back;              /* when a GPU fails, the work goes on on the CPU */
    is_schedule schedule;        /* AUTO: the device's choice */
    uint32_t threads;            /* 0: one per CPU that this process may use */
    uint32_t pool;               /* photon slots, 0: the device's choice */
    const char *instruction_set; /* of the CPU: "auto", "baseline", "avx2", "avx512" */
    ice_variants variants;
    const char *custom[IS_STAGES]; /* the user's stage headers, NULL: a built-in variant */
    is_gpu_options gpu; /* only of a GPU; schedule, pool, variants and custom are those above */
    const atomic_bool *cancel; /* when true, batches end with IS_E_INTERRUPTED; may be NULL */
    char reason[1024];         /* why this backend, for people; "": it was asked for */
    bool warn;                 /* the reason is a warning */
    is_device_loss simulated;
} is_device_options;

/* Reads the options from a configuration, finds the backend, and checks what is asked of it:
 * backend cuda without a GPU is IS_E_DEVICE (with device.fallback cpu: the CPU, and a reason that
 * warns); a schedule or setting that the device does not have, or an unknown variant, is
 * IS_E_CONFIG with its place in the file; so is a device.index that the machine does not have, with
 * IS_E_DEVICE. */
int is_device_options_from_config(const is_config *config, is_device_options *out, is_error *error);

/* What a configuration asks of a GPU, whether there is one or not. IS_E_CONFIG. */
int is_device_gpu_options_from_config(const is_config *config, is_gpu_options *out,
                                      is_error *error);

/* Makes options that were meant for a GPU fit the CPU. */
void is_device_options_for_cpu(is_device_options *options);

/* Starts the device and its threads. `models.tables` must be tables->device; tables, models and the
 * strings of the options must outlive the device. Finished batches go to `finished`, on any thread;
 * with finished.post == NULL they wait for is_device_take(). A GPU with schedule AUTO measures
 * schedules on its first batch. IS_E_MEMORY, IS_E_CONFIG (what the device cannot do), IS_E_DEVICE,
 * IS_E_FAILED. */
int is_device_create(const is_device_options *options, const is_tables *tables,
                     is_hit_models models, is_post finished, is_device **out, is_error *error);
/* Waits for the batches that it has, then frees everything. Accepts NULL. */
void is_device_destroy(is_device *device);

/* Batches that the device may hold at a time, waiting ones included. */
uint32_t is_device_credits(const is_device *device);
/* What batches should be like: is_batch_create. Changes when a GPU is given up. */
is_batch_limits is_device_batch_limits(const is_device *device);
/* Hands a batch over, which is within most_steps and most_photons of the limits. False: no credit
 * is left; take a batch first. */
bool is_device_submit(is_device *device, is_batch *batch);
/* Waits for a finished batch, in any order; only without finished.post. NULL: none is out. */
is_batch *is_device_take(is_device *device);

/* Carries all steps through the device and returns their hits, sorted, in memory that the caller
 * frees: for tests, compare and bench. Only without finished.post. photon_limit: photons per batch,
 * 0: the device's wish. *hits is NULL when there are none. */
int is_device_run_steps(is_device *device, const is_step *steps, size_t count,
                        uint64_t photon_limit, is_hit **hits, size_t *hit_count,
                        is_account *account, is_error *error);

/* What the device settled on and what it did, for reports. After the first batch has come back,
 * only `usage` changes, unless a GPU is given up. Of a group: what its first GPU that lives settled
 * on, `usage` of all GPUs together, and `limits` that all members can do with. */
typedef struct is_device_facts {
    bool is_gpu;          /* where photons go; false once a GPU was given up and none is left */
    uint32_t gpus;        /* that photons go to; 0 where is_gpu is false */
    char name[256];       /* "cpu", that of the GPU, or of a group "2 GPUs: NAME (GPU 0), ..." */
    is_schedule schedule; /* AUTO: not chosen yet */
    uint32_t threads;     /* CPU: that compute; GPU: that make hits */
    uint32_t pool;        /* photon slots: of a CPU thread, of all lanes of a GPU */
    char instruction_set[16]; /* "" on a GPU */
    is_batch_limits limits;
    is_gpu_options gpu; /* GPU: in force */
    is_gpu_usage usage; /* of the GPU, also after it was given up; else zeros */
} is_device_facts;
void is_device_facts_of(const is_device *device, is_device_facts *out);

/* What one device of a group does, or the device itself where it is no group. */
typedef struct is_device_member_facts {
    char name[256]; /* "cpu", or that of the GPU; "GPU 3" where it could not be started */
    bool is_gpu;
    int ordinal;               /* of a GPU; else -1 */
    bool alive;                /* false: lost, its batches went to the others */
    uint64_t batches, photons; /* carried to their end */
    double seconds;            /* in which it had a batch */
    double photons_per_second; /* lately; until that is known, what is assumed; 0: nothing is */
    uint32_t held;             /* batches with it now */
} is_device_member_facts;
/* 1, or the devices of the group, lost ones included; a CPU that comes in for the last GPU is one
 * more. */
uint32_t is_device_member_count(const is_device *device);
/* False: there is no member with this index. Any thread. */
bool is_device_member_facts_of(const is_device *device, uint32_t index,
                               is_device_member_facts *out);

/* One line about the device for people: "cpu, 2 threads, avx512, wavefront schedule". Returns
 * buffer. */
const char *is_device_text(const is_device *device, char *buffer, size_t size);

/* Parts of the facts. */
bool is_device_is_gpu(const is_device *device);
uint32_t is_device_threads(const is_device *device);
is_schedule is_device_schedule(const is_device *device);
uint32_t is_device_pool(const is_device *device);
/* Lives as long as the device; "" on a GPU. */
const char *is_device_instruction_set(const is_device *device);
/* What photons that it gets now are computed with. */
is_maths_used is_device_maths(const is_device *device);
/* As it was at creation; lives as long as the device. Of a group: of all members. */
const char *is_device_name(const is_device *device);
/* Zeros on a CPU. */
void is_device_gpu_usage(const is_device *device, is_gpu_usage *out);
/* In which at least one kernel ran, s; 0 on a CPU. */
double is_device_kernel_seconds(const is_device *device);
/* Options in force; false: it is no GPU. */
bool is_device_gpu_options(const is_device *device, is_gpu_options *out);

/* What the device had to tell so far, a line each. */
typedef struct is_device_notes {
    char choice[4096];   /* how schedule AUTO was decided */
    char warnings[4096]; /* what was not done as asked, a GPU that was given up */
} is_device_notes;
void is_device_notes_of(const is_device *device, is_device_notes *out);
/* The next line of the notes that was not taken yet, "warning: " in front of a warning; false:
 * there is none. Any thread. */
bool is_device_news(is_device *device, char *line, size_t size);

#endif
