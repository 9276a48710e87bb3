/* Defaults that another version has. A run file that leaves out such a key gets one line with both
 * values, until users have had two minor versions to read it. CHANGELOG.md has the same rows. */
#ifndef ICS_PHOTONS_CONFIG_CHANGES_H
#define ICS_PHOTONS_CONFIG_CHANGES_H

#include "pipeline/photons/config/config.h"

/* What a command does with a configuration. */
typedef enum ics_config_use {
    ICS_USE_RUN = 1 << 0,
    ICS_USE_TABULATE = 1 << 1,
    ICS_USE_GENERATE = 1 << 2
} ics_config_use;

/* One key whose default changed. */
typedef struct ics_config_change {
    const char *key;
    const char *old_value, *new_value; /* values as a run file has them */
    const char *since;                 /* the version that changed it */
    const char *until;                 /* the version in which the row must be gone */
    const char *why;                   /* a sentence */
    unsigned uses; /* bits of ics_config_use: where hits or tables depend on it */
    /* Whether the key matters to this configuration; NULL: always. */
    bool (*matters)(const icestream_config *config);
} ics_config_change;

/* The rows; the last one has no key. */
extern const ics_config_change ics_config_changes[];

/* Whether the row is worth a line: there is a run file, neither it nor --set gives the key, and the
 * key matters. */
bool ics_config_change_shows(const ics_config_change *row, const icestream_config *config,
                             ics_config_use use);

/* The line of the first row of `rows` that shows, and moves *rows behind it. NULL: none is left. */
const char *ics_config_next_change(const ics_config_change **rows, const icestream_config *config,
                                   ics_config_use use, char *buffer, size_t size);
/* Writes all these lines, each after `head`; `out` NULL: nowhere. Check ferror(out) afterwards. */
void ics_config_print_changes(const icestream_config *config, ics_config_use use, const char *head,
                              FILE *out);

/* The row of `rows` whose key had the default `old_value` and has `new_value` now; NULL: there is
 * none. */
const ics_config_change *ics_config_find_change(const ics_config_change *rows, const char *key,
                                                const char *old_value, const char *new_value);

/* Writes " (the default before 0.2.0)" if the key had the default `old_value` and has `new_value`
 * now, else nothing. Returns buffer. */
const char *ics_config_change_note(const char *key, const char *old_value, const char *new_value,
                                   char *buffer, size_t size);

/* What validate is asked about: a configuration with stages.tabulate is for tables. */
ics_config_use ics_config_use_of(const icestream_config *config);

#endif
