#include "pipeline/photons/files/hit_text.h"

#include "base/error.h"
#include "pipeline/photons/files/hit_lines.h"

#include <inttypes.h>
#include <math.h>

static double polar_angle(double x, double y, double z)
{
    return atan2(hypot(x, y), z);
}

/* From 0 to 2 pi. */
static double azimuth(double x, double y)
{
    const double angle = atan2(y, x);
    return angle < 0 ? angle + 2 * M_PI : angle;
}

static int begin(ics_text_output *file, icestream_error *error)
{
    return ics_text_output_put(file, error, "V 2000.1.2\nTBEGIN ? ? ?\n");
}

static int put_hit(ics_text_output *file, const icestream_hit *hit, const icestream_hit *before,
                   icestream_error *error)
{
    /* ppc's manual says "from the centre to the impact point"; its program prints the opposite, and
     * so do we. Subtracting makes no "-0.000000" of a zero. */
    const double x = 0.0 - (double)hit->x, y = 0.0 - (double)hit->y, z = 0.0 - (double)hit->z;
    if (before == NULL || before->event_id != hit->event_id) {
        ICS_TRY(ics_text_output_put(file, error, "%sEM %" PRIu64 " 1 1970 1 0 0\n",
                                    before != NULL ? "EE\n" : "", hit->event_id));
    }
    return ics_text_output_put(file, error, "HIT %u %u %.6f %.6f %.6f %.6f %.6f %.6f\n",
                               hit->string, hit->module, hit->t, (double)hit->wavelength,
                               polar_angle(hit->dx, hit->dy, hit->dz), azimuth(hit->dx, hit->dy),
                               polar_angle(x, y, z), azimuth(x, y));
}

static int end(ics_text_output *file, bool is_empty, icestream_error *error)
{
    return ics_text_output_put(file, error, "%sTEND ? ? ?\nEND\n", is_empty ? "" : "EE\n");
}

int ics_hit_text_export(const char *from, const char *to, bool force, icestream_error *error)
{
    static const ics_hit_form form = {.begin = begin, .put = put_hit, .end = end};
    return ics_hit_lines_export(from, to, force, &form, error);
}
