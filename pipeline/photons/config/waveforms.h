/* The keys of sink.hits: waveforms. */
#ifndef ICS_PHOTONS_CONFIG_WAVEFORMS_H
#define ICS_PHOTONS_CONFIG_WAVEFORMS_H

#include "pipeline/photons/config/config.h"

/* Checks the range of times, that sink.hits: waveforms goes into files of single inputs, and that
 * no key of waveforms is without effect. Adds errors. ICESTREAM_E_CONFIG. */
int ics_config_waveforms_check(const icestream_config *config, icestream_error *error);

/* Refuses sink.hits: waveforms for what makes hits. `what`: for example "a session".
 * ICESTREAM_E_CONFIG. */
int ics_config_waveforms_refuse(const icestream_config *config, const char *what,
                                icestream_error *error);

#endif
