/* A device: receives batches of emissions and returns batches with hits.
 *
 * A device is always a group of members, even if it has only one: GPUs, the cores of the CPU, or
 * both. The group divides the batches between its members. If a member is lost, the others compute
 * its batches again, or the CPU does if device.fallback says so.
 *
 * The files of pipeline/photons/devices:
 *   workers          threads that run jobs, and the mailbox that brings jobs back to a loop
 *   batch            batch.c fills batches, batch_hits.c makes their hits, hit_detection.c decides
 *                    which are photo-electrons, hit_sort.c sorts
 *   device_options   what a device is made from, and the choice of the backend
 *   device           the interface, and the life of a device
 *   device_group     divides batches between members (device_meter estimates which one finishes
 *                    first) and handles losses; device_group_members creates the members,
 *                    device_group_facts reports
 *   device_backend   what each kind of member implements: devices/cpu.c, and devices/gpu.c with
 *                    device_gpu_work (the GPU's thread) and device_choice (schedule AUTO);
 *                    devices/gpu_table.c is a GPU that fills a table
 */
#ifndef ICS_PHOTONS_DEVICES_DEVICE_H
#define ICS_PHOTONS_DEVICES_DEVICE_H

#include "base/cleanup.h"
#include "pipeline/photons/devices/batch.h"
#include "pipeline/photons/devices/options.h"

typedef struct ics_device ics_device;

/* Starts the device and its threads. `models.tables` must be tables->device. The tables, the models
 * and the strings of the options must outlive the device. Finished batches are posted to `finished`
 * from any thread; a device that gets no batch needs no finished.post. A GPU with schedule AUTO
 * chooses its schedule when the first batch comes. ICESTREAM_E_MEMORY, ICESTREAM_E_CONFIG (the
 * device cannot do what the options ask for), ICESTREAM_E_DEVICE, ICESTREAM_E_FAILED. */
int ics_device_create(const ics_device_options *options, const ics_tables *tables,
                      ics_hit_models models, ics_post finished, ics_device **out,
                      icestream_error *error);
/* Waits for the batches that the device holds, then frees everything. Accepts NULL. */
void ics_device_destroy(ics_device *device);
ICS_CAN_DESTROY(ics_device, ics_device_destroy)

/* ---- batches --------------------------------------------------------------------------------- */

/* Largest number of batches that the device holds at a time, waiting batches included. */
uint32_t ics_device_credits(const ics_device *device);
/* The `limits` of the facts below. They change when a GPU is lost. */
ics_batch_limits ics_device_batch_limits(const ics_device *device);
/* Gives the device a batch of at most `steps` steps and `most_photons` photons of the limits.
 * Returns false if the device holds as many batches as it can: another must come back first. One
 * thread at a time may call it. */
bool ics_device_submit(ics_device *device, ics_batch *batch);

/* While the device holds no batch: adds the parts of the table that the members have to
 * options->table, and empties these parts. Call it before the table is read; more batches may
 * follow. After an error the table must not be used. ICESTREAM_E_FAILED: a GPU was lost with its
 * part, or a sum is too large; ICESTREAM_E_MEMORY. */
int ics_device_finish_table(ics_device *device, icestream_error *error);

/* ---- facts ----------------------------------------------------------------------------------- */

/* What the device uses and what it has done. After the first batch has come back, only `usage`
 * changes, unless a member is lost. For a group with several GPUs: the values of the first GPU that
 * is not lost, `usage` of all GPUs together, and `limits` that all members accept. */
typedef struct ics_device_facts {
    bool is_gpu;              /* GPUs compute; false once all GPUs are lost and the CPU continues */
    uint32_t members;         /* devices that were asked for */
    uint32_t gpus;            /* GPUs that are not lost */
    char name[256];           /* "cpu", "NVIDIA H100", or "2 GPUs: NAME (GPU 0), ..." */
    char first_name[256];     /* the name when the device was created */
    ics_schedule schedule;    /* AUTO: not chosen yet */
    ics_maths_used maths;     /* maths of the photons that the device computes now */
    uint32_t threads;         /* threads that compute photons, or that make hits for a GPU */
    uint32_t pool;            /* photon slots: of one CPU thread, or of all lanes of a GPU */
    char instruction_set[16]; /* instruction set of the CPU; "" with a GPU */
    ics_batch_limits limits;
    ics_gpu_options gpu; /* the options of a GPU that are in force */
    ics_gpu_usage usage; /* usage of the GPUs, lost ones included; zeros without a GPU */
} ics_device_facts;
/* Any thread. */
void ics_device_facts_of(const ics_device *device, ics_device_facts *out);

/* What one member of the device does. */
typedef struct ics_device_member_facts {
    char name[256]; /* "cpu", or the name of the GPU; "GPU 3" if it could not be started */
    bool is_gpu;
    int ordinal;               /* number of a GPU; else -1 */
    bool alive;                /* false: the member is lost */
    uint64_t batches, photons; /* computed */
    double seconds;            /* time in which the device had at least one batch (s) */
    double photons_per_second; /* rate of the last seconds, or an assumed value */
    uint32_t held;             /* batches that it holds now */
} ics_device_member_facts;
/* Members keep their index. Lost members stay in the list; a CPU that continues for lost GPUs is
 * added at the end. Returns false if there is no member with this index. Any thread. */
bool ics_device_member_facts_of(const ics_device *device, uint32_t index,
                                ics_device_member_facts *out);

/* Writes one line about the device into `buffer`, such as "cpu, 2 threads, avx512, wavefront
 * schedule". Returns buffer. */
const char *ics_device_text(const ics_device *device, char *buffer, size_t size);

/* ---- notes ----------------------------------------------------------------------------------- */

/* All notes so far, one per line. */
typedef struct ics_device_notes {
    char choice[4096];   /* how schedule AUTO was decided */
    char warnings[4096]; /* requests that could not be fulfilled, lost members */
} ics_device_notes;
void ics_device_notes_of(const ics_device *device, ics_device_notes *out);
/* Copies the next line that this function has not returned yet, with "warning: " before a warning.
 * Returns false if there is none. Any thread. */
bool ics_device_next_note(ics_device *device, char *line, size_t size);

#endif
