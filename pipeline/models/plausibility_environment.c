/* Variables of the environment that ppc reads and icestream does not: users of ppc set them by
 * habit. docs/for-ppc-users.md has the same table. */
#include "pipeline/models/plausibility_parts.h"

#include <stdlib.h>

/* A variable, and what to give instead. `key`: a run that gives it needs no warning; NULL: what is
 * to give is no key of a run. */
static const struct {
    const char *name, *key, *instead;
} variables[] = {
    {"PPCTABLESDIR", "ice.directory", "ice.directory"},
    {"ICEMODELDIR", "ice.directory", "ice.directory"},
    {"TILTMODELDIR", "ice.directory", "ice.directory"},
    {"PPCHOLEICE", "detector.angular_acceptance", "detector.angular_acceptance"},
    {"OVSZ", "detector.oversize", "detector.oversize"},
    {"WFLA", "light.spectra", "light.spectra: [{line: NM}], and spectrum: 7 at the flasher"},
    {"FLWL", "light.acceptance", "light.acceptance or light.spectra"},
    {"FWID", NULL, "beam_width or beam at the flasher"},
    {"FLDR", NULL,
     "one flasher for each LED, with led and led_azimuth, or with zenith and azimuth"},
    {"FZCR", NULL, "zenith and azimuth of the flasher"},
    {"ELEV", NULL, "zenith and azimuth of the flasher"},
    {"FTLT", NULL, "zenith and azimuth of the tilted LED"},
    {"OFLA", "detector.excluded", "detector.excluded without the flashing module"},
    {"BFRM", "ice.birefringence_subtraction", "ice.birefringence_subtraction"},
    {"BFRA", NULL, "the columns of birefringence of an ice file"},
    {"BFRB", NULL, "the columns of birefringence of an ice file"},
    {"ABSM", NULL, "the file version of the ice folder"},
};

void ics_plausibility_check_environment(const ics_inspection *self)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; ++i) {
        const char *value = getenv(variables[i].name), *key = variables[i].key;
        if (value != NULL && (key == NULL || !ics_plausibility_is_given(self, key))) {
            ics_warnings_add(self->warnings,
                             "the environment has %s=%s, a variable of ppc, which icestream "
                             "does not read; usual: %s",
                             variables[i].name, value, variables[i].instead);
        }
    }
}
