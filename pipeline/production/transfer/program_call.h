/* Starts programs of the user, whose words no shell interprets, and says how they ended. For a
 * loop's own thread. */
#ifndef ICS_PRODUCTION_TRANSFER_PROGRAM_CALL_H
#define ICS_PRODUCTION_TRANSFER_PROGRAM_CALL_H

#include "pipeline/photons/config/config.h"

#include <uv.h>

/* One start of a program. All texts belong to the caller. */
typedef struct ics_program_call {
    const char *file;     /* the program */
    ics_user_words words; /* it and its arguments, as configured */
    bool appends;         /* the path is the last argument, and no word stands for anything */
    const char *path;     /* stands for {path} */
    const char *url;      /* stands for {url}; NULL: "" */
    char *const *allow;   /* prefixes of URLs, then a NULL; NULL: any URL may be fetched */
    bool replaces;        /* what is at the URL may be replaced */
    uint64_t most;        /* bytes of a file that it may write, about; 0: no limit */
} ics_program_call;

enum { ICS_PROGRAM_FAILURE = 128 };

/* Starts the program. Its standard output goes to standard error, because standard output may carry
 * data. Its environment has ICESTREAM_PATH, ICESTREAM_URL, ICESTREAM_ALLOW (the prefixes with
 * blanks between them, or "") and ICESTREAM_FORCE ("1" or ""): a URL that may carry a secret stands
 * there only, because everybody can read command lines. It and its children get SIGXFSZ if they
 * write a file of more than `most` bytes, with some more for their logs. 0, or an error of libuv;
 * in both cases the caller closes the handle. */
int ics_program_call_start(uv_loop_t *loop, const ics_program_call *call, uv_process_t *process,
                           uv_exit_cb on_exit);

/* Writes how a program that moves a file ended; "" if it succeeded. Returns the cause of the error:
 * programs say by four exit statuses of <sysexits.h> that another try would end in the same way;
 * EFBIG: it or its child was ended by SIGXFSZ; after all others it is EAGAIN. */
int ics_program_call_describe(int64_t status, int number, char failure[ICS_PROGRAM_FAILURE]);

#endif
