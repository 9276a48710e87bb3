#include "pipeline/photons/replay/replay.h"

#include "base/error.h"
#include "pipeline/photons/replay/fly.h"
#include "pipeline/photons/replay/photon.h"
#include "stages/optics.h"

static int check_options(const ics_replay_options *options, icestream_error *error)
{
    if (!ics_replay_supports(&options->variants)) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "stages: found a header of your own, expected variants of icestream, "
                             "because the replay of hits does not compile headers");
    }
    if (options->maths == ICS_MATHS_MIXED ||
        (options->maths == ICS_MATHS_FAST && options->kernels.code == ICS_KERNELS_MIXED)) {
        return ics_error_set(error, ICESTREAM_E_DIFFERENT,
                             "device.math: found hits that were made with %s, expected one kind of "
                             "maths by one kind of kernels, because it is not known which hit was "
                             "made by which",
                             options->maths == ICS_MATHS_MIXED ? "fast and portable maths"
                                                               : "fast maths by several kinds of "
                                                                 "kernels");
    }
    if (options->maths == ICS_MATHS_FAST && options->gpu == NULL) {
        char made[192];
        return ics_error_set(error, ICESTREAM_E_DIFFERENT,
                             "device.math: found hits that were made with fast maths by %s, "
                             "expected portable maths, or such a GPU and --backend cuda: the CPU "
                             "cannot repeat fast maths to the last bit",
                             ics_kernels_text(&options->kernels, made, sizeof made));
    }
    if (options->target_count > ICS_REPLAY_TARGETS_MAX) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "replay: found %zu targets, expected at most %d in one pass",
                             options->target_count, ICS_REPLAY_TARGETS_MAX);
    }
    return ICESTREAM_OK;
}

int ics_replay_hits(const ics_replay_options *options, const icestream_hit *hits,
                    const icestream_step *steps, size_t count, const ics_replay_sink *sink,
                    icestream_error *error)
{
    ICS_TRY(check_options(options, error));
    return options->gpu != NULL ? ics_replay_fly_on_gpu(options, hits, steps, count, sink, error)
                                : ics_replay_fly_on_cpu(options, hits, steps, count, sink, error);
}

void ics_replay_shares(const ice_tables *tables, uint32_t layer, float wavelength,
                       double *scattering, double *absorption)
{
    const ice_optics optics = ice_layer_optics_at(tables, wavelength);
    const ice_layer_row *row = &tables->layers[layer];
    const double b = (double)ice_scattering(optics, row->scattering, row->bubbles);
    const double a = (double)ice_absorption(optics, row->dust, row->ice);
    *scattering = (double)optics.scattering * (double)row->scattering / b;
    *absorption = (double)optics.dust * (double)row->dust / a;
}
