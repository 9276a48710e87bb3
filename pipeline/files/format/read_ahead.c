#include "pipeline/files/format/read_ahead.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

enum { PIECE_BYTES = 256 << 10, PIECES = 4 };

typedef struct piece {
    unsigned char *bytes; /* [PIECE_BYTES] */
    size_t size;
    int cause;
} piece;

struct ics_read_ahead {
    int descriptor;
    uint64_t offset; /* of the next piece that is read */
    unsigned char *memory;
    piece pieces[PIECES];
    uint64_t read, given; /* number of pieces; the last one that was given is still in use */
    bool is_ended;        /* nobody wants more */
    pthread_mutex_t lock; /* of the three above, and of the pieces between them */
    pthread_cond_t changed;
    pthread_t thread;
    bool has_thread;
};

static void read_piece(ics_read_ahead *ahead, piece *next)
{
    const ssize_t count = TEMP_FAILURE_RETRY(
        pread(ahead->descriptor, next->bytes, PIECE_BYTES, (off_t)ahead->offset));
    next->cause = count < 0 ? errno : 0;
    next->size = count > 0 ? (size_t)count : 0;
    ahead->offset += next->size;
}

/* Waits for a piece whose memory is free. NULL: no more are wanted. */
static piece *await_free_piece(ics_read_ahead *ahead)
{
    piece *free_piece = NULL;
    pthread_mutex_lock(&ahead->lock);
    /* One piece less than there are, because the one that was given last is in use. */
    while (ahead->read - ahead->given >= PIECES - 1 && !ahead->is_ended) {
        pthread_cond_wait(&ahead->changed, &ahead->lock);
    }
    if (!ahead->is_ended) {
        free_piece = &ahead->pieces[ahead->read % PIECES];
    }
    pthread_mutex_unlock(&ahead->lock);
    return free_piece;
}

static void *read_all(void *user)
{
    ics_read_ahead *ahead = user;
    bool goes_on = true;
    while (goes_on) {
        piece *next = await_free_piece(ahead);
        if (next == NULL) {
            break;
        }
        read_piece(ahead, next);
        goes_on = next->size > 0;
        pthread_mutex_lock(&ahead->lock);
        ++ahead->read;
        pthread_cond_signal(&ahead->changed);
        pthread_mutex_unlock(&ahead->lock);
    }
    return NULL;
}

/* Signals are for other threads. */
static bool start_quietly(ics_read_ahead *ahead)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failure = pthread_create(&ahead->thread, NULL, read_all, ahead);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failure == 0;
}

ics_read_ahead *ics_read_ahead_begin(int descriptor, uint64_t offset)
{
    ics_read_ahead *ahead = calloc(1, sizeof *ahead);
    if (ahead == NULL) {
        return NULL;
    }
    ahead->memory = malloc((size_t)PIECES * PIECE_BYTES);
    if (ahead->memory == NULL) {
        free(ahead);
        return NULL;
    }
    for (size_t i = 0; i < PIECES; ++i) {
        ahead->pieces[i].bytes = ahead->memory + i * PIECE_BYTES;
    }
    ahead->descriptor = descriptor;
    ahead->offset = offset;
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->changed, NULL);
    ahead->has_thread = start_quietly(ahead);
    return ahead;
}

int ics_read_ahead_next(ics_read_ahead *ahead, const unsigned char **bytes, size_t *size)
{
    piece *next = &ahead->pieces[ahead->given % PIECES];
    if (!ahead->has_thread) {
        read_piece(ahead, next);
    } else {
        pthread_mutex_lock(&ahead->lock);
        while (ahead->read == ahead->given) {
            pthread_cond_wait(&ahead->changed, &ahead->lock);
        }
        ++ahead->given; /* frees the memory of the piece before */
        pthread_cond_signal(&ahead->changed);
        pthread_mutex_unlock(&ahead->lock);
    }
    *bytes = next->bytes;
    *size = next->size;
    return next->cause;
}

void ics_read_ahead_end(ics_read_ahead *ahead)
{
    if (ahead == NULL) {
        return;
    }
    if (ahead->has_thread) {
        pthread_mutex_lock(&ahead->lock);
        ahead->is_ended = true;
        pthread_cond_signal(&ahead->changed);
        pthread_mutex_unlock(&ahead->lock);
        pthread_join(ahead->thread, NULL);
    }
    pthread_cond_destroy(&ahead->changed);
    pthread_mutex_destroy(&ahead->lock);
    free(ahead->memory);
    free(ahead);
}
