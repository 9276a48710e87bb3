#include "bench/lab/roofline/counters.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What a counter counts, which decides the units that it may have. */
typedef enum kind { KIND_NUMBER, KIND_BYTES, KIND_TIME, KIND_CLOCK } kind;

static const struct {
    const char *metric;
    kind kind;
} counters[ICS_COUNTERS] = {
    [ICS_COUNTER_THREAD_INSTRUCTIONS] = {"smsp__thread_inst_executed.sum", KIND_NUMBER},
    [ICS_COUNTER_INSTRUCTIONS] = {"smsp__inst_executed.sum", KIND_NUMBER},
    [ICS_COUNTER_ISSUE] = {"smsp__issue_active.avg.pct_of_peak_sustained_active", KIND_NUMBER},
    [ICS_COUNTER_L1_BYTES] = {"l1tex__t_bytes.sum", KIND_BYTES},
    [ICS_COUNTER_L2_BYTES] = {"lts__t_bytes.sum", KIND_BYTES},
    [ICS_COUNTER_HBM_BYTES] = {"dram__bytes.sum", KIND_BYTES},
    [ICS_COUNTER_SECONDS] = {"gpu__time_duration.sum", KIND_TIME},
    [ICS_COUNTER_SM_CYCLES] = {"sm__cycles_active.avg", KIND_NUMBER},
    [ICS_COUNTER_PARTITION_CYCLES] = {"smsp__cycles_active.avg", KIND_NUMBER},
    [ICS_COUNTER_SM_CLOCK] = {"sm__cycles_elapsed.avg.per_second", KIND_CLOCK},
    [ICS_COUNTER_L1_CLOCK] = {"l1tex__cycles_elapsed.avg.per_second", KIND_CLOCK},
    [ICS_COUNTER_L2_CLOCK] = {"lts__cycles_elapsed.avg.per_second", KIND_CLOCK},
    [ICS_COUNTER_HBM_CLOCK] = {"dram__cycles_elapsed.avg.per_second", KIND_CLOCK},
    [ICS_COUNTER_INSTRUCTION_PEAK] = {"smsp__inst_executed.sum.peak_sustained", KIND_NUMBER},
    [ICS_COUNTER_L1_PEAK] = {"l1tex__t_bytes.sum.peak_sustained", KIND_NUMBER},
    [ICS_COUNTER_L2_PEAK] = {"lts__t_bytes.sum.peak_sustained", KIND_NUMBER},
    [ICS_COUNTER_HBM_PEAK] = {"dram__bytes.sum.peak_sustained", KIND_NUMBER},
};

/* Versions of ncu write units in full or in short. */
static const struct {
    kind kind;
    const char *unit;
    double factor;
} units[] = {
    {KIND_BYTES, "byte", 1},
    {KIND_BYTES, "Kbyte", 1e3},
    {KIND_BYTES, "Mbyte", 1e6},
    {KIND_BYTES, "Gbyte", 1e9},
    {KIND_BYTES, "Tbyte", 1e12},
    {KIND_TIME, "nsecond", 1e-9},
    {KIND_TIME, "ns", 1e-9},
    {KIND_TIME, "usecond", 1e-6},
    {KIND_TIME, "us", 1e-6},
    {KIND_TIME, "msecond", 1e-3},
    {KIND_TIME, "ms", 1e-3},
    {KIND_TIME, "second", 1},
    {KIND_TIME, "sec", 1},
    {KIND_TIME, "s", 1},
    {KIND_CLOCK, "hz", 1},
    {KIND_CLOCK, "Khz", 1e3},
    {KIND_CLOCK, "Mhz", 1e6},
    {KIND_CLOCK, "Ghz", 1e9},
    {KIND_CLOCK, "cycle/second", 1},
    {KIND_CLOCK, "cycle/s", 1},
    {KIND_CLOCK, "cycle/msecond", 1e3},
    {KIND_CLOCK, "cycle/ms", 1e3},
    {KIND_CLOCK, "cycle/usecond", 1e6},
    {KIND_CLOCK, "cycle/us", 1e6},
    {KIND_CLOCK, "cycle/nsecond", 1e9},
    {KIND_CLOCK, "cycle/ns", 1e9},
};

const char *ics_counters_metric(ics_counter counter)
{
    return counters[counter].metric;
}

void ics_counters_list(char *list, size_t size)
{
    size_t length = 0;
    list[0] = '\0';
    for (int i = 0; i < ICS_COUNTERS && length < size; ++i) {
        length += (size_t)snprintf(list + length, size - length, "%s%s", i > 0 ? "," : "",
                                   counters[i].metric);
    }
}

/* Returns the factor of a unit, 0 if it does not suit. Numbers, shares and cycles have no smaller
 * or larger units but those with a prefix of thousands ("Kinst"), which --print-units base forbids.
 */
static double factor_of(kind wanted, const char *unit)
{
    if (wanted == KIND_NUMBER) {
        return unit[0] != '\0' && strchr("KMGT", unit[0]) != NULL ? 0 : 1;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; ++i) {
        if (units[i].kind == wanted && strcasecmp(units[i].unit, unit) == 0) {
            return units[i].factor;
        }
    }
    return 0;
}

/* Copies a number without the commas between its thousands. Returns false if something else is in
 * the text, or a comma at another position. */
static bool remove_commas(const char *text, char *plain, size_t size)
{
    const size_t whole = strcspn(text, ".eE");
    size_t length = 0;
    if (!isdigit((unsigned char)text[0])) {
        return false;
    }
    for (size_t i = 0; text[i] != '\0'; ++i) {
        if (text[i] == ',' && i < whole && (whole - i) % 4 == 0) {
            continue;
        }
        const bool expected =
            isdigit((unsigned char)text[i]) || (i >= whole && strchr(".eE+-", text[i]) != NULL);
        if (!expected || length + 1 == size) {
            return false;
        }
        plain[length++] = text[i];
    }
    plain[length] = '\0';
    return true;
}

bool ics_counters_read(ics_counter counter, const char *text, const char *unit, double *out)
{
    char plain[64], *end = NULL;
    const double factor = factor_of(counters[counter].kind, unit);
    if (factor <= 0 || !remove_commas(text, plain, sizeof plain)) {
        return false;
    }
    const double value = strtod(plain, &end);
    *out = value * factor;
    return *end == '\0' && isfinite(*out) && *out >= 0;
}
