/* The list of commands, as the help shows it. */
#include "pipeline/program/commands.h"

#include <string.h>

const program_command commands[] = {
    {"run", "[CONFIG]", "carries the photons of step files to hit files",
     "The files are those of source.files, or are claimed in source.directory; a.steps.npy "
     "becomes\n"
     "a.hits.npy in sink.directory.\n"
     "Without CONFIG every setting has its default.",
     0, 1,
     ALLOW(SET) | ALLOW(PRINT_CONFIG) | ALLOW(FORCE) | ALLOW(RESUME) | ALLOW(QUIET) |
         ALLOW(SUMMARY) | ALLOW(FAIL_FAST) | ALLOW(LOG) | ALLOW(METRICS) | ALLOW(TIME_LIMIT) |
         ALLOW(UNFINISHED_EXIT),
     command_run},
    {"validate", "[CONFIG]", "checks configuration, ice, detector, light and device", NULL, 0, 1,
     ALLOW(SET) | ALLOW(PRINT_EFFECTIVE), command_validate},
    {"info", "FILE", "describes a file of steps, hits, paths or waveforms", NULL, 1, 1,
     ALLOW(VERIFY) | ALLOW(JSON), command_info},
    {"status", "DIR", "says how the runs that write into a folder are doing",
     "What run.journal in DIR (a sink.directory) tells, and what is really there; also while runs\n"
     "go on.",
     1, 1, ALLOW(JSON), command_status},
    {"generate", "[CONFIG] -o FILE", "makes a step file of particles or of the configured workload",
     "Particles are those of particles.list or particles.file. Bytes are the same for every "
     "number\n"
     "of threads.",
     0, 1, ALLOW(SET) | ALLOW(OUTPUT) | ALLOW(FORCE) | ALLOW(THREADS), command_generate},
    {"compare", "[CONFIG]", "holds schedules or configurations against each other",
     "Runs the same steps through each: those of source.files, or where there are none those of\n"
     "the configured workload. Exit status 1: the hits are not as identical, or as compatible, as\n"
     "they have to be.",
     0, 1, ALLOW(SET) | ALLOW(SCHEDULES) | ALLOW(AGAINST) | ALLOW(JSON) | ALLOW(TABLE),
     command_compare},
    {"trace", "[CONFIG] -o FILE", "follows single photons and writes every point of their paths",
     "On the CPU, with the photons' own random numbers: the path that they had in the run. Says\n"
     "whether the hits come about again, and how much those differ that a GPU's maths made.",
     0, 1,
     ALLOW(SET) | ALLOW(HITS) | ALLOW(SELECT) | ALLOW(PHOTON) | ALLOW(STEP_FILE) | ALLOW(OUTPUT) |
         ALLOW(FORCE),
     command_trace},
    {"stages", "", "lists stages and their variants", NULL, 0, 0, ALLOW(JSON), command_stages},
    {"convert", "FROM TO", "converts files between .npy and .h5, and hits to text and waveforms",
     "The endings of the names say which is which; .txt: HIT lines like ppc's, of a hit file.", 2,
     2, ALLOW(FORCE) | ALLOW(WAVEFORMS) | ALLOW(RANGE), command_convert},
    {"plan", "[CONFIG]", "says what a run would take, without running photons",
     "On a GPU: registers, memory and occupancy of every kernel of the configured schedule, with\n"
     "auto of all. Works without a GPU; then it plans for sm_90, or what --architecture says.",
     0, 1, ALLOW(SET) | ALLOW(ARCHITECTURE) | ALLOW(JSON), command_plan},
    {"bench", "[CONFIG]", "measures the configured workload",
     "--reference, --workload and --counts make the settings of clsim's published benchmark.", 0, 1,
     ALLOW(SET) | ALLOW(SCHEDULES) | ALLOW(WORKLOAD) | ALLOW(COUNTS) | ALLOW(STEPS) |
         ALLOW(PHOTONS) | ALLOW(OVERSIZE) | ALLOW(REFERENCE) | ALLOW(REPEATS) | ALLOW(TABLE) |
         ALLOW(JSON),
     command_bench},
};

enum { COMMANDS = sizeof commands / sizeof *commands };
const size_t command_count = COMMANDS;

const program_command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMANDS; ++i) {
        if (strcmp(commands[i].name, name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

const char *nearest_command(const char *name)
{
    const char *names[COMMANDS];
    for (size_t i = 0; i < COMMANDS; ++i) {
        names[i] = commands[i].name;
    }
    return icestream_suggestion(name, names, COMMANDS);
}
