/* Workers of a queue that compute nothing: how many tickets per second one broker gives out and
 * takes back, how long a claim takes, and whether the memory of workers grows. bench/claims.sh
 * starts the broker and this program:
 *
 *     bench_claims ADDRESS WORKERS TICKETS MOST BYTES FOLDER
 *
 * Each worker is a process with its connection. It claims up to MOST tickets with one call, ends
 * each of them with a call, and goes on until no ticket is left. BYTES 0: tickets have a URL;
 * otherwise they have steps of this size, which the worker writes into its own folder in FOLDER.
 * The filling of the queue is not measured. Prints a row in Markdown.
 */
#include "base/clock.h"
#include "base/error.h"
#include "pipeline/queue/queue_claims.h"
#include "pipeline/queue/queue_scripts.h"

#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    BINS = 2048,     /* of times; 100 for each factor of e, from 1 us on */
    PER_E = 100,     /* so a time is known to 1 % */
    CHUNK = 500,     /* tickets that one call adds */
    MOST_MAX = 256,  /* tickets of a claim */
    EARLY_PARTS = 10 /* the memory is read first after this part of the worker's tickets */
};

typedef struct bench_task {
    const char *address, *folder;
    uint64_t workers, tickets, most, bytes;
} bench_task;

/* What one worker found out; the parent reads it after the end of the worker. */
typedef struct findings {
    uint64_t claimed, finished, lost;
    uint64_t early_kib, late_kib; /* anonymous memory (KiB) */
    uint32_t claims[BINS], ends[BINS];
    double largest_claim, ended; /* s; ics_clock_seconds() */
} findings;

typedef struct shared {
    atomic_uint ready;
    atomic_bool go;
    findings of[];
} shared;

static void stop_if(int status, const icestream_error *error)
{
    if (status != ICESTREAM_OK) {
        fprintf(stderr, "%s\n", error->text);
        exit(1);
    }
}

static ics_queue_login login_of(const bench_task *task)
{
    return (ics_queue_login){.url = task->address, .key = "ADDRESS", .password_key = "no option"};
}

/* ---- the broker ------------------------------------------------------------------------------ */

/* Adds the tickets from `from` to `to`, both included. */
static void add_tickets(const bench_task *task, ics_queue_link *link, uint64_t from, uint64_t to,
                        const char *steps)
{
    static const char script[] =
        "for i = ARGV[1], ARGV[2] do redis.call('XADD', KEYS[1], '*', 'name', 'ticket' .. i .. "
        "'.steps.npy', ARGV[3], ARGV[4]) end return 1";
    ics_queue_command command = {.count = 0};
    icestream_error error = {.status = ICESTREAM_OK};
    redisReply *reply = NULL;
    char first[24], last[24];
    snprintf(first, sizeof first, "%" PRIu64, from);
    snprintf(last, sizeof last, "%" PRIu64, to);
    const char *const words[] = {"EVAL",
                                 script,
                                 "1",
                                 ics_queue_link_address(link)->stream,
                                 first,
                                 last,
                                 task->bytes > 0 ? "steps" : "url"};
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
        ics_queue_command_add(&command, words[i]);
    }
    if (task->bytes > 0) {
        ics_queue_command_add_bytes(&command, steps, task->bytes);
    } else {
        ics_queue_command_add(&command, "https://data.example.org/production/a.steps.npy");
    }
    stop_if(ics_queue_link_call(link, &command, &reply, &error), &error);
    freeReplyObject(reply);
}

static void fill(const bench_task *task, ics_queue_link *link)
{
    icestream_error error = {.status = ICESTREAM_OK};
    char *steps = calloc(1, task->bytes + 1);
    stop_if(ics_queue_make_group(link, &error), &error);
    for (uint64_t i = 1; i <= task->tickets; i += CHUNK) {
        const uint64_t last = i + CHUNK - 1;
        add_tickets(task, link, i, last < task->tickets ? last : task->tickets, steps);
    }
    free(steps);
}

/* A number of the broker's INFO. */
static double broker_number(ics_queue_link *link, const char *name)
{
    ics_queue_command command = {.count = 0};
    icestream_error error = {.status = ICESTREAM_OK};
    redisReply *reply = NULL;
    ics_queue_command_add(&command, "INFO");
    ics_queue_command_add(&command, "everything");
    stop_if(ics_queue_link_call(link, &command, &reply, &error), &error);
    const char *at = strstr(reply->str, name);
    const double value = at != NULL ? strtod(at + strlen(name) + 1, NULL) : NAN;
    freeReplyObject(reply);
    return value;
}

static double broker_seconds(ics_queue_link *link)
{
    return broker_number(link, "used_cpu_user") + broker_number(link, "used_cpu_sys");
}

/* ---- a worker -------------------------------------------------------------------------------- */

static void count_time(uint32_t bins[BINS], double seconds)
{
    const double bin = seconds > 1e-6 ? PER_E * log(seconds / 1e-6) : 0.0;
    bins[bin < BINS - 1 ? (size_t)bin : BINS - 1]++;
}

static uint64_t memory_kib(void)
{
    char line[256];
    uint64_t kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "RssAnon:", 8) == 0) {
            kib = strtoull(line + 8, NULL, 10);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return kib;
}

static void finish(const ics_claims *claims, ics_claim *claim, findings *out)
{
    static const char digest[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    icestream_error error = {.status = ICESTREAM_OK};
    bool held = false;
    char output[64];
    snprintf(output, sizeof output, "s3://hits/%.40s", claim->name);
    claim->output = output;
    claim->output_digest = digest;
    const double begun = ics_clock_seconds();
    stop_if(ics_claims_done(claims, claim, ICS_AFTER_KEEP, &held, &error), &error);
    count_time(out->ends, ics_clock_seconds() - begun);
    out->finished += held;
    out->lost += !held;
    ics_claims_claim_free(claim);
}

static void work(const bench_task *task, const ics_claims *claims, findings *out)
{
    const uint64_t early = task->tickets / task->workers / EARLY_PARTS;
    for (;;) {
        ics_claim claimed[MOST_MAX];
        size_t count = 0;
        icestream_error error = {.status = ICESTREAM_OK};
        const double begun = ics_clock_seconds();
        stop_if(ics_claims_take(claims, task->most, claimed, &count, &error), &error);
        const double seconds = ics_clock_seconds() - begun;
        if (count == 0) {
            break;
        }
        count_time(out->claims, seconds);
        out->largest_claim = fmax(out->largest_claim, seconds);
        out->claimed += count;
        for (size_t i = 0; i < count; ++i) {
            finish(claims, &claimed[i], out);
        }
        if (out->early_kib == 0 && out->finished >= early) {
            out->early_kib = memory_kib();
        }
    }
    out->ended = ics_clock_seconds();
    out->late_kib = memory_kib();
}

static void run_worker(const bench_task *task, uint64_t number, shared *with)
{
    char name[32], folder[4096];
    icestream_error error = {.status = ICESTREAM_OK};
    ics_claims claims;
    snprintf(name, sizeof name, "w%" PRIu64, number);
    snprintf(folder, sizeof folder, "%s/%s", task->folder, name);
    if (mkdir(folder, 0700) != 0) {
        perror(folder);
        exit(1);
    }
    const ics_queue_claims_options options = {.login = login_of(task),
                                              .worker = name,
                                              .folder = folder,
                                              .fetches = true,
                                              .lease = 60,
                                              .attempts = 10};
    stop_if(ics_queue_claims_create(&options, &claims, &error), &error);
    atomic_fetch_add(&with->ready, 1);
    while (!atomic_load(&with->go)) {
        usleep(1000);
    }
    work(task, &claims, &with->of[number]);
    ics_claims_destroy(&claims);
    exit(0);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* The time (s) that this share of the calls does not exceed. */
static double quantile(const uint64_t bins[BINS], double share)
{
    uint64_t all = 0, seen = 0;
    for (size_t i = 0; i < BINS; ++i) {
        all += bins[i];
    }
    for (size_t i = 0; i < BINS; ++i) {
        seen += bins[i];
        if ((double)seen >= share * (double)all) {
            return 1e-6 * exp((double)(i + 1) / PER_E);
        }
    }
    return NAN;
}

static bool print_row(const bench_task *task, const shared *with, double begun, double broker_cpu,
                      double broker_bytes)
{
    static uint64_t claims[BINS], ends[BINS];
    findings all = {.claimed = 0};
    for (uint64_t i = 0; i < task->workers; ++i) {
        const findings *one = &with->of[i];
        for (size_t k = 0; k < BINS; ++k) {
            claims[k] += one->claims[k];
            ends[k] += one->ends[k];
        }
        all.claimed += one->claimed;
        all.finished += one->finished;
        all.early_kib = one->early_kib > all.early_kib ? one->early_kib : all.early_kib;
        all.late_kib = one->late_kib > all.late_kib ? one->late_kib : all.late_kib;
        all.largest_claim = fmax(all.largest_claim, one->largest_claim);
        all.ended = fmax(all.ended, one->ended);
    }
    const double seconds = all.ended - begun;
    printf("| %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %.0f | %.2f | %.2f | %.1f | "
           "%.2f | %" PRIu64 " | %" PRIu64 " | %.0f %% | %.0f |\n",
           task->workers, task->tickets, task->most, task->bytes, (double)all.claimed / seconds,
           1e3 * quantile(claims, 0.5), 1e3 * quantile(claims, 0.99), 1e3 * all.largest_claim,
           1e3 * quantile(ends, 0.99), all.early_kib, all.late_kib, 100.0 * broker_cpu / seconds,
           broker_bytes / 1e6);
    return all.claimed == task->tickets && all.finished == task->tickets;
}

static bool wait_for_workers(const bench_task *task)
{
    bool good = true;
    for (uint64_t i = 0; i < task->workers; ++i) {
        int status = 1;
        wait(&status);
        good = good && status == 0;
    }
    return good;
}

int main(int argc, char **argv)
{
    if (argc != 7) {
        fprintf(stderr, "usage: bench_claims ADDRESS WORKERS TICKETS MOST BYTES FOLDER\n");
        return 2;
    }
    const bench_task task = {.address = argv[1],
                             .workers = strtoull(argv[2], NULL, 10),
                             .tickets = strtoull(argv[3], NULL, 10),
                             .most = strtoull(argv[4], NULL, 10),
                             .bytes = strtoull(argv[5], NULL, 10),
                             .folder = argv[6]};
    const ics_queue_login login = login_of(&task);
    icestream_error error = {.status = ICESTREAM_OK};
    ics_queue_link *link = NULL;
    shared *with = mmap(NULL, sizeof *with + task.workers * sizeof with->of[0],
                        PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (with == MAP_FAILED || task.most == 0 || task.most > MOST_MAX || task.workers == 0) {
        fprintf(stderr, "expected at least one worker and 1 to %d tickets of a claim\n", MOST_MAX);
        return 2;
    }
    for (uint64_t i = 0; i < task.workers; ++i) {
        if (fork() == 0) {
            run_worker(&task, i, with);
        }
    }
    stop_if(ics_queue_link_create(&login, 10.0, &link, &error), &error);
    fill(&task, link);
    while (atomic_load(&with->ready) < task.workers) {
        usleep(1000);
    }
    const double cpu = broker_seconds(link), begun = ics_clock_seconds();
    atomic_store(&with->go, true);
    const bool good = wait_for_workers(&task);
    const bool whole = print_row(&task, with, begun, broker_seconds(link) - cpu,
                                 broker_number(link, "used_memory"));
    ics_queue_link_destroy(link);
    return good && whole ? 0 : 1;
}
