#include "pipeline/tools/split/split_report.h"

#include "pipeline/tools/measure/report.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>

int ics_split_print_text(const ics_split_result *result, FILE *out, icestream_error *error)
{
    double least = INFINITY, most = 0;
    uint64_t steps = 0, photons = 0;
    for (size_t i = 0; i < result->count; ++i) {
        least = fmin(least, result->parts[i].bounces);
        most = fmax(most, result->parts[i].bounces);
        steps += result->parts[i].steps;
        photons += result->parts[i].photons;
    }
    fprintf(out, "%zu parts, %s to %s\n", result->count, result->parts[0].path,
            result->parts[result->count - 1].path);
    fprintf(out,
            "%" PRIu64 " steps, %.4g photons, %.4g expected bounces (%.1f per photon); "
            "a part has %.4g to %.4g\n",
            steps, (double)photons, result->bounces, result->bounces / (double)photons, least,
            most);
    if (result->count < result->wanted) {
        fprintf(out,
                "%" PRIu32 " parts were asked for: a step is never divided, and the costliest "
                "one has %.4g expected bounces\n",
                result->wanted, result->costliest);
    }
    return ics_report_end("split", out, error);
}

int ics_split_print_json(const ics_split_result *result, FILE *out, icestream_error *error)
{
    json_t *parts = json_array();
    for (size_t i = 0; i < result->count; ++i) {
        const ics_split_part *part = &result->parts[i];
        json_array_append_new(
            parts, json_pack("{s:o, s:I, s:I, s:f}", "file", json_string_nocheck(part->path),
                             "steps", (json_int_t)part->steps, "photons", (json_int_t)part->photons,
                             "bounces", part->bounces));
    }
    return ics_report_json("split",
                           json_pack("{s:o, s:f, s:f}", "parts", parts, "bounces", result->bounces,
                                     "costliest_step", result->costliest),
                           out, error);
}
