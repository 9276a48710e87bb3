/* What tools for S3 read from the environment: keys, region and endpoint. */
#ifndef ICS_TRANSFER_AWS_SETTINGS_H
#define ICS_TRANSFER_AWS_SETTINGS_H

#include "pipeline/icestream.h"

typedef struct ics_aws_settings {
    char *key, *secret;
    char *session;  /* NULL: none */
    char *region;   /* "us-east-1" if nothing says another one */
    char *endpoint; /* "https://HOST[:PORT]" without a slash at the end; NULL: that of Amazon */
} ics_aws_settings;

/* Reads AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or the profile AWS_PROFILE
 * ("default") of the file AWS_SHARED_CREDENTIALS_FILE (~/.aws/credentials), which only its owner
 * may read; AWS_REGION or AWS_DEFAULT_REGION; AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL.
 * ICESTREAM_E_CONFIG: there are no keys, or the file cannot be used; the text has no secret.
 * ICESTREAM_E_MEMORY. The caller closes *out, also after an error. */
int ics_aws_settings_open(ics_aws_settings *out, icestream_error *error);
void ics_aws_settings_close(ics_aws_settings *settings);

#endif
