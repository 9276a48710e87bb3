#include "base/parts.h"

#include "base/processors.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

typedef struct part {
    void (*function)(void *user, size_t part);
    void *user;
    size_t index;
    pthread_t thread;
    bool is_begun; /* the thread was started */
} part;

size_t ics_parts_count(size_t items, size_t least)
{
    const size_t processors = ics_processors_count();
    size_t count = items / least;
    count = count < processors ? count : processors;
    count = count < ICS_PARTS_MAX ? count : ICS_PARTS_MAX;
    return count > 0 ? count : 1;
}

static void *do_part(void *user)
{
    const part *self = user;
    self->function(self->user, self->index);
    return NULL;
}

void ics_parts_run(size_t count, void (*function)(void *user, size_t part), void *user)
{
    part parts[ICS_PARTS_MAX];
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* threads inherit the mask */
    for (size_t i = 0; i < count; ++i) {
        parts[i] = (part){.function = function, .user = user, .index = i};
        parts[i].is_begun =
            i > 0 && pthread_create(&parts[i].thread, NULL, do_part, &parts[i]) == 0;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    for (size_t i = 0; i < count; ++i) {
        if (!parts[i].is_begun) {
            function(user, i);
        }
    }
    for (size_t i = 0; i < count; ++i) {
        if (parts[i].is_begun) {
            pthread_join(parts[i].thread, NULL);
        }
    }
}
