/* Whether a key was given, and errors about keys that are valid alone but do not fit together.
 * Private to the configuration. */
#ifndef ICS_PHOTONS_CONFIG_FAULTS_H
#define ICS_PHOTONS_CONFIG_FAULTS_H

#include "pipeline/photons/config/config.h"

/* Whether the value of a key is not the default. */
bool ics_config_is_changed(const icestream_config *config, const char *key);

/* Whether `--set` switches off, by the key `off`, what a key of the run file belongs to. The key
 * then stays without an effect, because the file had the feature on. */
bool ics_config_is_overridden(const icestream_config *config, const char *key, const char *off);

/* Adds an error about `key`, which contradicts `other`, with the place where `key` was given. Adds
 * nothing if the value of one of them was refused: then a default stands in its place, and the user
 * wrote no contradiction. 0, ICESTREAM_E_CONFIG. */
int ics_config_fault(const icestream_config *config, const char *key, const char *other,
                     icestream_error *error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Adds an error with this text about each of the keys that is not the default, because the value of
 * `off` makes it useless, unless --set gave that value. 0, ICESTREAM_E_CONFIG. */
int ics_config_refuse_keys(const icestream_config *config, const char *const *keys, size_t count,
                           const char *off, icestream_error *error, const char *text);

#endif
