/* Fuzzes the reader of ncu's tables: a text is refused with a message, or its launches have finite
 * numbers of at least 0 and names without control characters. Good inputs are in corpus/ncu_csv. */
#include "bench/lab/roofline/roofline.h"
#include "tests/fuzz/fuzz_target.h"

#include <ctype.h>
#include <math.h>

static int check_launch(const ics_ncu_launch *launch, void *user, icestream_error *error)
{
    for (const char *c = launch->kernel; *c != '\0'; ++c) {
        require(isprint((unsigned char)*c));
    }
    for (int i = 0; i < ICS_COUNTERS; ++i) {
        require(isfinite(launch->values[i]) && launch->values[i] >= 0);
    }
    return ics_roofline_add(launch, user, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ics_roofline roofline = {.bounces = 1};
    icestream_error error = {.status = ICESTREAM_OK};
    const int status = ics_ncu_csv_read((const char *)data, size, check_launch, &roofline, &error);
    require(status == error.status && (status == ICESTREAM_OK) == (error.text[0] == '\0'));
    for (size_t i = 0; i < roofline.count; ++i) {
        const ics_roofline_figures figures =
            ics_roofline_compute(&roofline.kernels[i].sums, roofline.bounces);
        require(ics_roofline_bound_name(figures.bound) != NULL);
    }
    ics_roofline_free(&roofline);
    return 0;
}
