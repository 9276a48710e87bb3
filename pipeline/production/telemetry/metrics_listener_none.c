/* In place of metrics_listener.c, for a build without libmicrohttpd. */
#include "base/error.h"
#include "pipeline/production/telemetry/metrics_listener.h"

int ics_metrics_listener_check(const ics_metrics_listener_options *options, icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_CONFIG,
                         "metrics.listen: found '%.200s', but this build cannot serve metrics: it "
                         "was made without libmicrohttpd; expected metrics.file, or another build",
                         options->address);
}

int ics_metrics_listener_create(const ics_metrics_listener_options *options,
                                ics_metrics_listener **out, icestream_error *error)
{
    *out = NULL;
    return ics_metrics_listener_check(options, error);
}

void ics_metrics_listener_destroy(ics_metrics_listener *listener)
{
    (void)listener;
}

void ics_metrics_listener_publish(ics_metrics_listener *listener, const ics_metrics *metrics)
{
    (void)listener;
    (void)metrics;
}

void ics_metrics_listener_end(ics_metrics_listener *listener, const ics_metrics *metrics)
{
    (void)listener;
    (void)metrics;
}

const char *ics_metrics_listener_url(const ics_metrics_listener *listener,
                                     char url[ICS_METRICS_URL])
{
    (void)listener;
    url[0] = '\0';
    return url;
}
