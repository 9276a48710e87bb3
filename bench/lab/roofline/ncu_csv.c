#include "bench/lab/roofline/ncu_csv.h"

#include "base/error.h"
#include "base/visible_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Besides the metrics that were asked for, a row has hundreds of facts about GPU and launch. */
enum { COLUMNS_MAX = 4096, NO_COLUMN = -1 };

typedef struct reader {
    const char *rest; /* what has not been read */
    size_t left;
    size_t line;              /* number of the last line that was read, from 1 */
    char *text;               /* that line with a NUL byte; its cells point into it */
    char *cells[COLUMNS_MAX]; /* [count] */
    size_t count;
    size_t columns; /* number of columns in the row of names; 0 before that row */
    int kernel;     /* column */
    int column[ICS_COUNTERS];
    char units[ICS_COUNTERS][24];
} reader;

static int fault(const reader *file, icestream_error *error, const char *found,
                 const char *expected)
{
    return ics_error_set(error, ICESTREAM_E_INPUT, "ncu: line %zu: found %s, expected %s",
                         file->line, found, expected);
}

/* Copies the next line into file->text, without its end. *found is false at the end of the text. */
static int next_line(reader *file, bool *found, icestream_error *error)
{
    *found = file->left > 0;
    if (!*found) {
        return ICESTREAM_OK;
    }
    const char *end = memchr(file->rest, '\n', file->left);
    size_t length = end != NULL ? (size_t)(end - file->rest) : file->left;
    memcpy(file->text, file->rest, length);
    const size_t all = length + (end != NULL);
    file->rest += all;
    file->left -= all;
    file->line += 1;
    length -= length > 0 && file->text[length - 1] == '\r';
    file->text[length] = '\0';
    return memchr(file->text, '\0', length) == NULL ? ICESTREAM_OK
                                                    : fault(file, error, "a zero byte", "text");
}

/* Ends the cell that begins at `from` and stands in quotes, and removes the quotes. Returns what
 * follows, or NULL if the last quote is missing. */
static char *unquote(char *from)
{
    char *to = from, *next = from + 1;
    while (*next != '\0') {
        if (*next == '"' && next[1] != '"') {
            *to = '\0';
            return next + 1;
        }
        next += *next == '"';
        *to++ = *next++;
    }
    return NULL;
}

/* Cuts the line into cells. */
static int split(reader *file, icestream_error *error)
{
    file->count = 0;
    for (char *next = file->text;;) {
        if (file->count == COLUMNS_MAX) {
            return fault(file, error, "more than 4096 cells", "a row of ncu's table");
        }
        file->cells[file->count++] = next;
        next = *next == '"' ? unquote(next) : next + strcspn(next, ",");
        if (next == NULL || (*next != ',' && *next != '\0')) {
            return fault(file, error, "a cell whose quotes do not end", "a row of ncu's table");
        }
        if (*next == '\0') {
            return ICESTREAM_OK;
        }
        *next++ = '\0';
    }
}

static int find_column(const reader *file, const char *name)
{
    for (size_t i = 0; i < file->count; ++i) {
        if (strcmp(file->cells[i], name) == 0) {
            return (int)i;
        }
    }
    return NO_COLUMN;
}

/* Reads the row of names. */
static int read_names(reader *file, icestream_error *error)
{
    file->columns = file->count;
    file->kernel = find_column(file, "Kernel Name");
    if (file->kernel == NO_COLUMN) {
        return fault(file, error, "no column 'Kernel Name'", "a table of ncu --csv --page raw");
    }
    for (int i = 0; i < ICS_COUNTERS; ++i) {
        const char *metric = ics_counters_metric((ics_counter)i);
        file->column[i] = find_column(file, metric);
        if (file->column[i] == NO_COLUMN) {
            return ics_error_set(error, ICESTREAM_E_INPUT,
                                 "ncu: line %zu: found no column of the metric '%s', which this "
                                 "version of ncu or this GPU does not have; expected all metrics "
                                 "that were asked for",
                                 file->line, metric);
        }
    }
    return ICESTREAM_OK;
}

/* Copies the name of the function: "void cub::sort<int>(int *)" becomes "sort". */
static void copy_kernel(const char *name, char *out, size_t size)
{
    const size_t whole = strcspn(name, "<(");
    size_t first = whole, length = 0;
    while (first > 0 && name[first - 1] != ' ' && name[first - 1] != ':') {
        --first;
    }
    for (size_t i = first; i < whole && length + 1 < size; ++i) {
        const unsigned char c = (unsigned char)name[i];
        out[length++] = (char)(isalnum(c) || strchr("_$.~-", c) != NULL ? c : '?');
    }
    out[length] = '\0';
}

static int read_value(const reader *file, ics_counter counter, ics_ncu_launch *launch,
                      icestream_error *error)
{
    const char *text = file->cells[file->column[counter]], *unit = file->units[counter];
    if (ics_counters_read(counter, text, unit, &launch->values[counter])) {
        return ICESTREAM_OK;
    }
    char shown[64], shown_unit[64];
    return ics_error_set(error, ICESTREAM_E_INPUT,
                         "ncu: line %zu: kernel %s: metric %s: found '%s' (%s), expected a number "
                         "of at least 0; ncu writes 'n/a' where the GPU does not have the metric",
                         file->line, launch->kernel, ics_counters_metric(counter),
                         ics_visible_text(text, false, shown, sizeof shown),
                         ics_visible_text(unit, false, shown_unit, sizeof shown_unit));
}

/* Reads a row below the names: units, which have no kernel, or a launch. */
static int read_row(reader *file, ics_ncu_launch_function function, void *user,
                    icestream_error *error)
{
    if (file->count != file->columns) {
        char found[64], expected[64];
        snprintf(found, sizeof found, "%zu cells", file->count);
        snprintf(expected, sizeof expected, "%zu as in the row of names", file->columns);
        return fault(file, error, found, expected);
    }
    ics_ncu_launch launch = {.kernel = ""};
    if (file->cells[file->kernel][0] == '\0') {
        for (int i = 0; i < ICS_COUNTERS; ++i) {
            snprintf(file->units[i], sizeof file->units[i], "%s", file->cells[file->column[i]]);
        }
        return ICESTREAM_OK;
    }
    copy_kernel(file->cells[file->kernel], launch.kernel, sizeof launch.kernel);
    for (int i = 0; i < ICS_COUNTERS; ++i) {
        ICS_TRY(read_value(file, (ics_counter)i, &launch, error));
    }
    return function(&launch, user, error);
}

/* Reads a line that is not empty. What stands above the row of names is skipped. */
static int read_line(reader *file, ics_ncu_launch_function function, void *user,
                     icestream_error *error)
{
    if (strncmp(file->text, "==", 2) == 0 || file->text[0] == '\0') {
        return ICESTREAM_OK;
    }
    if (file->columns == 0 && strncmp(file->text, "\"ID\",", 5) != 0) {
        return ICESTREAM_OK;
    }
    ICS_TRY(split(file, error));
    return file->columns == 0 ? read_names(file, error) : read_row(file, function, user, error);
}

int ics_ncu_csv_read(const char *text, size_t size, ics_ncu_launch_function function, void *user,
                     icestream_error *error)
{
    reader *file = calloc(1, sizeof *file);
    char *line = malloc(size + 1); /* the longest line is the whole text */
    if (file == NULL || line == NULL) {
        free(line);
        free(file);
        return ics_error_set(error, ICESTREAM_E_MEMORY, "ncu: out of memory");
    }
    file->text = line;
    file->rest = text;
    file->left = size;
    bool more = true;
    int status = ICESTREAM_OK;
    while (status == ICESTREAM_OK && more) {
        status = next_line(file, &more, error);
        if (status == ICESTREAM_OK && more) {
            status = read_line(file, function, user, error);
        }
    }
    if (status == ICESTREAM_OK && file->columns == 0) {
        status = ics_error_set(error, ICESTREAM_E_INPUT,
                               "ncu: found no table in what ncu wrote, expected one row for each "
                               "launch of a kernel: ncu saw no kernel");
    }
    free(line);
    free(file);
    return status;
}
