/* Steps that several threads make, block by block (pipeline/photons/generator/assembly.h).
 *
 * Promises: blocks come in order and complete, at any number of threads; planning runs ahead only
 * by the fixed number of blocks; of several errors the one of the earliest step counts. To join: a
 * `factory` describes the work and the faults to inject; start it in a new test with several
 * numbers of threads.
 */
#include "base/error.h"
#include "pipeline/photons/generator/assembly.h"
#include "tests/support/test_main.h"
#include "tests/support/threads.h"

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = ICS_ASSEMBLY_BLOCK, NEVER = 0x7fffffff };

/* Steps that are numbered, in pieces of uneven lengths. */
typedef struct factory {
    uint32_t steps;      /* to be planned */
    uint32_t plan_fault; /* step at which planning ends with an error, or NEVER */
    uint32_t bad[2];     /* steps that cannot be made */
    uint32_t write_fault;
    uint32_t piece; /* length, at most */
    /* filled in during the work */
    uint32_t planned, blocks;
    atomic_uint planning, writing; /* number of threads inside plan() and inside write_steps() */
    atomic_uint written;           /* steps */
    uint32_t ahead;                /* largest number of steps that were planned and not written */
    uint32_t stall;                /* the first write waits until this number of steps is planned */
    uint32_t others;               /* threads besides that of the caller, if the write waits */
    pthread_mutex_t lock;
    uint64_t sum; /* of the numbers of the written steps */
} factory;

typedef struct numbered {
    uint32_t first, count;
} numbered;

static int plan(void *user, uint32_t most, void *out, uint32_t *count, icestream_error *error)
{
    factory *f = user;
    ck_assert_uint_eq(atomic_fetch_add(&f->planning, 1), 0);
    ck_assert_uint_gt(most, 0);
    ck_assert_uint_le(most, ICS_ASSEMBLY_PIECE);
    uint32_t length = f->piece - f->planned % 7 % f->piece;
    uint32_t end = f->planned + (length < most ? length : most);
    int status = ICESTREAM_OK;
    if (end > f->steps) {
        end = f->steps;
    }
    pthread_mutex_lock(&f->lock);
    if (end > f->plan_fault) {
        end = f->plan_fault;
        status = ics_error_set(error, ICESTREAM_E_CONFIG, "plan %u", f->plan_fault);
    }
    *count = end - f->planned;
    *(numbered *)out = (numbered){f->planned, *count};
    f->planned = end;
    if (end - atomic_load(&f->written) > f->ahead) {
        f->ahead = end - atomic_load(&f->written);
    }
    pthread_mutex_unlock(&f->lock);
    atomic_fetch_sub(&f->planning, 1);
    return status;
}

static int make(void *user, const void *piece, icestream_step *out, icestream_error *error)
{
    const factory *f = user;
    const numbered *what = piece;
    for (uint32_t i = 0; i < what->count; ++i) {
        const uint32_t number = what->first + i;
        if (number == f->bad[0] || number == f->bad[1]) {
            return ics_error_set(error, ICESTREAM_E_CONFIG, "make %u", number);
        }
        out[i] = (icestream_step){.step_id = number};
    }
    return ICESTREAM_OK;
}

/* Waits until the other threads have planned as far as they may. */
static void wait_for_rest(factory *f)
{
    enum { TRIES = 30000 };
    uint32_t planned = 0;
    for (int tries = 0; planned < f->stall && tries < TRIES; ++tries) {
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        pthread_mutex_lock(&f->lock);
        planned = f->planned;
        pthread_mutex_unlock(&f->lock);
    }
    ck_assert_uint_ge(planned, f->stall);
    if (f->stall > 0) {
        ck_assert_uint_eq(threads_named("generate"), f->others);
    }
}

static int write_steps(void *user, const icestream_step *steps, size_t count,
                       icestream_error *error)
{
    factory *f = user;
    ck_assert_uint_eq(atomic_fetch_add(&f->writing, 1), 0);
    if (f->blocks == 0) {
        wait_for_rest(f);
    }
    const uint32_t written = atomic_load(&f->written);
    ck_assert_uint_eq(written,
                      f->blocks * (uint32_t)BLOCK); /* only the last block may be shorter */
    ck_assert_uint_le(count, BLOCK);
    ++f->blocks;
    size_t wrong = 0;
    for (size_t i = 0; i < count; ++i) {
        wrong += steps[i].step_id != written + i;
        f->sum += steps[i].step_id;
    }
    ck_assert_uint_eq(wrong, 0);
    atomic_store(&f->written, written + (uint32_t)count);
    atomic_fetch_sub(&f->writing, 1);
    if (written + count > f->write_fault) {
        return ics_error_set(error, ICESTREAM_E_OUTPUT, "write");
    }
    return ICESTREAM_OK;
}

static factory factory_of(uint32_t steps, uint32_t piece)
{
    return (factory){.steps = steps,
                     .piece = piece,
                     .plan_fault = NEVER,
                     .bad = {NEVER, NEVER},
                     .write_fault = NEVER,
                     .lock = PTHREAD_MUTEX_INITIALIZER};
}

static int assemble(factory *f, uint32_t threads, icestream_error *error)
{
    const ics_assembly work = {.user = f,
                               .piece_bytes = sizeof(numbered),
                               .plan = plan,
                               .make = make,
                               .write = write_steps};
    *error = (icestream_error){.status = ICESTREAM_OK};
    int status = ics_assembly_run(&work, threads, error);
    ck_assert_int_eq(error->status, status);
    ck_assert(threads_end("generate"));
    return status;
}

static const uint32_t teams[] = {1, 2, 3, 7, 20};
enum { TEAMS = sizeof teams / sizeof *teams };

START_TEST(in_order)
{
    static const uint32_t lengths[] = {0, 1, BLOCK, BLOCK + 1, 3 * BLOCK + 12345};
    icestream_error error;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
        for (size_t k = 0; k < TEAMS; ++k) {
            const uint32_t steps = lengths[i];
            factory f = factory_of(steps, k % 2 == 0 ? 100000 : 97);
            ck_assert_msg(assemble(&f, teams[k], &error) == ICESTREAM_OK, "%s", error.text);
            ck_assert_uint_eq(atomic_load(&f.written), steps);
            ck_assert_uint_eq(f.sum, (uint64_t)steps * (steps > 0 ? steps - 1 : 0) / 2);
            /* Only work without steps has an empty block. */
            ck_assert_uint_eq(f.blocks, steps == 0 ? 1 : (steps + BLOCK - 1) / BLOCK);
        }
    }
}
END_TEST

/* Of several errors, the error of the earliest step is returned, whichever happens first. */
START_TEST(first_error)
{
    icestream_error error;
    for (size_t k = 0; k < TEAMS; ++k) {
        for (int round = 0; round < 2; ++round) {
            factory f = factory_of(NEVER, 300);
            f.bad[0] = BLOCK + 500 + (uint32_t)round;
            f.bad[1] = f.bad[0] + 400;
            f.plan_fault = f.bad[0] + 401;
            ck_assert_int_eq(assemble(&f, teams[k], &error), ICESTREAM_E_CONFIG);
            char expected[32];
            snprintf(expected, sizeof expected, "make %u", f.bad[0]);
            ck_assert_str_eq(error.text, expected);
            ck_assert_uint_eq(atomic_load(&f.written), BLOCK); /* whole blocks before it */

            f = factory_of(NEVER, 300);
            f.plan_fault = BLOCK + (uint32_t)round;
            f.bad[0] = f.plan_fault + 1;
            ck_assert_int_eq(assemble(&f, teams[k], &error), ICESTREAM_E_CONFIG);
            snprintf(expected, sizeof expected, "plan %u", f.plan_fault);
            ck_assert_str_eq(error.text, expected);
            ck_assert_uint_eq(atomic_load(&f.written), BLOCK);

            /* An error of writing wins over errors of later steps. */
            f = factory_of(NEVER, 4096);
            f.write_fault = BLOCK + 1;
            f.bad[0] = 3 * BLOCK;
            ck_assert_int_eq(assemble(&f, teams[k], &error), ICESTREAM_E_OUTPUT);
            ck_assert_uint_eq(f.blocks, 2);
        }
    }
}
END_TEST

/* While the writer waits, the other threads stop planning. */
START_TEST(planning_waits_for_the_writer)
{
    for (size_t k = 0; k < TEAMS; ++k) {
        icestream_error error;
        const uint32_t blocks = teams[k] == 1 ? 1 : 3 + teams[k] / 8;
        factory f = factory_of(7 * BLOCK, 100000);
        f.others = teams[k] - 1;
        f.stall = blocks * BLOCK; /* the other threads plan this far, */
        ck_assert_msg(assemble(&f, teams[k], &error) == ICESTREAM_OK, "%s", error.text);
        ck_assert_uint_eq(f.ahead, blocks * BLOCK); /* and not farther */
        ck_assert_uint_eq(atomic_load(&f.written), 7 * BLOCK);
    }
}
END_TEST

ICS_TEST_MAIN("assembly")
{
    TCase *blocks = tcase_create("blocks");
    tcase_add_test(blocks, in_order);
    tcase_add_test(blocks, first_error);
    tcase_add_test(blocks, planning_waits_for_the_writer);
    suite_add_tcase(suite, blocks);
}
