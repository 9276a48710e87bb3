#include "pipeline/files/hit_text.h"

#include "pipeline/files/hit_lines.h"

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

static int put_hit(ics_text_output *file, const icestream_hit *hit, icestream_error *error)
{
    /* ppc's manual says "from the centre to the impact point"; its program prints the opposite, and
     * so do we. Subtracting makes no "-0.000000" of a zero. */
    const double x = 0.0 - (double)hit->x, y = 0.0 - (double)hit->y, z = 0.0 - (double)hit->z;
    return ics_text_output_put(file, error, "HIT %u %u %.6f %.6f %.6f %.6f %.6f %.6f\n",
                               hit->string, hit->module, hit->t, (double)hit->wavelength,
                               polar_angle(hit->dx, hit->dy, hit->dz), azimuth(hit->dx, hit->dy),
                               polar_angle(x, y, z), azimuth(x, y));
}

static int put_hits(ics_text_output *file, ics_hit_reader *reader, icestream_hit *hits,
                    icestream_error *error)
{
    uint64_t event = 0;
    bool begun = false;
    int status = ics_text_output_put(file, error, "V 2000.1.2\nTBEGIN ? ? ?\n");
    for (size_t got = 1; status == ICESTREAM_OK && got > 0;) {
        status = ics_hit_reader_read(reader, hits, ICS_HIT_LINES_BLOCK, &got, error);
        for (size_t i = 0; status == ICESTREAM_OK && i < got; ++i) {
            if (!begun || hits[i].event_id != event) {
                status = ics_text_output_put(file, error, "%sEM %" PRIu64 " 1 1970 1 0 0\n",
                                             begun ? "EE\n" : "", hits[i].event_id);
            }
            begun = true;
            event = hits[i].event_id;
            if (status == ICESTREAM_OK) {
                status = put_hit(file, &hits[i], error);
            }
        }
        if (status == ICESTREAM_OK) {
            status = ics_text_output_pass_on(file, error);
        }
    }
    return status == ICESTREAM_OK
               ? ics_text_output_put(file, error, "%sTEND ? ? ?\nEND\n", begun ? "EE\n" : "")
               : status;
}

int ics_hit_text_export(const char *from, const char *to, bool force, icestream_error *error)
{
    return ics_hit_lines_export(from, to, force, put_hits, error);
}
