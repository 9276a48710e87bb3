/* The band of wavelengths that both configurations of a comparison draw. Sums of weights estimate
 * the light of this band without bias; outside it only one configuration has light at all
 * (physics.md 3.2). */
#include "base/error.h"
#include "pipeline/commands/compare/compare.h"

/* The density is linear between the points, so it is above 0 from the point before the first one
 * with light on. */
static ics_range drawn_by(const ice_spectrum *spectrum)
{
    size_t first = 0, last = spectrum->count - 1;
    while (first < last && !(spectrum->density[first] > 0)) {
        ++first;
    }
    while (last > first && !(spectrum->density[last] > 0)) {
        --last;
    }
    return (ics_range){spectrum->wavelength[first > 0 ? first - 1 : 0],
                       spectrum->wavelength[last + 1 < spectrum->count ? last + 1 : last]};
}

int ics_compare_band_find(const ics_models *models, ics_compare_spectra *out,
                          icestream_error *error)
{
    const ice_light *light = models->light;
    ICS_DESTROYS(ics_digest_destroy) ics_digest *digest = NULL;
    ICS_TRY(ics_digest_create(&digest, error));
    out->count = light->count;
    out->oversize = models->detector->oversize;
    for (size_t i = 0; i < light->count; ++i) {
        out->drawn[i] = drawn_by(&light->spectra[i]);
    }
    ics_digest_add_number(digest, out->oversize);
    ics_digest_add_numbers(digest, light->bias_wavelength, light->bias_count);
    ics_digest_add_numbers(digest, light->bias, light->bias_count);
    ics_digest_text(digest, out->weights);
    return out->weights[0] != '\0'
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_MEMORY, "compare: out of memory for the light");
}

static void mark_used(const ics_step_list *steps, bool used[ICS_SPECTRA_MAX])
{
    for (size_t i = 0; i < steps->count; ++i) {
        used[steps->steps[i].spectrum] = true; /* a byte: below ICS_SPECTRA_MAX */
    }
}

void ics_compare_band_choose(ics_comparison *comparison, const ics_compare_spectra *theirs)
{
    ics_compare_light *light = &comparison->light;
    const ics_compare_spectra *ours = &light->spectra;
    bool used[ICS_SPECTRA_MAX] = {false};
    mark_used(&comparison->steps, used);
    mark_used(&comparison->against_steps, used);
    /* An end at which two spectra differ cuts all light: hits do not say their spectrum. */
    ics_range all = ics_range_empty, both = {-INFINITY, INFINITY};
    for (size_t i = 0; i < ours->count && i < theirs->count; ++i) {
        const ics_range a = ours->drawn[i], b = theirs->drawn[i];
        if (!used[i]) {
            continue;
        }
        ics_range_add(&all, a.low);
        ics_range_add(&all, b.low);
        ics_range_add(&all, a.high);
        ics_range_add(&all, b.high);
        if (a.low != b.low) {
            both.low = fmax(both.low, fmax(a.low, b.low));
        }
        if (a.high != b.high) {
            both.high = fmin(both.high, fmin(a.high, b.high));
        }
    }
    light->is_cut = both.low > all.low || both.high < all.high;
    light->band = (ics_range){fmax(both.low, all.low), fmin(both.high, all.high)};
}
