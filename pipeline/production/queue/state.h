/* The state of the claims of a queue, private to pipeline/production/queue: a list of the claims,
 * with the number that the broker gave each ticket. A lost claim stays in the list until its owner
 * ends it. All functions here expect that the caller holds the mutex
 * (pipeline/production/spool/claims.c).
 */
#ifndef ICS_PRODUCTION_QUEUE_STATE_H
#define ICS_PRODUCTION_QUEUE_STATE_H

#include "pipeline/production/queue/claims.h"
#include "pipeline/production/queue/scripts.h"
#include "pipeline/production/queue/steps.h"

#include <jansson.h>
#include <pthread.h>

typedef struct ics_queue_held {
    uint64_t number; /* ics_claim.ticket */
    char id[ICS_TICKET_ID_MAX];
    char *name;
    char *own_path; /* a step file in the folder of this process; NULL: there is none */
    bool lost;
} ics_queue_held;

typedef struct ics_queue_claims {
    pthread_mutex_t mutex; /* for everything below */
    ics_queue_link *link;
    char *worker, *about; /* about: host and process, for people and for status.c */
    char nonce[128];      /* distinguishes processes of one name */
    char lease_ms[24];
    ics_queue_steps_folders folders;
    double lease;   /* s */
    double looked;  /* ics_clock_seconds() of the last look for lost workers (s) */
    double renewed; /* of the last heartbeat that the broker answered (s) */
    double asked;   /* of the last question of queue_holds() (s) */
    uint32_t attempts;
    char configuration[ICS_DIGEST_TEXT]; /* "": tickets for any */
    void (*note)(void *user, const char *line);
    void (*decline)(void *user, const icestream_error *why);
    void *user;
    ics_queue_held *held;
    size_t held_count, held_capacity;
    uint64_t tickets;
    icestream_error later; /* of a take that returned claims */
    json_t *declined;      /* an object with the numbers of the tickets that were reported */
} ics_queue_claims;

/* Calls the note of the options. Control characters of texts from outside become visible. */
void ics_queue_say(const ics_queue_claims *queue, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Begins the call of a script, with the worker as its first argument. */
void ics_queue_begin(const ics_queue_claims *queue, ics_queue_script script,
                     ics_queue_command *out);
/* Calls a script. A broker that was started again without its data has lost the consumer group,
 * which is made again with a note. As ics_queue_link_call. */
int ics_queue_call(ics_queue_claims *queue, const ics_queue_command *command, redisReply **out,
                   icestream_error *error);
/* The same for a script that returns a number. */
int ics_queue_call_number(ics_queue_claims *queue, const ics_queue_command *command, long long *out,
                          icestream_error *error);
/* Moves a ticket to the dead letters. *was 0: it is done. */
int ics_queue_bury(ics_queue_claims *queue, const char *id, uint32_t attempt, const char *reason,
                   long long *was, icestream_error *error);
/* Gives a ticket back to the queue, as one that `attempts` workers have begun; `pauses`: workers
 * can claim it a lease later. *was 0: it is lost. */
int ics_queue_give_back(ics_queue_claims *queue, const char *id, uint32_t attempts, bool pauses,
                        long long *was, icestream_error *error);
/* The same for a ticket that this worker cannot use: workers can claim it a lease later, and the
 * attempt does not count. *workers: how many have declined it. Once these are `attempts` of the
 * options, the claim stays. */
int ics_queue_decline(ics_queue_claims *queue, const char *id, uint32_t attempt, long long *workers,
                      icestream_error *error);

/* NULL: it is not in the list. */
ics_queue_held *ics_queue_find(const ics_queue_claims *queue, const ics_claim *claim);
/* One that is not lost, if there is one. */
ics_queue_held *ics_queue_find_id(const ics_queue_claims *queue, const char *id);
bool ics_queue_has_name(const ics_queue_claims *queue, const char *name);
/* Removes a claim from the list, and its step file from the own folder. */
void ics_queue_forget(ics_queue_claims *queue, ics_queue_held *held);
/* Adds a claim with the next number to the list; the caller fills in the rest. */
ics_queue_held *ics_queue_hold(ics_queue_claims *queue);

/* ---- queue/reserve.c: ics_claims_take() */
int ics_queue_claim(ics_queue_claims *queue, size_t most, ics_claim *out, size_t *count,
                    icestream_error *error);

#endif
