/* Whether a key was given, for checks of keys that would have no effect. Private to the
 * configuration. */
#ifndef ICS_CONFIG_CONFIG_GIVEN_H
#define ICS_CONFIG_CONFIG_GIVEN_H

#include "pipeline/config/config.h"

/* Whether the value of a key is not the default. */
bool ics_config_is_changed(const icestream_config *config, const char *key);

/* Whether `--set` switches off, by the key `off`, what a key of the run file belongs to. The key
 * then stays without an effect, because the file had the feature on. */
bool ics_config_is_overridden(const icestream_config *config, const char *key, const char *off);

#endif
