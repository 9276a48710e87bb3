/* What a run reads and where each piece goes: source.files made into a list of files. */
#ifndef IS_INPUTS_H
#define IS_INPUTS_H

#include "pipeline/config/config.h"

/* One step file, or a stream of messages: standard input, or a named pipe. */
typedef struct is_input {
    bool stream;
    char *path;     /* NULL: standard input */
    char *output;   /* of the hit file; NULL: standard output, or one name per message */
    uint64_t bytes; /* size of the file, 0 for standard input; for estimates only */
} is_input;

typedef struct is_inputs {
    is_input *items; /* [count], in the order of source.files, each pattern's matches by name */
    size_t count;
} is_inputs;

/* Expands patterns and names outputs. IS_E_CONFIG, all problems in one text: a file that is not
 * there, a pattern that matches nothing, a file named twice (also under two names), two files with
 * the same output, an output that is an input. IS_E_MEMORY. */
int is_inputs_plan(const is_config *config, is_inputs *out, is_error *error);
void is_inputs_free(is_inputs *inputs);

/* The hit file for a step file: DIRECTORY/a.hits.npy for a.steps.npy and a.npy; any other name gets
 * the ending appended. NULL: out of memory. The caller frees it. */
char *is_inputs_output(const char *directory, const char *path);
/* The hit file for message `number` (from 0) of a stream: DIRECTORY/stdin-000000.hits.npy, or
 * DIRECTORY/PIPE-000000.hits.npy for a named pipe at .../PIPE. NULL: out of memory. The caller
 * frees it. */
char *is_inputs_message_output(const char *directory, const is_input *stream, uint64_t number);

#endif
