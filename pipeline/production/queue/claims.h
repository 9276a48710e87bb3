/* Claims of the tickets of a queue: a second backend of pipeline/production/spool/claims.h. Workers
 * share no folder: the broker of the queue decides which worker has a ticket (docs/queue.md). */
#ifndef ICS_PRODUCTION_QUEUE_CLAIMS_H
#define ICS_PRODUCTION_QUEUE_CLAIMS_H

#include "pipeline/production/queue/address.h"
#include "pipeline/production/spool/claims.h"

#include <stdatomic.h>

/* Texts need not outlive the call, except `allow`, `stop`, `cancel` and `user`. */
typedef struct ics_queue_claims_options {
    ics_queue_login login;
    const char *worker; /* as in ics_claims_options */
    const char *folder; /* an own folder of this process, for step files that come in tickets and
                           for those that are fetched */
    const char *files;  /* the folder in which step files with the URL file:///PATH must be; NULL:
                           such tickets are declined */
    char *const *allow; /* [allow_count] prefixes of URLs (ics_url_is_below); the tickets of other
                           URLs are refused. None: any URL. Files in `files` need no prefix */
    size_t allow_count;
    bool fetches;    /* whether a program fetches step files of other URLs; false: this process
                        fetches nothing, and such tickets are declined */
    bool shows_urls; /* whether the command line of that program has the URL. Then URLs that may
                        have a secret are declined */
    const char
        *configuration; /* digest of the configuration. A ticket for another one is declined */
    double lease;       /* s, as in ics_claims_options */
    uint32_t attempts;  /* as in ics_claims_options */
    /* Once one of these is true, a broker that does not answer is waited for only shortly, and
     * after the first call in vain no more. NULL: never. */
    const atomic_bool *stop, *cancel;
    void (*note)(void *user, const char *line); /* as in ics_claims_options */
    /* Called for each ticket that this run cannot use, and another one may: a worker can claim it
     * after a lease, and after `attempts` of these it is refused. NULL: not reported. */
    void (*decline)(void *user, const icestream_error *why);
    void *user;
} ics_queue_claims_options;

/* The options that stand in the configuration, with `note` and `user`; the others are zeros. They
 * point into the configuration. */
ics_queue_claims_options ics_queue_claims_options_of(const icestream_config *config,
                                                     void (*note)(void *user, const char *line),
                                                     void *user);

/* Checks the address, the password's file and, where this program has no hiredis, says so. Does not
 * connect. ICESTREAM_E_CONFIG. */
int ics_queue_check(const ics_queue_login *login, icestream_error *error);

/* Connects, and makes the consumer group unless it is there. Errors: ICESTREAM_E_CONFIG,
 * ICESTREAM_E_OUTPUT and ICESTREAM_E_FAILED as ics_queue_link_call; ICESTREAM_E_FAILED: a living
 * process has this worker's name. */
int ics_queue_claims_create(const ics_queue_claims_options *options, ics_claims *out,
                            icestream_error *error);

#endif
