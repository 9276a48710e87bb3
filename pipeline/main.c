/* The program icestream: finds the command, reads the command line, runs the command, and reports
 * its error. */
#include "base/visible_text.h"
#include "pipeline/program/command_line.h"
#include "pipeline/program/commands.h"
#include "pipeline/program/help.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* Prints the error of a result to standard error. A result counts as good only if everything that
 * was printed has arrived. Returns the result that counts. */
static int finish(int status, icestream_error *error)
{
    if (status == ICESTREAM_OK && (fflush(stdout) != 0 || ferror(stdout))) {
        status = ICESTREAM_E_OUTPUT;
        snprintf(error->text, sizeof error->text, "standard output: %s", strerror(errno));
    }
    if (status != ICESTREAM_OK) {
        ics_visible_print(stderr,
                          error->text[0] != '\0' ? error->text : icestream_status_text(status));
        fputc('\n', stderr);
    }
    return status;
}

/* Ends a command that only printed something. Returns the exit status. */
static int finish_print(void)
{
    icestream_error error = {.status = ICESTREAM_OK};
    return icestream_status_exit(finish(ICESTREAM_OK, &error));
}

/* Returns the exit status. */
static int execute(const ics_arguments *given)
{
    icestream_error error = {.status = ICESTREAM_OK};
    const ics_command *command = given->command;
    const int status = finish(command->execute(given, &error), &error);
    return command->exit_status != NULL ? command->exit_status(given, status)
                                        : icestream_status_exit(status);
}

/* `texts` begin with the name of the command. Returns the exit status. */
static int run_command(const ics_command *command, int count, char **texts)
{
    ics_command_line line;
    int exit_status = ics_command_line_parse(command, count, texts, &line);
    if (exit_status == 0 && line.help) {
        ics_help_print_command(command);
        exit_status = finish_print();
    } else if (exit_status == 0) {
        exit_status = execute(&line.given);
    }
    ics_command_line_free(&line);
    return exit_status;
}

/* If a standard stream is closed, the next file that the program opens would get its number, and
 * hits or messages would be written into that file. This function opens something in its place that
 * can be neither read nor written, so that using the stream fails as on a closed one. Returns false
 * if that is impossible. */
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
    /* A closed pipe and a file that may not grow are output errors like any other. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    /* The parent process may ignore the ends of its children; this program waits for its own. */
    signal(SIGCHLD, SIG_DFL);
    if (argc < 2) {
        return ics_command_line_fault(NULL, NULL, "", "expected a command");
    }
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        puts("icestream " ICESTREAM_VERSION);
        return finish_print();
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        ics_help_print();
        return finish_print();
    }
    const ics_command *command = ics_commands_find(name);
    if (command == NULL) {
        return ics_command_line_fault(NULL, ics_commands_nearest(name), "", "unknown %s %s",
                                      name[0] == '-' ? "option" : "command", name);
    }
    return run_command(command, argc - 1, argv + 1);
}
