#include "pipeline/photons/files/weight_sum.h"

#include <math.h>
#include <stdio.h>

void ics_weight_sum_join(ics_weight_sum *to, const ics_weight_sum *from)
{
    ics_weight_sum_end(to);
    to->photons_sum += from->photons_sum + from->photon;
    to->photons_squares += from->photons_squares + from->photon * from->photon;
}

ics_weight_estimate ics_weight_sum_estimate(const ics_weight_sum *sum)
{
    const double all = sum->photons_sum + sum->photon;
    const double squares = sum->photons_squares + sum->photon * sum->photon;
    return (ics_weight_estimate){
        .sum = all, .error = sqrt(squares), .effective = squares > 0 ? all * all / squares : 0};
}

const char *ics_weight_estimate_text(ics_weight_estimate estimate, char text[ICS_WEIGHT_TEXT])
{
    snprintf(text, ICS_WEIGHT_TEXT, "%.6g +- %.2g (effective number %.4g)", estimate.sum,
             estimate.error, estimate.effective);
    return text;
}
