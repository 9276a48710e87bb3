/* Answers that are no success, as errors. */
#include "base/error.h"
#include "base/visible_text.h"
#include "pipeline/transfer/http.h"
#include "pipeline/transfer/transfer.h"

#include <errno.h>
#include <string.h>

/* Copies the code of an error of S3, such as NoSuchBucket; "": there is none. Nothing else of the
 * body is shown, because S3 answers a wrong signature with the text that was signed. */
static void read_code(const ics_http_answer *answer, char code[64])
{
    const char *from = strstr(answer->body, "<Code>");
    size_t length = 0;
    from = from != NULL ? from + strlen("<Code>") : "";
    while (length + 1 < 64 && from[length] != '\0' && from[length] != '<') {
        length++;
    }
    char text[64];
    memcpy(text, from, length);
    text[length] = '\0';
    ics_visible_text(text, false, code, 64);
}

static int cause_of(long status)
{
    switch (status) {
    case 401:
    case 403:
    case 407:
        return EACCES;
    case 404:
    case 410:
        return ICS_TRANSFER_MISSING;
    case 412:
        return EEXIST;
    case 507: /* the server's disk is full, not ours */
    case 408:
    case 409:
    case 423:
    case 425:
    case 429:
        return EAGAIN;
    default:
        return status >= 500 && status != 501 && status != 505 ? EAGAIN : EINVAL;
    }
}

static const char *meaning_of(long status)
{
    switch (status) {
    case 401:
        return " (is a token or a key missing?)";
    case 403:
        return " (access is denied)";
    case 404:
    case 410:
        return " (there is no such file)";
    case 429:
        return " (too many requests)";
    case 503:
        return " (the server is busy)";
    default:
        return "";
    }
}

int ics_http_refused(const ics_http_request *request, const ics_http_answer *answer,
                     const char *what, icestream_error *error)
{
    char code[64];
    read_code(answer, code);
    /* The whole bucket is missing, which is rather a fault of this machine's settings. */
    const int cause = strcmp(code, "NoSuchBucket") == 0 ? ENOENT : cause_of(answer->status);
    return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, cause,
                               "%.2000s: cannot %s: the server answered HTTP %ld%s%s%s",
                               request->target->shown, what, answer->status,
                               code[0] != '\0' ? ", " : "", code, meaning_of(answer->status));
}
