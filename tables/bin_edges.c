#include "tables/bin_edges.h"

#include <math.h>
#include <string.h>

double ics_bin_edge(const ics_bin_edges *of, uint32_t bin)
{
    if (bin == 0 || bin == of->bins) {
        return bin == 0 ? of->from : of->to;
    }
    return of->is_log ? (float)(of->from * pow(of->to / of->from, bin / (double)of->bins))
                      : of->from + (of->to - of->from) * bin / of->bins;
}

/* Returns the least word of a whole number that is not below an edge. */
static uint32_t whole_edge(double edge)
{
    const double least = ceil(edge);
    return least <= 0.0 ? 0 : least < UINT32_MAX ? (uint32_t)least : UINT32_MAX;
}

/* The same for a float from 0 up, whose word has its bits. */
static uint32_t float_edge(double edge)
{
    float least = edge > 0.0 ? (float)edge : 0.0f;
    uint32_t word;
    if (least < edge) {
        least = nextafterf(least, INFINITY);
    }
    memcpy(&word, &least, sizeof word);
    return word;
}

uint32_t ics_bin_edge_word(ice_photon_quantity quantity, double edge)
{
#define PHOTON_WHOLE(constant, name, unit, whole) whole,
    static const bool is_whole[] = {ICE_PHOTON_QUANTITIES(PHOTON_WHOLE)};
#undef PHOTON_WHOLE
    return is_whole[quantity] ? whole_edge(edge) : float_edge(edge);
}
