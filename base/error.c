#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    int value, exit_status;
    const char *text;
} statuses[] = {
#define X(name, value, exit_status, text) {value, exit_status, text},
    ICESTREAM_STATUS_LIST(X)
#undef X
};

const char *icestream_status_text(int status)
{
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; ++i) {
        if (statuses[i].value == status) {
            return statuses[i].text;
        }
    }
    return "unknown status";
}

int icestream_status_exit(int status)
{
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; ++i) {
        if (statuses[i].value == status) {
            return statuses[i].exit_status;
        }
    }
    return 1;
}

static void fill(icestream_error *error, int status, int cause, const char *format,
                 va_list arguments) __attribute__((format(printf, 4, 0)));

static void fill(icestream_error *error, int status, int cause, const char *format,
                 va_list arguments)
{
    if (error != NULL) {
        vsnprintf(error->text, sizeof error->text, format, arguments);
        error->status = status;
        error->cause = cause;
    }
}

int ics_error_set(icestream_error *error, int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill(error, status, 0, format, arguments);
    va_end(arguments);
    return status;
}

int ics_error_set_cause(icestream_error *error, int status, int cause, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill(error, status, cause, format, arguments);
    va_end(arguments);
    return status;
}

bool ics_error_no_room(const icestream_error *error)
{
    return error->status != ICESTREAM_OK && (error->cause == ENOSPC || error->cause == EDQUOT);
}

/* The causes that may pass. The last ones say nothing about a file that is read or written. */
static const struct {
    int cause;
    bool ours;
} passing[] = {
    {ENOSPC, false},    {EDQUOT, false},       {EIO, false},       {EAGAIN, false},
    {EINTR, false},     {ESTALE, false},       {ETIMEDOUT, false}, {ENOLCK, false},
    {EHOSTDOWN, false}, {EHOSTUNREACH, false}, {ENETDOWN, false},  {ENETUNREACH, false},
    {EREMOTEIO, false}, {ENOTCONN, false}, /* the broker of a queue is away */
    {ENFILE, true},     {EMFILE, true},        {ENOMEM, true},     {ENOBUFS, true},
};

bool ics_error_may_pass(const icestream_error *error)
{
    bool may = false;
    for (size_t i = 0; error->status != ICESTREAM_OK && i < sizeof passing / sizeof *passing; ++i) {
        may |= passing[i].cause == error->cause;
    }
    return may;
}

int ics_error_of_input(int cause)
{
    int status = ICESTREAM_E_INPUT;
    for (size_t i = 0; i < sizeof passing / sizeof *passing; ++i) {
        status = passing[i].cause == cause && passing[i].ours ? ICESTREAM_E_FAILED : status;
    }
    return status;
}

int ics_error_add(icestream_error *error, int status, const char *format, ...)
{
    if (error == NULL) {
        return status;
    }
    if (error->status == ICESTREAM_OK) {
        error->status = status;
        error->cause = 0;
        error->text[0] = 0;
    }
    /* TAIL bytes stay free for the line that counts the errors that did not fit. */
    enum { TAIL = 64 };
    static const char more[] = "\n... and %u more errors";
    size_t used = strlen(error->text);
    unsigned hidden = 0;
    char *last = strrchr(error->text, '\n');
    if (last != NULL && sscanf(last, more, &hidden) == 1) {
        used = (size_t)(last - error->text);
    } else {
        hidden = 0;
    }

    char line[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);

    if (hidden == 0 && used + strlen(line) + 2 + TAIL < sizeof error->text) {
        snprintf(error->text + used, sizeof error->text - used, "%s%s", used ? "\n" : "", line);
    } else {
        snprintf(error->text + used, sizeof error->text - used, more, hidden + 1);
    }
    return error->status;
}

/* If the last line counts `hidden` errors of this name, writes one more into it. */
static bool count_in_last_line(icestream_error *error, const char *name, size_t hidden)
{
    static const char more[] = "%s: error: and %zu more";
    char expected[1200];
    snprintf(expected, sizeof expected, more, name, hidden);
    char *line = strrchr(error->text, '\n');
    line = line != NULL ? line + 1 : error->text;
    if (strcmp(line, expected) != 0) {
        return false;
    }
    const size_t room = sizeof error->text - (size_t)(line - error->text);
    snprintf(line, room, more, name, hidden + 1);
    return true;
}

int ics_error_add_counted(icestream_error *error, size_t *count, int status, const char *name,
                          const char *format, ...)
{
    char line[2048];
    if (++*count <= ICS_ERROR_KIND) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(line, sizeof line, format, arguments);
        va_end(arguments);
        return ics_error_add(error, status, "%s", line);
    }
    const size_t hidden = *count - ICS_ERROR_KIND;
    if (error != NULL && error->status != ICESTREAM_OK && hidden > 1 &&
        count_in_last_line(error, name, hidden - 1)) {
        return error->status;
    }
    return ics_error_add(error, status, "%s: error: and %zu more", name, hidden);
}

int ics_error_copy(icestream_error *to, const icestream_error *from)
{
    if (from == NULL) {
        return ICESTREAM_OK;
    }
    if (to != NULL && to != from) {
        *to = *from;
    }
    return from->status;
}

void ics_error_keep(ics_error_kept *kept, const icestream_error *from)
{
    char *text = from->status != ICESTREAM_OK ? strdup(from->text) : NULL;
    free(kept->text);
    *kept = (ics_error_kept){.status = from->status, .cause = from->cause, .text = text};
}

int ics_error_copy_kept(icestream_error *to, const ics_error_kept *kept)
{
    const char *text = kept->text != NULL ? kept->text : icestream_status_text(kept->status);
    if (to != NULL && kept->status == ICESTREAM_OK) {
        *to = (icestream_error){.status = ICESTREAM_OK};
    } else if (to != NULL) {
        ics_error_set_cause(to, kept->status, kept->cause, "%s", text);
    }
    return kept->status;
}

void ics_error_forget(ics_error_kept *kept)
{
    free(kept->text);
    *kept = (ics_error_kept){.status = ICESTREAM_OK};
}
