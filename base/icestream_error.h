/* The results and errors of libicestream. icestream.h includes this public header. Every room of
 * the program reports errors in this form. */
#ifndef ICESTREAM_ERROR_H
#define ICESTREAM_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

/* Marks the functions that a shared library exports; all others are compiled with hidden
 * visibility. */
#if defined(__GNUC__)
#define ICESTREAM_PUBLIC __attribute__((visibility("default")))
#else
#define ICESTREAM_PUBLIC
#endif

/* The single list of results: name, value, exit status of the program, text. */
#define ICESTREAM_STATUS_LIST(X)                                                                   \
    X(ICESTREAM_OK, 0, 0, "done")                                                                  \
    X(ICESTREAM_E_FAILED, -1, 1, "the run failed")                                                 \
    X(ICESTREAM_E_USAGE, -2, 2, "wrong usage")                                                     \
    X(ICESTREAM_E_CONFIG, -3, 2, "invalid configuration")                                          \
    X(ICESTREAM_E_INPUT, -4, 3, "invalid input file")                                              \
    X(ICESTREAM_E_OUTPUT, -5, 74, "cannot write output")                                           \
    X(ICESTREAM_E_MEMORY, -6, 1, "out of memory")                                                  \
    X(ICESTREAM_E_DEVICE, -7, 1, "no such device")                                                 \
    X(ICESTREAM_E_DIFFERENT, -8, 1, "results differ")                                              \
    X(ICESTREAM_E_UNFINISHED, -9, 75, "stopped with work left")                                    \
    X(ICESTREAM_E_INTERRUPTED, -10, 130, "interrupted")                                            \
    X(ICESTREAM_E_TERMINATED, -11, 143, "terminated")

typedef enum icestream_status {
#define X(name, value, exit_status, text) name = value,
    ICESTREAM_STATUS_LIST(X)
#undef X
} icestream_status;

/* What went wrong and where: "run.yaml:12:9: error: ..." or "a.steps.npy: row 17, field beta: ...".
 * Several errors of one file are separated by newlines. */
typedef struct icestream_error {
    int status; /* an icestream_status */
    int cause;  /* the errno behind it, where a system call failed; else 0 */
    char text[8192];
} icestream_error;

/* The sentence for an icestream_status, never NULL. */
ICESTREAM_PUBLIC const char *icestream_status_text(int status);
/* The program's exit status for an icestream_status; 1 for values that are not in the list. */
ICESTREAM_PUBLIC int icestream_status_exit(int status);

#ifdef __cplusplus
}
#endif

#endif
