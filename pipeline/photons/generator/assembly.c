#include "pipeline/photons/generator/assembly.h"

#include "base/container.h"
#include "base/error.h"
#include "base/queue.h"
#include "pipeline/photons/devices/workers.h"

#include <pthread.h>
#include <stdlib.h>

/* Number of blocks: of a single thread; the least and the most (64 MiB) of several threads, which
 * get one more for every THREADS_PER_BLOCK threads. */
enum { BLOCKS_ALONE = 1, BLOCKS_LEAST = 3, BLOCKS_MOST = 16, THREADS_PER_BLOCK = 8 };

/* A planned piece. Its steps begin at steps[first] of the block. */
typedef struct piece {
    STAILQ_ENTRY(piece) link; /* entry of `free` or of `to_make` */
    uint64_t number;          /* counts pieces in the order of planning */
    uint64_t block;           /* number of the block */
    uint32_t first;
    void *plan; /* [piece_bytes] */
} piece;

typedef STAILQ_HEAD(piece_queue, piece) piece_queue;

typedef struct block {
    icestream_step *steps; /* [ICS_ASSEMBLY_BLOCK] */
    size_t count;          /* planned steps */
    uint32_t open;         /* planned pieces that are not made yet */
    bool closed;           /* no more pieces will be planned in this block */
    icestream_error error; /* the first error in the order of pieces; ICESTREAM_OK: none */
    uint64_t failed;       /* the number of the piece of that error */
} block;

typedef enum task { NOTHING, WRITE, PLAN, MAKE } task;

typedef struct assembly {
    const ics_assembly *work;
    block *blocks; /* [block_count]; block number n is at index n % block_count */
    uint32_t block_count;
    piece *pieces; /* [piece_count] */
    unsigned char *plans;

    pthread_mutex_t lock;
    pthread_cond_t changed; /* signalled if there is a task, or if the work has ended */
    /* The lock protects all members below. The plan and the steps of a piece belong to the thread
     * that plans or makes the piece, the steps of a block to the thread that writes the block. */
    piece_queue free, to_make; /* pieces without a plan; planned pieces that wait */
    uint64_t written, planned; /* numbers of the next block to write and of the block in planning */
    uint64_t next_piece;       /* number of the next piece */
    bool writing, planning;    /* a thread is writing or planning now */
    bool failed;               /* a piece could not be made */
    bool all_planned;          /* the last block is closed, or will be by the planning thread */
    bool ended;                /* the work has ended; all threads stop */
    icestream_error *error;    /* the error of the caller */
    int status;
} assembly;

static block *block_of(assembly *team, uint64_t number)
{
    return &team->blocks[number % team->block_count];
}

/* ---- tasks ----------------------------------------------------------------------------------- */

static task find_task(assembly *team)
{
    const block *oldest = block_of(team, team->written);
    if (team->ended) {
        return NOTHING;
    }
    if (!team->writing && oldest->closed && oldest->open == 0) {
        return WRITE;
    }
    if (!team->planning && !team->all_planned && !STAILQ_EMPTY(&team->free) &&
        team->planned - team->written < team->block_count) {
        return PLAN;
    }
    return STAILQ_EMPTY(&team->to_make) ? NOTHING : MAKE;
}

/* Wakes one more thread if there is another task. A thread calls this when it begins a task, and
 * looks for the next task when it has finished one. So no thread sleeps while there is a task. */
static void wake_another(assembly *team)
{
    if (find_task(team) != NOTHING) {
        pthread_cond_signal(&team->changed);
    }
}

static void end_all(assembly *team, int status)
{
    team->status = status;
    team->ended = true;
    pthread_cond_broadcast(&team->changed);
}

/* ---- doing a task: the caller holds the lock, before and after ------------------------------- */

/* Stores an error unless the block has an error of an earlier piece. */
static void note_error(block *where, uint64_t number, const icestream_error *error)
{
    if (where->error.status == ICESTREAM_OK || number < where->failed) {
        ics_error_copy(&where->error, error);
        where->failed = number;
    }
}

static void write_block(assembly *team)
{
    block *done = block_of(team, team->written);
    int status = done->error.status;
    if (status != ICESTREAM_OK) {
        ics_error_copy(team->error, &done->error);
    }
    team->writing = true;
    wake_another(team);
    pthread_mutex_unlock(&team->lock);
    /* If there are no steps at all, the first block is written as an empty message. */
    if (status == ICESTREAM_OK && (done->count > 0 || team->written == 0)) {
        status = team->work->write(team->work->user, done->steps, done->count, team->error);
    }
    pthread_mutex_lock(&team->lock);
    team->writing = false;
    done->count = 0;
    done->closed = false;
    ++team->written;
    if (status != ICESTREAM_OK || (team->all_planned && team->written == team->planned)) {
        end_all(team, status);
    }
}

/* Appends a planned piece to the queue of pieces to be made. An empty piece becomes free again. */
static void queue_piece(assembly *team, block *into, piece *planned, uint32_t count)
{
    if (count == 0) {
        STAILQ_INSERT_HEAD(&team->free, planned, link);
        return;
    }
    into->count += count;
    ++into->open;
    STAILQ_INSERT_TAIL(&team->to_make, planned, link);
}

static void close_block(assembly *team, block *full)
{
    full->closed = true;
    ++team->planned;
}

static void plan_piece(assembly *team)
{
    icestream_error error = {.status = ICESTREAM_OK};
    block *into = block_of(team, team->planned);
    piece *next = ICS_QUEUE_TAKE(&team->free, link);
    const size_t room = ICS_ASSEMBLY_BLOCK - into->count;
    const uint32_t most = room < ICS_ASSEMBLY_PIECE ? (uint32_t)room : ICS_ASSEMBLY_PIECE;
    uint32_t count = 0;
    team->planning = true;
    next->number = team->next_piece++;
    next->block = team->planned;
    next->first = (uint32_t)into->count;
    wake_another(team);
    pthread_mutex_unlock(&team->lock);
    int status = team->work->plan(team->work->user, most, next->plan, &count, &error);
    pthread_mutex_lock(&team->lock);
    team->planning = false;
    queue_piece(team, into, next, count);
    if (status != ICESTREAM_OK) {
        note_error(into, team->next_piece++, &error);
    }
    team->all_planned = status != ICESTREAM_OK || count == 0 || team->failed;
    if (team->all_planned || into->count == ICS_ASSEMBLY_BLOCK) {
        close_block(team, into);
    }
}

/* Stores the error of a piece and stops planning, because the list of particles may be a pipe that
 * is open for a long time. If a thread is planning now, it closes the last block afterwards. */
static void fail_piece(assembly *team, block *into, uint64_t number, const icestream_error *error)
{
    note_error(into, number, error);
    team->failed = true;
    if (team->planning || team->all_planned) {
        return;
    }
    team->all_planned = true;
    if (team->planned - team->written < team->block_count) {
        close_block(team, block_of(team, team->planned));
    }
}

static void make_piece(assembly *team)
{
    icestream_error error = {.status = ICESTREAM_OK};
    piece *made = ICS_QUEUE_TAKE(&team->to_make, link);
    block *into = block_of(team, made->block);
    wake_another(team);
    pthread_mutex_unlock(&team->lock);
    int status = team->work->make(team->work->user, made->plan, into->steps + made->first, &error);
    pthread_mutex_lock(&team->lock);
    if (status != ICESTREAM_OK) {
        fail_piece(team, into, made->number, &error);
    }
    --into->open;
    STAILQ_INSERT_HEAD(&team->free, made, link);
}

/* Does tasks until the work has ended. */
static void work_on(assembly *team)
{
    pthread_mutex_lock(&team->lock);
    while (!team->ended) {
        switch (find_task(team)) {
        case WRITE:
            write_block(team);
            break;
        case PLAN:
            plan_piece(team);
            break;
        case MAKE:
            make_piece(team);
            break;
        case NOTHING:
            pthread_cond_wait(&team->changed, &team->lock);
        }
    }
    pthread_mutex_unlock(&team->lock);
}

/* ---- threads --------------------------------------------------------------------------------- */

typedef struct member {
    ics_job job;
    assembly *team;
} member;

static void run_member(ics_job *job, void *thread_state)
{
    (void)thread_state;
    work_on(ICS_CONTAINER_OF(job, member, job)->team);
}

/* Works on the caller's thread and on `others` more threads. */
static int run_team(assembly *team, uint32_t others, icestream_error *error)
{
    ics_workers *workers = NULL;
    member *members = calloc(others + 1, sizeof *members);
    if (members == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for %u threads", others);
    }
    int status = ICESTREAM_OK;
    if (others > 0) {
        status =
            ics_workers_create("generate", others, others, NULL, (ics_post){0}, &workers, error);
    }
    if (status == ICESTREAM_OK) {
        for (uint32_t i = 0; i < others; ++i) {
            members[i] = (member){.job.run = run_member, .team = team};
            (void)ics_workers_submit(workers, &members[i].job); /* there is room for all */
        }
        work_on(team);
        ics_workers_destroy(workers);
        status = team->status;
    }
    free(members);
    return status;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void free_team(assembly *team)
{
    for (uint32_t i = 0; team->blocks != NULL && i < team->block_count; ++i) {
        free(team->blocks[i].steps);
    }
    free(team->blocks);
    free(team->pieces);
    free(team->plans);
}

static bool allocate_team(assembly *team, uint32_t threads)
{
    const uint32_t wanted = BLOCKS_LEAST + threads / THREADS_PER_BLOCK;
    /* For each thread one piece that it makes, and one that waits. */
    const uint32_t pieces = 2 * threads;
    team->block_count = threads == 1 ? BLOCKS_ALONE : wanted < BLOCKS_MOST ? wanted : BLOCKS_MOST;
    team->blocks = calloc(team->block_count, sizeof *team->blocks);
    team->pieces = calloc(pieces, sizeof *team->pieces);
    team->plans = calloc(pieces, team->work->piece_bytes);
    if (team->blocks == NULL || team->pieces == NULL || team->plans == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < pieces; ++i) {
        team->pieces[i].plan = team->plans + i * team->work->piece_bytes;
        STAILQ_INSERT_HEAD(&team->free, &team->pieces[i], link);
    }
    for (uint32_t i = 0; i < team->block_count; ++i) {
        team->blocks[i].steps = calloc(ICS_ASSEMBLY_BLOCK, sizeof(icestream_step));
        if (team->blocks[i].steps == NULL) {
            return false;
        }
    }
    return true;
}

int ics_assembly_run(const ics_assembly *work, uint32_t threads, icestream_error *error)
{
    assembly team = {.work = work, .error = error};
    STAILQ_INIT(&team.free);
    STAILQ_INIT(&team.to_make);
    if (!allocate_team(&team, threads)) {
        free_team(&team);
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for steps on %u threads",
                             threads);
    }
    pthread_mutex_init(&team.lock, NULL);
    pthread_cond_init(&team.changed, NULL);
    int status = run_team(&team, threads - 1, error);
    pthread_cond_destroy(&team.changed);
    pthread_mutex_destroy(&team.lock);
    free_team(&team);
    return status;
}
