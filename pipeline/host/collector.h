/* The hits of one file on their way to the writer: sorted runs come in, one sorted sequence goes
 * out, whatever the size of the file, in bounded memory. */
#ifndef IS_COLLECTOR_H
#define IS_COLLECTOR_H

#include "pipeline/icestream.h"

#include <stdatomic.h>

/* Memory that collectors share, also those of several threads, bytes. */
typedef struct is_hit_budget {
    atomic_size_t used;
    size_t limit;
} is_hit_budget;

typedef struct is_collector is_collector;

/* `directory`: where a temporary file without a name may be put when the budget is used up; with
 * NULL, TMPDIR or /tmp. The budget must outlive the collector. IS_E_MEMORY. */
int is_collector_create(is_hit_budget *budget, const char *directory, is_collector **out,
                        is_error *error);
/* Frees hits and temporary file. Accepts NULL. */
void is_collector_destroy(is_collector *collector);

/* Takes over one run of hits (from malloc, sorted by is_hit_order), also when it fails. When the
 * budget is exceeded, all runs in memory go to the temporary file as one. IS_E_MEMORY: the run is
 * lost. IS_E_OUTPUT: the temporary file cannot be written, errno says why; all hits are kept in
 * memory, and the next call, also one with 0 hits, tries again. */
int is_collector_add(is_collector *collector, is_hit *hits, size_t count, is_error *error);

/* Takes over all hits of another collector that shares the budget; `from` is empty afterwards. On
 * failure both are as they were: IS_E_MEMORY; IS_E_OUTPUT: the temporary files cannot be read or
 * written, errno says why. Does not look at the budget: is_collector_add with 0 hits does. */
int is_collector_take(is_collector *collector, is_collector *from, is_error *error);

/* Hits so far. */
uint64_t is_collector_count(const is_collector *collector);

/* Takes sorted hits in portions; 0, or a status that ends the merge. */
typedef int (*is_hits_receiver)(void *user, const is_hit *hits, size_t count, is_error *error);

/* Gives all hits to the receiver in the order of is_hit_order. The collector keeps them: where the
 * receiver could not write them, it may be given them again. IS_E_MEMORY, IS_E_OUTPUT: the
 * temporary file cannot be read; IS_E_INTERRUPTED: *cancel (may be NULL) became true; or what the
 * receiver returned. */
int is_collector_merge(is_collector *collector, is_hits_receiver receive, void *user,
                       const atomic_bool *cancel, is_error *error);

#endif
