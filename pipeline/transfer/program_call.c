#include "pipeline/transfer/program_call.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The text with `by` for every `mark`. NULL: out of memory. */
static char *substitute(const char *text, const char *mark, const char *by)
{
    const size_t length = strlen(mark);
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, mark)) != NULL; at += length) {
        count++;
    }
    char *made = malloc(strlen(text) + count * strlen(by) + 1), *to = made;
    if (made == NULL) {
        return NULL;
    }
    for (const char *at; (at = strstr(text, mark)) != NULL; text = at + length) {
        to = stpcpy(mempcpy(to, text, (size_t)(at - text)), by);
    }
    stpcpy(to, text);
    return made;
}

static void free_texts(char **texts)
{
    for (char **at = texts; texts != NULL && *at != NULL; ++at) {
        free(*at);
    }
    free(texts);
}

/* {path} is replaced last, and a URL has no braces, so a name cannot be taken for a mark. NULL: out
 * of memory. */
static char *make_word(const ics_program_call *call, const char *word)
{
    if (call->appends) {
        return strdup(word);
    }
    char *half = substitute(word, "{url}", call->url != NULL ? call->url : "");
    char *whole = half != NULL ? substitute(half, "{path}", call->path) : NULL;
    free(half);
    return whole;
}

static char **make_arguments(const ics_program_call *call)
{
    const size_t count = call->words.count;
    char **arguments = calloc(count + 2, sizeof *arguments);
    for (size_t i = 0; arguments != NULL && i < count + call->appends; ++i) {
        arguments[i] = i < count ? make_word(call, call->words.words[i]) : strdup(call->path);
        if (arguments[i] == NULL) {
            free_texts(arguments);
            return NULL;
        }
    }
    return arguments;
}

/* NAME=VALUE; NULL: out of memory. */
static char *make_variable(const char *name, const char *value)
{
    char *text = NULL;
    return asprintf(&text, "%s=%s", name, value) >= 0 ? text : NULL;
}

static bool is_ours(const char *variable)
{
    return strncmp(variable, "ICESTREAM_PATH=", 15) == 0 ||
           strncmp(variable, "ICESTREAM_URL=", 14) == 0;
}

static char **make_environment(const ics_program_call *call)
{
    size_t count = 0, kept = 0;
    while (environ[count] != NULL) {
        count++;
    }
    char **all = calloc(count + 3, sizeof *all);
    for (size_t i = 0; all != NULL && i < count; ++i) {
        if (!is_ours(environ[i]) && (all[kept++] = strdup(environ[i])) == NULL) {
            free_texts(all);
            return NULL;
        }
    }
    const char *url = call->url != NULL ? call->url : "";
    if (all != NULL && ((all[kept++] = make_variable("ICESTREAM_PATH", call->path)) == NULL ||
                        (all[kept++] = make_variable("ICESTREAM_URL", url)) == NULL)) {
        free_texts(all);
        return NULL;
    }
    return all;
}

int ics_program_call_start(uv_loop_t *loop, const ics_program_call *call, uv_process_t *process,
                           uv_exit_cb on_exit)
{
    char **arguments = make_arguments(call), **environment = make_environment(call);
    int failure = ICS_PROGRAM_NO_MEMORY;
    if (arguments != NULL && environment != NULL) {
        uv_stdio_container_t streams[3] = {{.flags = UV_IGNORE},
                                           {.flags = UV_INHERIT_FD, .data = {.fd = STDERR_FILENO}},
                                           {.flags = UV_INHERIT_FD, .data = {.fd = STDERR_FILENO}}};
        const uv_process_options_t options = {.exit_cb = on_exit,
                                              .file = call->file,
                                              .args = arguments,
                                              .env = environment,
                                              .stdio_count = 3,
                                              .stdio = streams};
        failure = uv_spawn(loop, process, &options);
    }
    free_texts(arguments);
    free_texts(environment);
    return failure;
}

void ics_program_call_describe(int64_t status, int number, char failure[ICS_PROGRAM_FAILURE])
{
    failure[0] = '\0';
    if (number != 0) {
        snprintf(failure, ICS_PROGRAM_FAILURE, "ended by signal %d", number);
    } else if (status != 0) {
        snprintf(failure, ICS_PROGRAM_FAILURE, "exit status %d", (int)status);
    }
}
