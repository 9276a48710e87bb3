/* The command that measures. */
#include "pipeline/program/commands.h"

/* The published workload is one of many steps. */
static int load_bench_config(const arguments *given, icestream_config **out, icestream_error *error)
{
    static const char *const published[] = {"workload.steps=1048576",
                                            "workload.photons_per_step=200"};
    size_t count = given->given[OPTION_WORKLOAD] ? sizeof published / sizeof *published : 0;
    return load_short_config(given, published, count, out, error);
}

int command_bench(const arguments *given, icestream_error *error)
{
    icestream_config *config = NULL;
    icestream_bench_options options = {.schedules = given->values[OPTION_SCHEDULES],
                                       .reference = given->values[OPTION_REFERENCE],
                                       .json = given->given[OPTION_JSON]};
    long repeats = 0;
    int status = take_whole(given, OPTION_REPEATS, 1, 1000000, &repeats, error);
    if (status == ICESTREAM_OK) {
        status = take_table(given, &options.markdown, error);
    }
    if (status == ICESTREAM_OK) {
        status = load_bench_config(given, &config, error);
    }
    if (status == ICESTREAM_OK) {
        options.repeats = (uint32_t)repeats;
        status = icestream_bench(config, &options, stdout, error);
    }
    icestream_config_destroy(config);
    return status;
}
