/* To add a row, change the default in keys.def, and write the row here and in the table of
 * CHANGELOG.md, which has the same key, values and reason. test_config_changes compares both, and
 * compares the new value with keys.def. tests/cli/program/changed_defaults.py needs a run file for
 * the key, and shows that its line appears.
 *
 *   key, old value, new value   as in a run file, without quotation marks
 *   since                       the version that changed it, which CMakeLists.txt has
 *   until                       two minor versions later. test_config_changes fails in that
 *                               version until the row is removed here; CHANGELOG.md keeps it
 *   why                         one sentence for users, with the number that the old value cost
 *   uses                        commands whose results depend on the key
 *   matters                     a function, if it does not matter to all configurations
 */
#include "pipeline/photons/config/changes.h"

#include "pipeline/photons/config/keys.h"
#include "pipeline/photons/config/table.h"

#include <string.h>

static bool is_oversized(const icestream_config *config)
{
    return config->detector.oversize > 1;
}

const ics_config_change ics_config_changes[] = {
    {"detector.oversize", "5", "1", "0.2.0", "0.4.0",
     "Photons that stopped at modules of oversize 5 made sums of weights 2 to 12 % too small at "
     "every distance; modules of true size need 25 times as many photons for as many hits.",
     ICS_USE_RUN | ICS_USE_GENERATE, NULL},
    {"detector.keep_hit_photons", "false", "auto", "0.2.0", "0.4.0",
     "Photons that stop at modules of oversize 5 make sums of weights 2 to 12 % too small; auto "
     "ends them at modules of true size alone.",
     ICS_USE_RUN, is_oversized},
    {"detector.crossing", "disc", "entry", "0.2.0", "0.4.0",
     "A disc that turns with the photon is crossed again and again: at oversize 5 the variance of "
     "counts was 1.05 to 1.27 times their mean, and is 1.01 to 1.06 times; hits came up to 3 ns "
     "before any light could.",
     ICS_USE_RUN, is_oversized},
    {"particles.cascades", "steps", "profile", "0.2.0", "0.4.0",
     "Steps of 200 photons share a direction: 10 m ahead of a cascade of 10 GeV the variance of "
     "the counts was 4.0 times their mean at oversize 5, and is 0.95 times.",
     ICS_USE_RUN | ICS_USE_TABULATE | ICS_USE_GENERATE, ics_config_has_particles},
    {"table.outside", "end", "count", "0.2.0", "0.4.0",
     "A photon that left the table could not come back: a table that ends at 100 m had 2.5 % too "
     "little light at 50 m and 36 % in its last bin.",
     ICS_USE_TABULATE, ics_config_table_ends},
    {"table.source", "step", "auto", "0.2.0", "0.4.0",
     "With cascades made of steps, each step was the source of its photons, so that 0.06 of a "
     "cascade's light within 10 m was at cosines above 0.9 instead of 0.49.",
     ICS_USE_TABULATE, ics_config_has_particles},
    {.key = NULL},
};

ics_config_use ics_config_use_of(const icestream_config *config)
{
    return strcmp(config->stages.tabulate, "none") != 0 ? ICS_USE_TABULATE : ICS_USE_RUN;
}

bool ics_config_change_shows(const ics_config_change *row, const icestream_config *config,
                             ics_config_use use)
{
    const size_t index = ics_config_find(row->key);
    return config->path != NULL && (row->uses & (unsigned)use) != 0 &&
           config->origin->given[index] == NULL && (row->matters == NULL || row->matters(config));
}

const char *ics_config_next_change(const ics_config_change **rows, const icestream_config *config,
                                   ics_config_use use, char *buffer, size_t size)
{
    while ((*rows)->key != NULL) {
        const ics_config_change *row = (*rows)++;
        if (ics_config_change_shows(row, config, use)) {
            snprintf(buffer, size,
                     "%s is not given: it is %s since version %s, and was %s before. %s This line "
                     "is gone when the run file gives the key.",
                     row->key, row->new_value, row->since, row->old_value, row->why);
            return buffer;
        }
    }
    return NULL;
}

void ics_config_print_changes(const icestream_config *config, ics_config_use use, const char *head,
                              FILE *out)
{
    char text[2048];
    const ics_config_change *rows = ics_config_changes;
    while (out != NULL && ics_config_next_change(&rows, config, use, text, sizeof text) != NULL) {
        fprintf(out, "%s%s\n", head, text);
    }
}

const ics_config_change *ics_config_find_change(const ics_config_change *rows, const char *key,
                                                const char *old_value, const char *new_value)
{
    for (; rows->key != NULL; ++rows) {
        if (strcmp(rows->key, key) == 0 && strcmp(rows->old_value, old_value) == 0 &&
            strcmp(rows->new_value, new_value) == 0) {
            return rows;
        }
    }
    return NULL;
}

const char *ics_config_change_note(const char *key, const char *old_value, const char *new_value,
                                   char *buffer, size_t size)
{
    const ics_config_change *row =
        ics_config_find_change(ics_config_changes, key, old_value, new_value);
    snprintf(buffer, size, row != NULL ? " (the default before %s)" : "%s",
             row != NULL ? row->since : "");
    return buffer;
}
