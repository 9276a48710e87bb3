/* Tilt: layers that lie higher or lower at other positions (physics.md 6.1). */
#include "base/cleanup.h"
#include "base/error.h"
#include "pipeline/photons/models/ice/features.h"
#include "pipeline/photons/models/ice/tilt.h"

#include <math.h>

static const ics_schema_field fields[] = {
    ICS_ICE_FILE_PATH("tilt.file", tilt.file, "tilt"),
    ICS_ICE_FILE_PATH("tilt.stations", tilt.stations, "tilt"),
    ICS_ICE_FILE_PATH("tilt.axes", tilt.axes, "tilt"),
    ICS_ICE_FILE_PATH("tilt.shifts", tilt.shifts, NULL),
    ICS_ICE_FILE_NUMBER("tilt.azimuth", tilt.azimuth, -360, 360, "225"),
};

/* Rejects keys that belong to different ways to give a tilt, and keys that are incomplete. */
static int check(const ics_ice_file *file, const ics_ice_keys *keys, icestream_error *error)
{
    (void)file;
    const ics_yaml_node *azimuth = ics_ice_file_given(keys, "tilt.azimuth");
    const ics_yaml_node *shifts = ics_ice_file_given(keys, "tilt.shifts");
    const ics_yaml_node *stations = ics_ice_file_given(keys, "tilt.stations");
    const ics_yaml_node *axes = ics_ice_file_given(keys, "tilt.axes");
    int status = ICESTREAM_OK;
    if (azimuth != NULL && ics_ice_file_given(keys, "tilt.file") == NULL) {
        status =
            ics_yaml_error(error, azimuth, "tilt.azimuth: is for tilt.file, which is not given");
    }
    if (shifts != NULL && stations == NULL && axes == NULL) {
        status =
            ics_yaml_error(error, shifts, "tilt.shifts: needs tilt.stations or tilt.axes, too");
    }
    if ((stations != NULL || axes != NULL) && shifts == NULL) {
        status =
            ics_yaml_error(error, stations != NULL ? stations : axes, "%s: needs tilt.shifts, too",
                           stations != NULL ? "tilt.stations" : "tilt.axes");
    }
    return status;
}

static int load(const ics_ice_file *file, ice_medium *medium, icestream_error *error)
{
    ice_tilt *out = &medium->tilt;
    const char *first = file->tilt.file != NULL       ? file->tilt.file
                        : file->tilt.stations != NULL ? file->tilt.stations
                                                      : file->tilt.axes;
    if (first == NULL) {
        return ICESTREAM_OK;
    }
    if (file->tilt.file == NULL) {
        return ics_ice_ppc_tilt_read(first, file->tilt.shifts, file->tilt.stations == NULL, out,
                                     error);
    }
    ICS_CLEANUP(ics_text_free) ics_text text = {0};
    ICS_TRY(ics_text_read(first, &text, error));
    return ics_ice_csv_tilt_read(&text, file->tilt.azimuth * M_PI / 180, out, error);
}

static void warn(const ice_medium *medium, ics_warnings *warnings)
{
    enum { FAR_OFF = 100 }; /* m, more than any ice is known to tilt (physics.md 14.4) */
    double low, high;
    ics_ice_tilt_range(&medium->tilt, &low, &high);
    if (medium->tilt.moved > ICS_UNEVEN_LEAST) {
        ics_warnings_add(
            warnings,
            "the depths of the tilt are up to %.3g m away from equal steps of %.6g m, which are "
            "used, as in ppc; this moves layers by at most %.2g m",
            medium->tilt.uneven, medium->tilt.depth_step, medium->tilt.moved);
    }
    if (fmax(-low, high) > FAR_OFF) {
        ics_warnings_add(warnings, "the tilt shifts layers by up to %.4g m", fmax(-low, high));
    }
}

static void describe(const ice_medium *medium, FILE *out)
{
    const ice_tilt *tilt = &medium->tilt;
    double low, high;
    ics_ice_tilt_range(tilt, &low, &high);
    fprintf(out, "  tilt     layers %.4g .. %.4g m higher, ", low, high);
    if (tilt->kind == ICE_TILT_MAP) {
        fprintf(out,
                "map of %zu nodes, outside its hexagon as at the edge, outside its depths %s\n",
                ics_ice_tilt_node_count(tilt), tilt->clamp ? "as at the edge" : "linear");
    } else {
        fprintf(out, "%zu stations along azimuth %.6g, origin %.6g m, outside %s\n",
                tilt->station_count, tilt->azimuth * 180 / M_PI, tilt->origin,
                tilt->clamp ? "as at the edge" : "linear");
    }
}

/* There is nothing to remove: a tilt that is switched off is not loaded. */
static bool is_on(const icestream_config *config)
{
    return config->ice.tilt;
}

const ics_ice_feature ics_ice_feature_tilt = {
    .name = "tilt",
    .is_on = is_on,
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .check = check,
    .load = load,
    .warn = warn,
    .describe = describe,
};
