/* icestream, the program: commands and options, which are in pipeline/program, on top of the public
 * header. */
#include "pipeline/program/command_line.h"
#include "pipeline/program/help.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The exit status; errors go to stderr as they are, and what was printed has to arrive. */
static int end(int status, icestream_error *error)
{
    if (status == ICESTREAM_OK && (fflush(stdout) != 0 || ferror(stdout))) {
        status = ICESTREAM_E_OUTPUT;
        snprintf(error->text, sizeof error->text, "standard output: %s", strerror(errno));
    }
    if (status != ICESTREAM_OK) {
        fprintf(stderr, "%s\n",
                error->text[0] != '\0' ? error->text : icestream_status_text(status));
    }
    return icestream_status_exit(status);
}

static int end_help(void)
{
    icestream_error error = {.status = ICESTREAM_OK};
    return end(ICESTREAM_OK, &error);
}

static int execute(const program_command *command, const arguments *given)
{
    icestream_error error = {.status = ICESTREAM_OK};
    int status = command->execute(given, &error);
    int code = end(status, &error);
    /* A batch system's own number for "run it again". It was checked when the command began. */
    bool chosen = status == ICESTREAM_E_UNFINISHED && given->given[OPTION_UNFINISHED_EXIT];
    return chosen ? (int)strtol(given->values[OPTION_UNFINISHED_EXIT], NULL, 10) : code;
}

static int run_command(const program_command *command, int count, char **texts)
{
    arguments given = {.set_count = 0};
    given.sets = calloc((size_t)count + 1, sizeof *given.sets);
    given.photons = calloc((size_t)count + 1, sizeof *given.photons);
    int exit_status = icestream_status_exit(ICESTREAM_E_MEMORY);
    if (given.sets == NULL || given.photons == NULL) {
        fprintf(stderr, "%s\n", icestream_status_text(ICESTREAM_E_MEMORY));
    } else {
        exit_status = parse_arguments(command, count, texts, &given);
    }
    if (exit_status == 0) {
        if (given.given[OPTION_HELP]) {
            print_command_help(command);
            exit_status = end_help();
        } else {
            exit_status = execute(command, &given);
        }
    }
    free(given.photons);
    free(given.sets);
    return exit_status;
}

/* Where a standard stream is closed, the next file to be opened would take its place, and hits or
 * messages would be written into it. What stands there instead can be neither read nor written, so
 * that using it fails as if it were closed. Returns false if even that cannot be had. */
static bool occupy_standard_streams(void)
{
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
        if (fcntl(stream, F_GETFD) < 0 && open("/", O_PATH | O_DIRECTORY) != stream) {
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    if (!occupy_standard_streams()) {
        return icestream_status_exit(ICESTREAM_E_FAILED);
    }
    /* A reader that went away and a file that may not grow are output errors like any other. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    /* Who started this may ignore the ends of its children; this program waits for its own. */
    signal(SIGCHLD, SIG_DFL);
    if (argc < 2) {
        return usage_error(NULL, "expected a command", "", NULL, "");
    }
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        puts("icestream " ICESTREAM_VERSION);
        return end_help();
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        print_help();
        return end_help();
    }
    const program_command *command = find_command(name);
    if (command == NULL) {
        return usage_error(NULL, name[0] == '-' ? "unknown option " : "unknown command ", name,
                           nearest_command(name), "");
    }
    return run_command(command, argc - 1, argv + 1);
}
