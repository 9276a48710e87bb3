/* What two participants of a comparison have different. */
#include "kernels/stage.h"
#include "pipeline/commands/compare/compare.h"
#include "pipeline/photons/config/config.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

typedef struct text {
    char *at;
    size_t left;
} text;

static void add_text(text *list, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_text(text *list, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(list->at, list->left, format, arguments);
    va_end(arguments);
    size_t used = length < 0 ? 0 : (size_t)length < list->left ? (size_t)length : list->left - 1;
    list->at += used;
    list->left -= used;
}

/* Returns the variant of a stage as the configuration names it, or the path of the user's header.
 */
static const char *choice_of(const icestream_config *config, ics_stage stage)
{
    const char *const names[ICS_STAGES] = {[ICS_STAGE_CREATE] = config->stages.create,
                                           [ICS_STAGE_PROPAGATE] = config->stages.propagate,
                                           [ICS_STAGE_COLLIDE] = config->stages.collide,
                                           [ICS_STAGE_SCATTER] = config->stages.scatter,
                                           [ICS_STAGE_TABULATE] = config->stages.tabulate};
    const char *file = config->stages.custom[stage];
    return file != NULL ? file : names[stage];
}

static const char *maths_of(const ics_compare_participant *one)
{
    return one->row.best.fast_math ? "fast" : "portable";
}

/* Adds the settings that differ between two configurations. */
static void add_settings(text *list, const icestream_config *a, const icestream_config *b)
{
    for (int i = 0; i < ICS_STAGES; ++i) {
        const char *one = choice_of(a, (ics_stage)i), *two = choice_of(b, (ics_stage)i);
        if (strcmp(one, two) != 0) {
            add_text(list, ", %s (%s, %s)", ics_stage_name((ics_stage)i), one, two);
        }
    }
    if (strcmp(a->stages.detect, b->stages.detect) != 0) {
        add_text(list, ", detect (%s, %s)", a->stages.detect, b->stages.detect);
    }
    if (ics_config_content(a) != ics_config_content(b)) {
        add_text(list, ", hits (%s, %s)", ics_config_content_name(ics_config_content(a)),
                 ics_config_content_name(ics_config_content(b)));
    }
    if (a->run.seed != b->run.seed) {
        add_text(list, ", seed (%" PRIu64 ", %" PRIu64 ")", a->run.seed, b->run.seed);
    }
    if (a->run.bounce_limit != b->run.bounce_limit) {
        add_text(list, ", bounce limit (%" PRIu32 ", %" PRIu32 ")", a->run.bounce_limit,
                 b->run.bounce_limit);
    }
}

void ics_compare_list_differences(const ics_comparison *comparison,
                                  const ics_compare_participant *first,
                                  const ics_compare_participant *second, char *buffer, size_t size)
{
    text list = {buffer, size};
    buffer[0] = '\0';
    if (first->row.best.fast_math != second->row.best.fast_math) {
        add_text(&list, ", maths (%s, %s)", maths_of(first), maths_of(second));
    }
    const ics_origin *a = &comparison->origin, *b = &comparison->against_origin;
    if (second->against && strcmp(a->ice, b->ice) != 0) {
        add_text(&list, ", ice");
    }
    if (second->against && strcmp(a->detector, b->detector) != 0) {
        add_text(&list, ", detector");
    }
    if (second->against && strcmp(a->configuration, b->configuration) != 0) {
        add_settings(&list, first->config, second->config);
    }
    char keys[512];
    ics_compare_light_list(&comparison->light, keys, sizeof keys);
    if (second->against && keys[0] != '\0') {
        add_text(&list, ", %s", keys);
    }
    /* The digests differ, but no setting above does. */
    if (second->against && buffer[0] == '\0' && strcmp(a->configuration, b->configuration) != 0) {
        add_text(&list, ", light or the content of a stage's file");
    }
    if (buffer[0] != '\0') {
        memmove(buffer, buffer + 2, strlen(buffer + 2) + 1);
    }
}
