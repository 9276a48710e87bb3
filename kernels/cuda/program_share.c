#include "kernels/cuda/program_share.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A run needs one program, or one for each candidate of schedule AUTO. If there are more, the
 * others are made again where they are needed. */
enum { PROGRAMS_MAX = 32 };

typedef enum share_state { SHARE_FREE, SHARE_IN_WORK, SHARE_DONE } share_state;

typedef struct shared_program {
    share_state state;
    char key[65];
    ics_program program;
} shared_program;

/* The process keeps the programs until it ends. */
static shared_program programs[PROGRAMS_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* Copies image and kernels, too. Returns false if memory is short. */
static bool copy_program(const ics_program *from, ics_program *to)
{
    ics_program copy = *from;
    copy.image = malloc(from->bytes);
    copy.kernels = calloc(from->kernel_count + 1, sizeof *copy.kernels);
    if (copy.image == NULL || copy.kernels == NULL) {
        free(copy.image);
        free(copy.kernels);
        return false;
    }
    memcpy(copy.image, from->image, from->bytes);
    memcpy(copy.kernels, from->kernels, from->kernel_count * sizeof *copy.kernels);
    *to = copy;
    return true;
}

/* The entry of a program; NULL: none. The caller holds the lock. */
static shared_program *find(const char *key)
{
    for (int i = 0; i < PROGRAMS_MAX; ++i) {
        if (programs[i].state != SHARE_FREE && strcmp(programs[i].key, key) == 0) {
            return &programs[i];
        }
    }
    return NULL;
}

bool ics_program_share_begin(const char key[65], ics_program *program)
{
    bool filled = false;
    pthread_mutex_lock(&lock);
    shared_program *entry;
    while ((entry = find(key)) != NULL && entry->state == SHARE_IN_WORK) {
        pthread_cond_wait(&changed, &lock);
    }
    if (entry != NULL) {
        filled = copy_program(&entry->program, program);
    }
    for (int i = 0; entry == NULL && i < PROGRAMS_MAX; ++i) {
        if (programs[i].state == SHARE_FREE) {
            entry = &programs[i];
            entry->state = SHARE_IN_WORK;
            memcpy(entry->key, key, sizeof entry->key);
        }
    }
    pthread_mutex_unlock(&lock);
    return filled;
}

void ics_program_share_end(const char key[65], const ics_program *program)
{
    pthread_mutex_lock(&lock);
    shared_program *entry = find(key);
    if (entry != NULL && entry->state == SHARE_IN_WORK) {
        const bool kept = program != NULL && copy_program(program, &entry->program);
        entry->state = kept ? SHARE_DONE : SHARE_FREE;
    }
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}
