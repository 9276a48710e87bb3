/* Promise: arrays of NumPy with effective areas are read with the pixels of HEALPix in the ring
 * scheme, in both types of numbers and all versions of .npy (physics.md 8.16). The centres of
 * pixels are those of healpy 1.20.1 (pix2ang). To join: one more pixel in `pixels`. Damaged arrays
 * are in tests/cli/bad_inputs/bad_inputs_pmt_table.py. */
#include "pipeline/photons/models/types/pmt_areas.h"
#include "pipeline/photons/models/types/pmt_healpix.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <string.h>

START_TEST(centres_of_pixels)
{
    /* With 4 pixels along a side of a face. */
    static const struct {
        size_t pixel;
        double zenith, azimuth;
    } pixels[] = {
        {0, 11.7158523949, 45},     {3, 11.7158523949, 315},
        {5, 23.5564643091, 67.5},   {23, 35.6590876961, 345},
        {24, 48.1896851042, 11.25}, {40, 60, 0},
        {95, 90, 168.75},           {100, 90, 281.25},
        {151, 120, 337.5},          {167, 131.8103148958, 348.75},
        {168, 144.3409123039, 15},  {187, 156.4435356909, 337.5},
        {188, 168.2841476051, 45},  {191, 168.2841476051, 315},
    };
    size_t pixel = 0, found = 0;
    for (size_t ring = 1; ring < 16; ++ring) {
        double zenith, azimuth;
        const size_t count = ics_pmt_healpix_pixel(4, ring, 0, &zenith, &azimuth);
        for (size_t i = 0; i < count; ++i, ++pixel) {
            ck_assert_uint_eq(ics_pmt_healpix_pixel(4, ring, i, &zenith, &azimuth), count);
            if (found < COUNT(pixels) && pixels[found].pixel == pixel) {
                ck_assert_double_eq_tol(zenith, pixels[found].zenith, 1e-9);
                ck_assert_double_eq_tol(azimuth, pixels[found].azimuth, 1e-9);
                ++found;
            }
        }
    }
    ck_assert_uint_eq(pixel, 192);
    ck_assert_uint_eq(found, COUNT(pixels));
}
END_TEST

enum { PMTS = 2, PIXELS = 48, BYTES = 4096 };

/* An array of 2 PMTs and 48 pixels: area 0.0001 (1 + pixel) m2, twice as much for PMT 1. Returns
 * its size. */
static size_t make_array(char out[BYTES], int version, const char *header, size_t item)
{
    const size_t begin = version == 1 ? 10 : 12, length = strlen(header);
    memset(out, 0, BYTES);
    memcpy(out, "\x93NUMPY", 6);
    out[6] = (char)version;
    out[8] = (char)length;
    memcpy(out + begin, header, length);
    char *next = out + begin + length;
    for (int k = 0; k < PMTS; ++k) {
        for (int i = 0; i < PIXELS; ++i, next += item) {
            const double area = 1e-4 * (1 + k) * (1 + i);
            const float single = (float)area;
            memcpy(next, item == 8 ? (const void *)&area : (const void *)&single, item);
        }
    }
    return (size_t)(next - out);
}

static int read_array(const char *bytes, size_t size, ice_module_type *type, ice_pmt pmts[PMTS],
                      icestream_error *error)
{
    const ics_text text = {.name = "a.npy", .data = (char *)bytes, .size = size};
    memset(pmts, 0, PMTS * sizeof *pmts);
    memset(error, 0, sizeof *error);
    *type = (ice_module_type){.shape = ICE_SHAPE_SPHERE,
                              .radius = 0.2,
                              .half_height = 0.2,
                              .pmts = pmts,
                              .pmt_count = PMTS};
    return ics_pmt_areas_read_npy(&text, type, error);
}

#define HEADER(type, order, shape)                                                                 \
    "{'descr': '" type "', 'fortran_order': " order ", 'shape': " shape ", }\n"

START_TEST(forms_of_arrays)
{
    static const struct {
        int version;
        size_t item;
        const char *header;
    } forms[] = {{1, 8, HEADER("<f8", "False", "(2, 48)")},
                 {1, 4, HEADER("<f4", "False", "(2, 48)")},
                 {2, 8, HEADER("<f8", "False", "(2, 48)")},
                 {3, 4, HEADER("<f4", "False", "(2, 48)")}};
    char bytes[BYTES];
    ice_module_type type;
    ice_pmt pmts[PMTS];
    icestream_error error;
    const size_t size = make_array(bytes, forms[_i].version, forms[_i].header, forms[_i].item);
    ck_assert_msg(read_array(bytes, size, &type, pmts, &error) == ICESTREAM_OK, "%s", error.text);
    ck_assert_uint_eq(type.table.ring_count, 7);
    ck_assert_uint_eq(type.table.direction_count, PIXELS);
    for (size_t i = 0; i < PIXELS; ++i) { /* directions have the order of pixels */
        for (size_t k = 0; k < PMTS; ++k) {
            ck_assert_double_eq_tol(type.table.areas[i * PMTS + k],
                                    1e-4 * (double)((1 + k) * (1 + i)), 1e-9);
        }
    }
    ck_assert_double_eq_tol(pmts[1].largest_area, 96e-4, 1e-9);
    ics_pmt_areas_free(&type.table);
}
END_TEST

ICS_TEST_MAIN("pmt_healpix")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, centres_of_pixels);
    tcase_add_loop_test(all, forms_of_arrays, 0, 4);
    suite_add_tcase(suite, all);
}
