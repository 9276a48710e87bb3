#include "kernels/cpu/compiler.h"

#include "base/cleanup.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int out_of_memory(icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for the C compiler");
}

/* Gives a program an empty standard input; its output and errors go to `descriptor`. Returns 0 or
 * an errno. */
static int redirect(posix_spawn_file_actions_t *actions, int descriptor)
{
    const int opened =
        posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (opened != 0) {
        return opened;
    }
    const int output = posix_spawn_file_actions_adddup2(actions, descriptor, STDOUT_FILENO);
    return output != 0 ? output
                       : posix_spawn_file_actions_adddup2(actions, descriptor, STDERR_FILENO);
}

/* Starts a program with an empty standard input; its output and errors go to `descriptor`. Returns
 * 0 or an errno. */
static int start(char *const *command, int descriptor, pid_t *out)
{
    if (command[0] == NULL) {
        return ENOENT;
    }
    posix_spawn_file_actions_t actions;
    int result = posix_spawn_file_actions_init(&actions);
    if (result != 0) {
        return result;
    }
    result = redirect(&actions, descriptor);
    if (result == 0) {
        result = posix_spawnp(out, command[0], &actions, NULL, command, environ);
    }
    posix_spawn_file_actions_destroy(&actions);
    return result;
}

/* Returns the text of a file, which the caller frees, or NULL if memory is short. */
static char *read_all(int descriptor)
{
    const off_t size = lseek(descriptor, 0, SEEK_END);
    char *text = size >= 0 ? calloc(1, (size_t)size + 1) : NULL;
    if (text != NULL && pread(descriptor, text, (size_t)size, 0) != size) {
        free(text);
        text = NULL;
    }
    return text;
}

/* Waits until a process ends. Returns its status as waitpid() gives it, or -1. */
static int wait_for(pid_t process)
{
    int status = -1;
    while (waitpid(process, &status, 0) < 0) {
        if (errno != EINTR) {
            return -1;
        }
    }
    return status;
}

/* As ics_compiler_run, for a whole command that ends with NULL. */
static int run(char *const *command, char **output, icestream_error *error)
{
    pid_t process = 0;
    *output = NULL;
    /* No pipe: a program that the compiler leaves behind, such as the server of a cache, would keep
     * it open. */
    const int written = memfd_create("compiler", MFD_CLOEXEC);
    if (written < 0) {
        return ics_error_set(error, ICESTREAM_E_CONFIG, "cannot run '%s': %s", command[0],
                             strerror(errno));
    }
    const int result = start(command, written, &process);
    if (result != 0) {
        close(written);
        return ics_error_set(error, ICESTREAM_E_CONFIG, "cannot run '%s': %s", command[0],
                             strerror(result));
    }
    const int status = wait_for(process);
    char *text = read_all(written);
    close(written);
    if (text == NULL) {
        return out_of_memory(error);
    }
    if (!WIFEXITED(status)) {
        free(text);
        return ics_error_set(error, ICESTREAM_E_CONFIG, "'%s' was ended by signal %d", command[0],
                             WTERMSIG(status));
    }
    *output = text;
    return WEXITSTATUS(status) == 0 ? ICESTREAM_OK : ICESTREAM_E_CONFIG;
}

/* Splits the value of $CC into words, because it may contain options, as in "gcc -m64". */
static int split(const char *text, ics_compiler *out)
{
    ICS_FREES char *copy = strdup(text);
    out->command = calloc(strlen(text) / 2 + 2, sizeof *out->command);
    if (copy == NULL || out->command == NULL) {
        return -1;
    }
    char *rest = NULL;
    for (char *word = strtok_r(copy, " \t", &rest); word != NULL;
         word = strtok_r(NULL, " \t", &rest)) {
        char *kept = strdup(word);
        if (kept == NULL) {
            return -1;
        }
        out->command[out->word_count++] = kept;
    }
    return 0;
}

int ics_compiler_create(ics_compiler *out, icestream_error *error)
{
    *out = (ics_compiler){0};
    const char *name = getenv("CC");
    if (name == NULL || name[strspn(name, " \t")] == 0) {
        name = "cc";
    }
    if (split(name, out) != 0) {
        ics_compiler_destroy(out);
        return out_of_memory(error);
    }
    icestream_error reason = {.status = ICESTREAM_OK};
    const char *const version[] = {"--version"};
    const int status = ics_compiler_run(out, version, 1, &out->version, &reason);
    if (status == ICESTREAM_OK) {
        return ICESTREAM_OK;
    }
    if (out->version != NULL) {
        ics_error_set(&reason, status, "'%s --version' failed", out->command[0]);
    }
    ics_compiler_destroy(out);
    return ics_error_set(error, status,
                         "a stage header of one's own needs a C compiler: %s; install one, or let "
                         "the environment variable CC name it",
                         reason.text);
}

void ics_compiler_destroy(ics_compiler *compiler)
{
    for (size_t i = 0; i < compiler->word_count; ++i) {
        free(compiler->command[i]);
    }
    free(compiler->command);
    free(compiler->version);
    *compiler = (ics_compiler){0};
}

int ics_compiler_run(const ics_compiler *compiler, const char *const *arguments, size_t count,
                     char **output, icestream_error *error)
{
    ICS_FREES const char **command = calloc(compiler->word_count + count + 1, sizeof *command);
    if (command == NULL) {
        return out_of_memory(error);
    }
    size_t used = 0;
    for (char *const *word = compiler->command; *word != NULL; ++word) {
        if (**word != '-') {
            command[used++] = *word;
        }
    }
    for (size_t i = 0; i < count; ++i) {
        command[used++] = arguments[i];
    }
    for (char *const *word = compiler->command; *word != NULL; ++word) {
        if (**word == '-') {
            command[used++] = *word;
        }
    }
    /* The cast is safe: posix_spawn does not change the words. */
    return run((char *const *)command, output, error);
}
