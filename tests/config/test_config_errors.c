/* Every error in a run file is reported with its place, what was found and what is expected: here
 * what tests/cli/bad_inputs_configuration.py does not try. */
#include "tests/config/expect_error.h"
#include "tests/support/test_main.h"

static const struct {
    const char *text, *expected;
} wrong[] = {
    /* structure */
    {"run: 5", "r.yaml:1:6: error: run: found '5', expected a mapping with keys of seed, "
               "bounce_limit"},
    {"run: {sed: 1}", "r.yaml:1:7: error: unknown key 'run.sed', did you mean 'run.seed'?"},
    {"graf: {}", "r.yaml:1:1: error: unknown key 'graf', did you mean 'graph'?"},
    {"run:\n  schedule: auto",
     "r.yaml:2:3: error: unknown key 'run.schedule', did you mean 'graph.schedule'?"},
    {"run: {zzzzzz: 1}",
     "r.yaml:1:7: error: unknown key 'run.zzzzzz', expected one of seed, bounce_limit"},
    {"\"\": 1",
     "r.yaml:1:1: error: unknown key '', expected one of run, source, sink, metrics, device, "
     "ice, detector, light, stages, table, graph, workload, particles"},
    /* numbers */
    {"run: {seed: }", "r.yaml:1:13: error: run.seed: found nothing, expected a whole number from "
                      "0 to 18446744073709551615"},
    {"device: {threads: Auto}", "r.yaml:1:19: error: device.threads: found 'Auto', expected a "
                                "whole number from 1 to 1024, or auto; did you mean 'auto'?"},
    {"workload: {kind: point, position: [1, 2]}",
     "r.yaml:1:35: error: workload.position: found a list of 2, expected a list of 3 numbers from "
     "-10000 to 10000"},
    {"device: {index: []}", "r.yaml:1:17: error: device.index: found an empty list, expected a "
                            "whole number from 0 to 63, a list of them, or all"},
    {"device: {index: [1, 64, 0, 1]}",
     "r.yaml:1:21: error: device.index: found '64', expected a whole number from 0 to 63\n"
     "r.yaml:1:28: error: device.index: found 1 twice"},
    {"graph: {block: 100}", "r.yaml:1:16: error: graph.block: found '100', expected a multiple of "
                            "32 from 32 to 1024, or auto"},
    {"graph: {schedule: wavefront, join: [propagate, scatter]}",
     "r.yaml:1:36: error: graph.join: found a list of 2, expected [scatter, propagate], or []"},
    {"graph: {schedule: monolithic, join: [scatter, propagate]}",
     "r.yaml:1:37: error: graph.join: is for graph.schedule: wavefront, and the schedule is "
     "monolithic"},
    {"graph: {tune: no/sweep.json}",
     "r.yaml:1:15: error: graph.tune: no/sweep.json: error: cannot open the file: No such "
     "file or directory"},
    {"graph: {tune: {scatter: 64}}",
     "r.yaml:1:25: error: graph.tune.scatter: found '64', expected a mapping with threads, "
     "blocks_per_multiprocessor or registers"},
    {"graph: {tune: {scatter: {threads: 100}, fly: {registers: 256}}}",
     "r.yaml:1:35: error: threads: found '100', expected a multiple of 32 from 32 to 1024\n"
     "r.yaml:1:58: error: registers: found '256', expected a whole number from 24 to 255"},
    {"graph: {tune: {scatter: {treads: 64}}}",
     "r.yaml:1:26: error: unknown key 'treads', did you mean 'threads'?"},
    {"graph: {tune: {scatter: {blocks_per_multiprocessor: 3, registers: 88}}}",
     "r.yaml:1:15: error: graph.tune: scatter: found 88 registers for each of 3 x 256 threads, "
     "expected at most 80, because a multiprocessor has 65536 registers"},
    {"graph: {tune: {scatter: {registers: 88}}, block: 1024}",
     "r.yaml:1:15: error: graph.tune: scatter: found 88 registers for each of 1 x 1024 threads, "
     "expected at most 64, because a multiprocessor has 65536 registers"},
    {"graph: {tune: {scatter: {threads: 992}, collide: {threads: 928}}}",
     "r.yaml:1:15: error: graph.tune: found sizes of blocks whose least common multiple is 28768 "
     "threads, expected at most 4096, because a pool is a whole number of blocks of every kernel"},
    {"graph: {tune: {monolithic: {threads: 768}}}",
     "r.yaml:1:28: error: graph.tune.monolithic: found 768 threads, expected at most 608, because "
     "each warp of this kernel has 2568 of the 49152 bytes of shared memory of a block"},
    {"graph: {tune: {monolithic: {threads: 256}}}\ndevice: {backend: cpu}",
     "r.yaml:1:15: error: graph.tune: this value is for a GPU, and device.backend is cpu"},
    /* sizes */
    {"device: {memory_limit: 63 MB}", "r.yaml:1:24: error: device.memory_limit: found '63 MB', "
                                      "expected a size from 64 MB to 1 TB, or auto"},
    {"device: {memory_limit: aut}",
     "r.yaml:1:24: error: device.memory_limit: found 'aut', expected "
     "a size from 64 MB to 1 TB, or auto; did you mean 'auto'?"},
    /* sections in sections */
    {"graph: {compact: partition}",
     "r.yaml:1:18: error: graph.compact: found 'partition', expected "
     "a mapping with keys of sort, when"},
    {"graph: {compact: {sorted: depth}}", "r.yaml:1:19: error: unknown key 'graph.compact.sorted', "
                                          "did you mean 'graph.compact.sort'?"},
    {"graph: {compact: {when: every-, sort: cells}}",
     "r.yaml:1:25: error: graph.compact.when: found 'every-', expected tail, always, or every-N "
     "with N from 1 to 1000000\n"
     "r.yaml:1:39: error: graph.compact.sort: found 'cells', expected one of none, depth, cell; "
     "did "
     "you mean 'cell'?"},
    /* headers of stages */
    {"stages: {scatter: {}}", "r.yaml:1:19: error: the key 'source' is missing"},
    {"stages: {scatter: {source: }}", "r.yaml:1:28: error: source: found nothing, expected a path"},
    {"stages: {scatter: {sourc: x.h}}",
     "r.yaml:1:20: error: unknown key 'sourc', did you mean 'source'?\n"
     "r.yaml:1:19: error: the key 'source' is missing"},
    {"stages: {compact: {source: x.h}}",
     "r.yaml:1:19: error: stages.compact: found a mapping, expected partition"},
    /* words */
    {"detector: {jitter: yes}", "r.yaml:1:20: error: detector.jitter: found 'yes', expected true "
                                "or false; did you mean 'true'?"},
    {"device: {backend: gpus}", "r.yaml:1:19: error: device.backend: found 'gpus', expected one of "
                                "auto, cpu, cuda, cuda+cpu, gpu; did you mean 'gpu'?"},
    {"graph: {schedule: wavefornt}",
     "r.yaml:1:19: error: graph.schedule: found 'wavefornt', expected one of auto, wavefront, "
     "event-wavefront, monolithic, job-queue, thread-per-step, warp-wavefront; did you mean "
     "'wavefront'?"},
    {"ice: {model: {}}", "r.yaml:1:14: error: ice.model: found a mapping, expected "
                         "south-pole-like or uniform"},
    /* texts and lists */
    {"source: {files: [a, [b]]}", "r.yaml:1:21: error: source.files: found a list of 1, expected "
                                  "a list of paths or patterns"},
    {"source: {watch: true}", "r.yaml:1:17: error: source.watch: is for source.directory or "
                              "source.queue, and neither is given"},
    {"source: {scan: 1}", "r.yaml:1:16: error: source.scan: is for source.directory, "
                          "source.listen or source.queue, and none of them is given"},
    {"source: {clients: 3}", "r.yaml:1:19: error: source.clients: is for source.listen, which is "
                             "not given"},
    {"sink: {command: [[ls]]}", "r.yaml:1:17: error: sink.command: found a list of 1, expected a "
                                "list of a program and its arguments"},
    {"sink: {directory: \"\"}", "r.yaml:1:19: error: sink.directory: found the quoted text \"\", "
                                "expected a path"},
    {"metrics: {listen: \"\"}", "r.yaml:1:19: error: metrics.listen: found the quoted text \"\", "
                                "expected a text that is not empty"},
    {"ice: {file: ~}", "r.yaml:1:13: error: ice.file: found nothing, expected a path"},
    {"detector: {excluded: 63}", "r.yaml:1:22: error: detector.excluded: found '63', expected a "
                                 "list of [string, module]"},
    {"detector: {excluded: [[1, 2], [3], [x, 65536]]}",
     "r.yaml:1:31: error: detector.excluded: found a list of 1, expected [string, module]\n"
     "r.yaml:1:37: error: detector.excluded: string: found 'x', expected a whole number from 0 to "
     "65535\n"
     "r.yaml:1:40: error: detector.excluded: module: found '65536', expected a whole number from 0 "
     "to 65535"},
    {"light: {spectra: 400}",
     "r.yaml:1:18: error: light.spectra: found '400', expected a list of at most 249 of {line: 250 "
     "to 700 nm} or {file: path}"},
    {"light: {spectra: [{}, {line: 400, file: x}, {line: 249}, {lin: 400}, 5]}",
     "r.yaml:1:19: error: the key 'line' is missing\n"
     "r.yaml:1:41: error: only one of 'file' and 'line' can be given, the other is at "
     "r.yaml:1:30\n"
     "r.yaml:1:52: error: line: found '249', expected a number from 250 to 700\n"
     "r.yaml:1:59: error: unknown key 'lin', did you mean 'line'?\n"
     "r.yaml:1:58: error: the key 'line' is missing\n"
     "r.yaml:1:70: error: found '5', expected a mapping with keys of line, file"},
    {"workload: {kind: point, direction: down}",
     "r.yaml:1:36: error: workload.direction: found 'down', expected isotropic, or [dx, dy, dz]"},
    {"workload: {kind: point, direction: [0, -0, 0]}",
     "r.yaml:1:36: error: workload.direction: found a vector of length 0, expected a direction"},
    {"workload: {kind: point, direction: [0, 1e200, x]}",
     "r.yaml:1:40: error: workload.direction: found '1e200', expected a number from -1e+100 to "
     "1e+100\n"
     "r.yaml:1:47: error: workload.direction: found 'x', expected a number from -1e+100 to "
     "1e+100"},
    /* contradictions */
    {"detector: {file: x, jitter: true, dense: true}",
     "r.yaml:1:29: error: detector.jitter: is for layout: hex86, and detector.file is given\n"
     "r.yaml:1:42: error: detector.dense: is for layout: hex86, and detector.file is given"},
    {"device: {backend: cpu, math: fast, fallback: cpu}\ngraph: {lanes: 2, compact: {when: "
     "always}}",
     "r.yaml:1:46: error: device.fallback: is for a GPU, and device.backend is cpu\n"
     "r.yaml:1:30: error: device.math: this value is for a GPU, and device.backend is cpu\n"
     "r.yaml:2:16: error: graph.lanes: this value is for a GPU, and device.backend is cpu\n"
     "r.yaml:2:35: error: graph.compact.when: this value is for a GPU, and device.backend is cpu"},
    {"device: {backend: cuda+cpu}",
     "r.yaml:1:19: error: device.backend: cuda+cpu needs device.math: portable, with which both "
     "compute the same hits; found auto"},
    {"workload: {position: [0, 0, 1], time: 1, direction: [0, 0, 1], surface_radius: 1, "
     "spectrum: 1}",
     "r.yaml:1:22: error: workload.position: is for workload.kind: point, and the kind is cascade\n"
     "r.yaml:1:39: error: workload.time: is for workload.kind: point, and the kind is cascade\n"
     "r.yaml:1:53: error: workload.direction: is for workload.kind: point, and the kind is "
     "cascade\n"
     "r.yaml:1:80: error: workload.surface_radius: is for workload.kind: point, and the kind is "
     "cascade\n"
     "r.yaml:1:93: error: workload.spectrum: is for workload.kind: point, and the kind is cascade"},
    {"workload: {kind: point, direction: [1, 0, 0], surface_radius: 0.1651}",
     "r.yaml:1:63: error: workload.surface_radius: is for isotropic light, and workload.direction "
     "is a vector"},
    {"workload: {kind: point, spectrum: 8}\nlight: {spectra: [{line: 400}]}",
     "r.yaml:1:35: error: workload.spectrum: found 8, expected at most 7: light.spectra has 1 "
     "entries, numbered from 7"},
    /* a contradiction next to another error; a refused value causes no contradiction */
    {"run: {seed: x}\ndetector: {file: y, jitter: true}",
     "r.yaml:1:13: error: run.seed: found 'x', expected a whole number from 0 to "
     "18446744073709551615\n"
     "r.yaml:2:29: error: detector.jitter: is for layout: hex86, and detector.file is given"},
    {"workload: {kind: pont, time: 5}",
     "r.yaml:1:18: error: workload.kind: found 'pont', expected one of point, uniform, cascade; "
     "did you mean 'point'?"},
};

START_TEST(wrong_files)
{
    expect_error(wrong[_i].text, NULL, 0, wrong[_i].expected);
}
END_TEST

/* New variants make the list of choices longer, so this test compares only the text before and
 * after it. */
START_TEST(wrong_variants)
{
    static const struct {
        const char *text, *begins, *ends;
    } rows[] = {{"stages: {scatter: hgsl}",
                 "r.yaml:1:19: error: stages.scatter: found 'hgsl', expected one of hg-sl, hg, sl,",
                 ", or {source: path}; did you mean 'hg-sl'?"},
                /* The program's word for a header is not valid in a file. */
                {"stages: {scatter: custom}",
                 "r.yaml:1:19: error: stages.scatter: found 'custom', expected one of hg-sl, ",
                 ", or {source: path}"},
                {"stages: {propagate: hg-sl}",
                 "r.yaml:1:21: error: stages.propagate: found 'hg-sl', expected ", "layer-walk"}};
    for (size_t i = 0; i < COUNT(rows); ++i) {
        icestream_config *config = NULL;
        icestream_error error = {0};
        ck_assert_int_eq(ics_config_load_text("r.yaml", rows[i].text, strlen(rows[i].text), NULL, 0,
                                              &config, &error),
                         ICESTREAM_E_CONFIG);
        ck_assert_msg(strncmp(error.text, rows[i].begins, strlen(rows[i].begins)) == 0 &&
                          strstr(error.text, rows[i].ends) != NULL,
                      "%s", error.text);
    }
}
END_TEST

/* A missing file of a model is reported with the place where it is named. */
START_TEST(files_that_are_not_there)
{
    const char *text = "ice: {directory: /none/ice}\n"
                       "detector: {file: /dev/null, axes: /none/axes, cables: none}\n"
                       "light: {acceptance: /none/standart}\n"
                       "stages: {scatter: {source: /none/s.h}}\n"
                       "sink: {directory: /none/hits}\n";
    icestream_error error = {.status = ICESTREAM_OK};
    icestream_config *config = NULL;
    ck_assert_int_eq(ics_config_load_text("r.yaml", text, strlen(text), NULL, 0, &config, &error),
                     ICESTREAM_OK);
    const char *const sections[] = {"ice.", "detector.", "light.", "stages."};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; ++i) {
        ck_assert_int_eq(ics_config_check_files(config, sections[i], &error), ICESTREAM_E_CONFIG);
    }
    ck_assert_str_eq(
        error.text,
        "r.yaml:1:18: error: ice.directory: /none/ice: No such file or directory\n"
        "r.yaml:2:35: error: detector.axes: /none/axes: No such file or directory; expected auto "
        "or none, or a path\n"
        "r.yaml:3:21: error: light.acceptance: /none/standart: No such file or directory; expected "
        "one of auto, standard, none, or a path\n"
        "r.yaml:4:19: error: stages.scatter: /none/s.h: No such file or directory");
    icestream_config_destroy(config);
    ck_assert_int_eq(icestream_config_load(NULL, NULL, 0, &config, &error), ICESTREAM_OK);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; ++i) {
        ck_assert_int_eq(ics_config_check_files(config, sections[i], &error), ICESTREAM_OK);
    }
    icestream_config_destroy(config);
}
END_TEST

ICS_TEST_MAIN("config_errors")
{
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, wrong_files, 0, (int)COUNT(wrong));
    tcase_add_test(all, wrong_variants);
    tcase_add_test(all, files_that_are_not_there);
    suite_add_tcase(suite, all);
}
