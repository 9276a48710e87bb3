/* A device: takes batches of emissions, gives batches of hits. This version has one, the CPU. */
#ifndef IS_DEVICE_H
#define IS_DEVICE_H

#include "pipeline/config/config.h"
#include "pipeline/host/batch.h"

typedef struct is_device is_device;

typedef struct is_device_options {
    is_schedule schedule;        /* AUTO: the graph's choice */
    uint32_t threads;            /* 0: one per CPU that this process may use */
    uint32_t pool;               /* photon slots per graph, 0: the graph's choice */
    const char *instruction_set; /* "auto", "baseline", "avx2", "avx512" */
    ice_variants variants;
    const atomic_bool *cancel; /* when true, batches end with IS_E_INTERRUPTED; may be NULL */
} is_device_options;

/* Reads the options from a configuration and checks what it asks of the device: backend cuda is
 * IS_E_DEVICE in this build; a schedule that the CPU does not have, or an unknown variant, is
 * IS_E_CONFIG with its place in the file. */
int is_device_options_from_config(const is_config *config, is_device_options *out, is_error *error);

/* Starts the threads, each with a graph of its own. `models.tables` must be tables->device.
 * Finished batches go to `finished`; with finished.post == NULL they wait for is_device_take().
 * IS_E_MEMORY, IS_E_CONFIG (what a graph cannot do), IS_E_FAILED. */
int is_device_create(const is_device_options *options, const is_tables *tables,
                     is_hit_models models, is_post finished, is_device **out, is_error *error);
/* Waits for the batches that it has, then frees everything. Accepts NULL. */
void is_device_destroy(is_device *device);

/* Batches that the device may hold at a time, waiting ones included. */
uint32_t is_device_credits(const is_device *device);
/* Hands a batch over. False: no credit is left; take a batch first. */
bool is_device_submit(is_device *device, is_batch *batch);
/* Waits for a finished batch, in any order; only without finished.post. NULL: none is out. */
is_batch *is_device_take(is_device *device);

/* Carries all steps through the device and returns their hits, sorted, in memory that the caller
 * frees: for tests, compare and bench. Only without finished.post. photon_limit: photons per batch,
 * 0: auto. *hits is NULL when there are none. */
int is_device_run_steps(is_device *device, const is_step *steps, size_t count,
                        uint64_t photon_limit, is_hit **hits, size_t *hit_count,
                        is_account *account, is_error *error);

/* What the device settled on, for reports. */
uint32_t is_device_threads(const is_device *device);
is_schedule is_device_schedule(const is_device *device);
uint32_t is_device_pool(const is_device *device);
const char *is_device_instruction_set(const is_device *device);

#endif
