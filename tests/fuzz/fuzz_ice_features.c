/* Fuzzes tilt tables and cfg.txt. The first byte chooses the reader: '0' tilt.par and tilt.dat, '1'
 * tilt.set and tilt.map (the two files separated by a line "="), '2' a tilt in CSV, '3' cfg.txt. An
 * accepted table must keep the promises of its reader; otherwise the fuzzer aborts. Good inputs are
 * in corpus/ice_features. */
#include "pipeline/photons/models/ice/features.h"
#include "pipeline/photons/models/ice/sources.h"
#include "pipeline/photons/models/ice/tilt.h"
#include "tests/fuzz/fuzz_target.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t supports_of(const ice_tilt *tilt)
{
    return tilt->kind == ICE_TILT_MAP ? tilt->axes[0].count * tilt->axes[1].count
                                      : tilt->station_count;
}

static void check_tilt(int status, ice_tilt *tilt)
{
    double low, high;
    if (status != ICESTREAM_OK) {
        require(tilt->kind == ICE_TILT_NONE && tilt->shifts == NULL && tilt->stations == NULL);
        return;
    }
    require(tilt->depth_count >= 2 && tilt->depth_count <= 4096 && tilt->depth_step > 0);
    require(isfinite(tilt->first_depth) && isfinite(tilt->azimuth) && tilt->origin == 0);
    for (size_t i = 0; i < tilt->depth_count * supports_of(tilt); ++i) {
        require(fabs(tilt->shifts[i]) <= 1000);
    }
    ics_ice_tilt_range(tilt, &low, &high);
    require(low <= high);
    if (tilt->kind == ICE_TILT_LINE) {
        require(tilt->station_count >= 2);
        for (size_t i = 1; i < tilt->station_count; ++i) {
            require(tilt->stations[i] > tilt->stations[i - 1]);
        }
    } else {
        size_t nodes = ics_ice_tilt_node_count(tilt);
        require(nodes >= 7 && nodes < ICS_TEXT_FIELDS_MAX);
        for (int i = 0; i < 2; ++i) {
            const ice_tilt_axis *axis = &tilt->axes[i];
            require(axis->step > 0 && axis->cut >= 2 && axis->cut < axis->count);
        }
        /* The first and the last node of each axis exist. */
        require(ice_tilt_has_node(tilt, 0, 0));
        require(ice_tilt_has_node(tilt, tilt->axes[0].count - 1, tilt->axes[1].count - 1));
    }
    ics_ice_tilt_free(tilt);
}

/* Splits the input at a line "=" into two texts. Without such a line the second text is empty. */
static void split(const char *data, size_t size, ics_text texts[2])
{
    const char *between = memmem(data, size, "\n=\n", 3);
    size_t first = between != NULL ? (size_t)(between - data) + 1 : size;
    size_t rest = between != NULL ? first + 2 : size;
    texts[0] = ics_text_borrow("supports", data, first);
    texts[1] = ics_text_borrow("shifts", data + rest, size - rest);
}

static void check_settings(const ice_medium *properties, const ics_ppc_settings *settings)
{
    double scattering = ics_ice_birefringence_scattering(&properties->birefringence);
    require(scattering >= 0 && isfinite(scattering));
    require(settings->oversize > 0 && settings->efficiency > 0);
    require(properties->mean_cosine > -1 && properties->mean_cosine < 1);
    require(isfinite(properties->flow_azimuth));
    for (int i = 0; i < 3; ++i) {
        require(fabs(properties->absorption_anisotropy[i]) <= 7);
    }
    if (properties->hole.radius != 0) {
        require(properties->hole.radius > 0 && properties->hole.effective_scattering > 0 &&
                properties->hole.absorption > 0 && properties->hole.mean_cosine < 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    ics_text text = ics_text_borrow("fuzz", (const char *)data + 1, size - 1), texts[2];
    ics_warnings warnings = {0};
    icestream_error error = {0};
    ics_ppc_settings settings;
    ice_medium properties = {0};
    ice_tilt tilt = {0};
    int status = ICESTREAM_OK;
    split((const char *)data + 1, size - 1, texts);
    switch (data[0]) {
    case '0':
        status = ics_ice_ppc_tilt_line_read(&texts[0], &texts[1], &tilt, &error);
        check_tilt(status, &tilt);
        break;
    case '1':
        status = ics_ice_ppc_tilt_map_read(&texts[0], &texts[1], &tilt, &error);
        check_tilt(status, &tilt);
        break;
    case '2':
        status = ics_ice_csv_tilt_read(&text, 0, &tilt, &error);
        check_tilt(status, &tilt);
        break;
    case '3':
        status = ics_ice_ppc_settings_read(&text, &properties, &settings, &warnings, &error);
        if (status == ICESTREAM_OK) {
            check_settings(&properties, &settings);
        }
        break;
    default:
        break;
    }
    require((status == ICESTREAM_OK) == (error.status == ICESTREAM_OK));
    ics_warnings_free(&warnings);
    return 0;
}
