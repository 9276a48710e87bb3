#include "pipeline/photons/replay/replay.h"

#include "base/error.h"

int ics_replay_check_target(const ice_tables *own, const ics_replay_target *target,
                            icestream_error *error)
{
    (void)own;
    return ics_error_set(error, ICESTREAM_E_FAILED, "%s: targets are not implemented yet",
                         target->name);
}

int ics_replay_hits(const ics_replay_options *options, const icestream_hit *hits,
                    const icestream_step *steps, size_t count, const ics_replay_sink *sink,
                    icestream_error *error)
{
    (void)options, (void)hits, (void)steps, (void)sink;
    return ics_error_set(error, ICESTREAM_E_FAILED, "the replay of %zu hits is not implemented yet",
                         count);
}

void ics_replay_shares(const ice_tables *tables, uint32_t layer, float wavelength,
                       double *scattering, double *absorption)
{
    const ice_optics optics = ice_layer_optics_at(tables, wavelength);
    const ice_layer_row *row = &tables->layers[layer];
    *scattering = (double)optics.scattering * row->scattering /
                  ice_scattering(optics, row->scattering, row->bubbles);
    *absorption = (double)optics.dust * row->dust / ice_absorption(optics, row->dust, row->ice);
}
