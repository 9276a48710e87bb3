#include "pipeline/production/queue/ticket.h"

#include "base/error.h"
#include "base/url.h"
#include "base/visible_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *ics_queue_name_fault(const char *name, size_t size, char why[256])
{
    char shown[128];
    why[0] = '\0';
    const char *expected = NULL;
    if (size == 0 || size > ICS_TICKET_NAME_MAX) {
        snprintf(why, 256, "found a name of %zu bytes, expected 1 to %d", size,
                 ICS_TICKET_NAME_MAX);
        return why;
    }
    if (memchr(name, '\0', size) != NULL) {
        expected = "no zero byte";
    } else if (memchr(name, '/', size) != NULL) {
        expected = "no slash, because a file must stay in its folder";
    } else if (name[0] == '.') {
        expected = "no dot at its beginning";
    } else {
        for (size_t i = 0; i < size; ++i) {
            if ((unsigned char)name[i] < ' ' || name[i] == 0x7f) {
                expected = "no newlines and other control characters";
            }
        }
    }
    if (expected != NULL) {
        snprintf(why, 256, "found the name '%s', expected %s",
                 ics_visible_text(name, false, shown, sizeof shown), expected);
    }
    return why;
}

/* Stores one value. Returns NULL, or what was expected of it. Names that are not known are for
 * later versions. */
static const char *store(ics_queue_ticket *out, const char *name, const redisReply *value)
{
    if (strcmp(name, "name") == 0) {
        out->name = value->str;
    } else if (strcmp(name, "steps") == 0) {
        out->steps = value->str;
        out->size = value->len;
    } else if (strlen(value->str) != value->len) {
        return "no zero byte";
    } else if (strcmp(name, "url") == 0) {
        out->url = value->str;
        return ics_url_is(value->str) ? ics_url_fault(value->str) : "expected a URL";
    } else if (strcmp(name, "sha256") == 0 && value->len > 0) {
        out->sha256 = value->str;
        return ics_parts_digest_is_text(value->str, value->len)
                   ? NULL
                   : "expected 64 hexadecimal digits, and of a large file - and the number of its "
                     "parts";
    } else if (strcmp(name, "configuration") == 0 && value->len > 0) {
        out->configuration = value->str;
        return value->len == ICS_DIGEST_TEXT - 1 && ics_parts_digest_is_text(value->str, value->len)
                   ? NULL
                   : "expected 64 hexadecimal digits";
    } else if (strcmp(name, "bytes") == 0) {
        char *end = NULL;
        out->bytes = strtoull(value->str, &end, 10);
        return value->len > 0 && value->len < 20 && *end == '\0' && value->str[0] != '-'
                   ? NULL
                   : "expected a whole number";
    }
    return NULL;
}

static bool are_texts(const redisReply *pairs)
{
    if (pairs->type != REDIS_REPLY_ARRAY || pairs->elements % 2 != 0 ||
        pairs->elements / 2 > ICS_TICKET_PAIRS) {
        return false;
    }
    for (size_t i = 0; i < pairs->elements; ++i) {
        if (pairs->element[i]->type != REDIS_REPLY_STRING) {
            return false;
        }
    }
    return true;
}

/* What is wrong with the ticket as a whole. */
static int check_whole(ics_queue_ticket *out, size_t name_size, char fault[512],
                       icestream_error *error)
{
    char why[256], digest[ICS_DIGEST_TEXT];
    if (out->name == NULL) {
        snprintf(fault, 512, "ticket: found no name, expected one");
    } else if (ics_queue_name_fault(out->name, name_size, why)[0] != '\0') {
        snprintf(fault, 512, "ticket: %s", why);
        out->name = NULL;
    } else if ((out->url == NULL) == (out->steps == NULL)) {
        snprintf(fault, 512, "ticket: found %s, expected either of them",
                 out->url == NULL ? "neither url nor steps" : "url and steps");
    } else if (out->steps != NULL && out->sha256 != NULL) {
        ICS_TRY(ics_digest_of(out->steps, out->size, digest, error));
        if (strcmp(digest, out->sha256) != 0) {
            snprintf(fault, 512, "ticket: found steps with the SHA-256 %s, expected %s", digest,
                     out->sha256);
        }
    }
    return ICESTREAM_OK;
}

int ics_queue_ticket_read(const redisReply *id, const redisReply *pairs, ics_queue_ticket *out,
                          char fault[512], icestream_error *error)
{
    size_t name_size = 0;
    *out = (ics_queue_ticket){.bytes = 0};
    fault[0] = '\0';
    snprintf(out->id, sizeof out->id, "%s", id->type == REDIS_REPLY_STRING ? id->str : "");
    if (!are_texts(pairs)) {
        snprintf(fault, 512, "ticket: found something else than up to %d names and values",
                 ICS_TICKET_PAIRS);
        return ICESTREAM_OK;
    }
    for (size_t i = 0; i < pairs->elements && fault[0] == '\0'; i += 2) {
        const redisReply *name = pairs->element[i], *value = pairs->element[i + 1];
        const char *expected = store(out, name->str, value);
        name_size = out->name == value->str ? value->len : name_size;
        if (expected != NULL) {
            char shown[64], key[32];
            snprintf(fault, 512, "ticket: %s: found '%s', %s",
                     ics_visible_text(name->str, false, key, sizeof key),
                     ics_visible_text(value->str, false, shown, sizeof shown), expected);
        }
    }
    if (out->steps != NULL) {
        out->bytes = out->size;
    }
    return fault[0] == '\0' ? check_whole(out, name_size, fault, error) : ICESTREAM_OK;
}
