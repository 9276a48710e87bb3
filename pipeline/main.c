/* The programs icestream and icestream-lab: finds the command, reads the command line, runs the
 * command, and reports its error. */
#include "base/replaced.h"
#include "base/visible_text.h"
#include "kernels/stage_guard.h"
#include "pipeline/commands/program/command_line.h"
#include "pipeline/commands/program/commands.h"
#include "pipeline/commands/program/help.h"
#include "pipeline/commands/version/machine.h"
#include "pipeline/production/telemetry/events.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Whether an output failed because the program that read our standard output has ended, for example
 * `head`. */
static bool reader_has_gone(int status, const icestream_error *error)
{
    struct pollfd about = {.fd = STDOUT_FILENO};
    return status == ICESTREAM_E_OUTPUT && (ferror(stdout) || error->cause == EPIPE) &&
           poll(&about, 1, 0) == 1 && (about.revents & POLLERR) != 0;
}

/* Prints the error of a result to standard error, as JSON if `json` is set. A result counts as good
 * only if everything that was printed has arrived. Nothing is printed if the reader of standard
 * output has gone. Returns the result that counts. */
static int finish(int status, icestream_error *error, bool json)
{
    if (status == ICESTREAM_OK && (fflush(stdout) != 0 || ferror(stdout))) {
        status = ICESTREAM_E_OUTPUT;
        error->cause = errno;
        snprintf(error->text, sizeof error->text, "standard output: %s", strerror(errno));
    }
    if (status == ICESTREAM_OK || reader_has_gone(status, error)) {
        return status;
    }
    const char *text = error->text[0] != '\0' ? error->text : icestream_status_text(status);
    if (json) {
        ics_events_put_error(stderr, text);
    } else {
        ics_visible_print_line(stderr, text);
    }
    return status;
}

/* Ends a command that only printed something. Returns the exit status. */
static int finish_print(void)
{
    icestream_error error = {.status = ICESTREAM_OK};
    return icestream_status_exit(finish(ICESTREAM_OK, &error, false));
}

/* Returns the exit status. */
static int execute(const ics_arguments *given)
{
    icestream_error error = {.status = ICESTREAM_OK};
    const ics_command *command = given->command;
    const bool json = command->has_json_log != NULL && command->has_json_log(given);
    const int status = finish(command->execute(given, &error), &error, json);
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

static bool is_one_of(const char *text, const char *first, const char *second, const char *third)
{
    return strcmp(text, first) == 0 || strcmp(text, second) == 0 || strcmp(text, third) == 0;
}

/* Prints a fault of a name that should be that of a command. Returns the exit status. */
static int unknown_command(const char *name)
{
    const bool is_option = name[0] == '-';
    char left[256];
    if (ics_replaced_say(left, sizeof left, "the command %s", name)) {
        return ics_command_line_fault(NULL, NULL, "", "%s", left);
    }
    return ics_command_line_fault(NULL, ics_commands_nearest(name), "", "unknown %s %s%s",
                                  is_option ? "option" : "command", name,
                                  is_option ? "; options follow the name of the command" : "");
}

/* Prints `help [COMMAND]` or `help FORM [COMMAND]`; `first` and `second` are what follows help, or
 * NULL. Returns the exit status. */
static int print_help(const char *first, const char *second)
{
    const ics_commands_form *form = ics_commands_forms;
    while (first != NULL && form->option != NULL && strcmp(first, form->option) != 0) {
        ++form;
    }
    const bool has_form = first != NULL && form->option != NULL;
    const char *wanted = has_form ? second : first;
    const ics_command *command = wanted != NULL ? ics_commands_find(wanted) : NULL;
    if (wanted != NULL && command == NULL) {
        return unknown_command(wanted);
    }
    if (has_form) {
        form->print(command);
    } else if (command != NULL) {
        ics_help_print_command(command);
    } else {
        ics_help_print();
    }
    return finish_print();
}

/* Memory that was freed is kept for the next batch, up to a limit. With glibc's own limits, a batch
 * of 1e5 hits got all its pages from the system, which took as long as making its hits. */
static void keep_memory(void)
{
    enum { KEPT = 256 << 20, LARGE = 32 << 20 /* the most that glibc takes */ };
    (void)mallopt(M_TRIM_THRESHOLD, KEPT);
    (void)mallopt(M_MMAP_THRESHOLD, LARGE);
}

/* `version [--verbose]`. Returns the exit status. */
static int print_version(const char *option)
{
    icestream_error error = {.status = ICESTREAM_OK};
    int status = ICESTREAM_OK;
    if (option == NULL) {
        printf("%s " ICESTREAM_VERSION "\n", ics_commands_program);
    } else if (strcmp(option, "--verbose") == 0) {
        status = icestream_build_print(stdout, &error);
        if (status == ICESTREAM_OK) {
            ics_machine_print(stdout);
        }
    } else {
        return ics_command_line_fault(NULL, NULL, "", "found %s after version, expected --verbose",
                                      option);
    }
    return icestream_status_exit(finish(status, &error, false));
}

static __attribute__((noinline)) int run_program(int argc, char **argv)
{
    if (!occupy_standard_streams()) {
        return icestream_status_exit(ICESTREAM_E_FAILED);
    }
    keep_memory();
    /* A closed pipe and a file that may not grow are output errors like any other. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    /* The parent process may ignore the ends of its children; this program waits for its own. */
    signal(SIGCHLD, SIG_DFL);
    ics_stage_guard_catch();
    if (argc < 2) {
        return ics_command_line_fault(NULL, NULL, "", "expected a command");
    }
    const char *name = argv[1];
    if (is_one_of(name, "--version", "-V", "version")) {
        return print_version(argc > 2 ? argv[2] : NULL);
    }
    if (is_one_of(name, "--help", "-h", "help")) {
        return print_help(argc > 2 ? argv[2] : NULL, argc > 3 ? argv[3] : NULL);
    }
    const ics_command *command = ics_commands_find(name);
    return command != NULL ? run_command(command, argc - 1, argv + 1) : unknown_command(name);
}

/* Makes sure that this thread's stack is large enough, so that a small limit (ulimit -s) is an
 * error and no crash: raises the limit if that is allowed. Uses little stack. Returns false if the
 * stack stays too small. */
static __attribute__((noinline)) bool has_stack(void)
{
    enum { WANTED = 8 << 20, LEAST = 256 << 10 }; /* bytes */
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= WANTED) {
        return true;
    }
    limit.rlim_cur = limit.rlim_max < WANTED ? limit.rlim_max : WANTED;
    (void)setrlimit(RLIMIT_STACK, &limit); /* if it fails, the old limit is what counts */
    return getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= LEAST;
}

/* Raises the limit of open files if it is lower than usual. libuv ends the program by a signal if
 * the limit forbids its pipes. Returns whether a run can open what it needs. */
static bool has_descriptors(void)
{
    enum { WANTED = 1024, LEAST = 32 };
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= WANTED) {
        return true;
    }
    limit.rlim_cur = limit.rlim_max < WANTED ? limit.rlim_max : WANTED;
    (void)setrlimit(RLIMIT_NOFILE, &limit); /* if it fails, the old limit is what counts */
    return getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= LEAST;
}

int main(int argc, char **argv)
{
    if (!has_descriptors()) {
        static const char text[] = "icestream: found a limit below 32 open files (ulimit -n), "
                                   "expected at least 32\n";
        (void)!write(STDERR_FILENO, text, sizeof text - 1);
        return icestream_status_exit(ICESTREAM_E_FAILED);
    }
    if (!has_stack()) {
        static const char text[] = "icestream: found a stack limit below 256 kB (ulimit -s), "
                                   "expected at least 256 kB\n";
        (void)!write(STDERR_FILENO, text, sizeof text - 1);
        return icestream_status_exit(ICESTREAM_E_FAILED);
    }
    return run_program(argc, argv);
}
