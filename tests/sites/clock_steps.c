/* For queue_chaos.py: with LD_PRELOAD, the wall clock of a process is that of the machine and as
 * many seconds as the file CLOCK_STEPS says (8 bytes, a signed integer), which may change at any
 * time. Monotonic clocks stay as they are. libfaketime does the same and does not start a
 * redis-server, whose memory asks for the time before it is ready. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *offset;

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("CLOCK_STEPS");
    const int file = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *there =
        file >= 0 ? mmap(NULL, sizeof *offset, PROT_READ, MAP_SHARED, file, 0) : MAP_FAILED;
    if (there == MAP_FAILED) {
        abort(); /* a clock without steps would make a test that cannot fail */
    }
    close(file);
    offset = there;
}

int clock_gettime(clockid_t which, struct timespec *out)
{
    const int status = (int)syscall(SYS_clock_gettime, which, out);
    if (status == 0 && offset != NULL &&
        (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)) {
        out->tv_sec += *offset;
    }
    return status;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    (void)zone;
    struct timespec now;
    const int status = clock_gettime(CLOCK_REALTIME, &now);
    out->tv_sec = now.tv_sec;
    out->tv_usec = now.tv_nsec / 1000;
    return status;
}

time_t time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out != NULL) {
        *out = now.tv_sec;
    }
    return now.tv_sec;
}
