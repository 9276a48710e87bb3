/* Arrays of NumPy with the effective areas of PMTs in the pixels of HEALPix. */
#ifndef ICS_PHOTONS_MODELS_TYPES_PMT_HEALPIX_H
#define ICS_PHOTONS_MODELS_TYPES_PMT_HEALPIX_H

#include "pipeline/photons/models/text/text.h"

/* The columns of a table of effective areas; angles in degrees, area in m2. */
enum {
    ICS_PMT_AREA_PMT,
    ICS_PMT_AREA_ZENITH,
    ICS_PMT_AREA_AZIMUTH,
    ICS_PMT_AREA_X,
    ICS_PMT_AREA_Y,
    ICS_PMT_AREA_Z,
    ICS_PMT_AREA_AREA,
    ICS_PMT_AREA_COLUMNS,
    ICS_PMT_AREA_ROWS = 4000000 /* no table has more */
};
#define ICS_PMT_AREA_MAX 100.0 /* m2 */

/* Gives the direction (degrees) of pixel `index` of a ring, counted from 0, of HEALPix in the ring
 * scheme with `side` pixels along a side of a face. Rings count from 1 to 4 side - 1. Returns the
 * number of pixels of the ring. */
size_t ics_pmt_healpix_pixel(size_t side, size_t ring, size_t index, double *zenith,
                             double *azimuth);

/* Reads an array of NumPy of the shape (PMTs, pixels) and the type <f8 or <f4 into a table of
 * effective areas with x, y and z NAN and the line 0. ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY; the
 * table is empty then. */
int ics_pmt_healpix_read(const ics_text *bytes, size_t pmt_count, ics_text_table *out,
                         icestream_error *error);

#endif
