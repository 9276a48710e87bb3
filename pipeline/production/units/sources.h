/* The sources of a run: where the steps of a unit come from.
 *
 * A source is one constant in one file, and other files ask its answers and call its functions;
 * they never ask which source it is. A list, a watched folder, a queue and clients all give files.
 *
 *   file         a step file: file_source.c
 *   messages     the messages of standard input or of a named pipe: message_source.c
 *   light        particles or a workload, of which the run makes the steps: light_source.c
 *   piped light  the same, if the particles come through a pipe
 *
 * To add a source, write its constant, and choose it in inputs.c. */
#ifndef ICS_PRODUCTION_UNITS_SOURCES_H
#define ICS_PRODUCTION_UNITS_SOURCES_H

#include "pipeline/production/units/inputs.h"

struct ics_unit;

struct ics_source {
    /* Whether the check reads the unit to its end, and can do so again: photons, light and digest
     * are known before the first batch, existing hits are compared with them, and a unit that
     * failed is tried again. Otherwise they are known at the end, and existing hits are compared
     * when the hits are written. */
    bool repeats;
    /* Whether another unit follows, which begins where the steps of this one end. */
    bool continues;
    /* Whether the run makes the steps: the numbers of rows and photons are estimates until the end,
     * and the particles belong to the configuration. */
    bool makes;

    /* Names what has no path: "standard input". */
    const char *nameless;
    /* Makes the path of the hit file of an input, for the caller to free. NULL: out of memory. On
     * the loop. */
    char *(*output)(const icestream_config *config, const ics_input *input, uint64_t message);

    /* The following three run on a reader's thread, one at a time for a unit, and not always on the
     * same thread. They may wait for a disk, a pipe or threads. One that waits also polls
     * unit->common->wake, which is readable once the run stops or is cancelled, and then returns
     * ICESTREAM_E_INTERRUPTED.
     *
     * Opens the source, and checks the unit as far as it can be known: fills unit->summary, the
     * light and work->found (false: there is no unit any more, which is no error).
     * ICESTREAM_E_INPUT: the unit is bad; ICESTREAM_E_OUTPUT, ICESTREAM_E_MEMORY,
     * ICESTREAM_E_INTERRUPTED. */
    int (*open)(struct ics_unit *unit, icestream_error *error);
    /* Gives the next steps, checked and normalised; *got 0: there are no more, and the summary is
     * complete. The errors of `open`. */
    int (*read)(struct ics_unit *unit, icestream_step *steps, size_t capacity, size_t *got,
                icestream_error *error);
    /* Reads the rest of a unit that was refused, so that the next one is found. NULL: nothing
     * follows. */
    int (*skip)(struct ics_unit *unit, icestream_error *error);

    /* The following run on the loop, while no job of the reader is out, and must not wait.
     *
     * Whether `skip` can find the next unit after this error. NULL: it never can. */
    bool (*can_skip)(const struct ics_unit *unit);
    /* Gives what is open to the unit that follows. Not NULL if `continues`. */
    void (*pass_on)(struct ics_unit *from, struct ics_unit *to);
    /* Frees what only reading needs. */
    void (*close)(struct ics_unit *unit);
};

extern const ics_source ics_source_file, ics_source_messages, ics_source_light,
    ics_source_piped_light;

#endif
