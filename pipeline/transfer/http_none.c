/* In a build without libcurl. */
#include "base/error.h"
#include "pipeline/transfer/http.h"

int ics_http_check(const ics_transfer_target *target, icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_CONFIG,
                         "found %.2000s, and this icestream was built without libcurl; expected a "
                         "program in source.fetch or sink.ship that moves it, or a file: URL",
                         target->shown);
}

void ics_http_close_idle(void)
{
}

int ics_http_exchange(const ics_http_request *request, ics_http_answer *answer,
                      icestream_error *error)
{
    *answer = (ics_http_answer){.status = 0};
    return ics_http_check(request->target, error);
}
