/* For files_crossed.sh: notes which functions each thread enters. It is linked into a program that
 * was compiled with -finstrument-functions. At the end it writes "THREAD FUNCTION" for each of them
 * to the file $FILES_CROSSED, in the order of first entries; THREAD is 0 for the main thread, and
 * FUNCTION an address. */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { ENTRIES = 1 << 16, THREADS = 64 };

static _Atomic uintptr_t seen[ENTRIES]; /* a hash table: function * THREADS + thread, 0: free */
static uintptr_t order[ENTRIES];        /* the same, in their order */
static atomic_size_t count;
static atomic_uint threads;
static _Thread_local unsigned thread = ~0u;

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

void __cyg_profile_func_enter(void *function, void *site)
{
    (void)site;
    if (thread == ~0u) {
        thread = atomic_fetch_add(&threads, 1);
    }
    const uintptr_t entry = (uintptr_t)function * THREADS + thread % THREADS;
    for (size_t i = entry * 0x9e3779b97f4a7c15u >> 48;; i = (i + 1) % ENTRIES) {
        uintptr_t found = 0;
        if (atomic_compare_exchange_strong(&seen[i], &found, entry)) {
            order[atomic_fetch_add(&count, 1)] = entry;
            return;
        }
        if (found == entry) {
            return;
        }
    }
}

void __cyg_profile_func_exit(void *function, void *site)
{
    (void)function, (void)site;
}

__attribute__((destructor)) static void write_entries(void)
{
    const char *path = getenv("FILES_CROSSED");
    FILE *file = path != NULL ? fopen(path, "w") : NULL;
    if (file == NULL) {
        return;
    }
    for (size_t i = 0; i < atomic_load(&count); ++i) {
        fprintf(file, "%zu %#zx\n", (size_t)(order[i] % THREADS), (size_t)(order[i] / THREADS));
    }
    fclose(file);
}
