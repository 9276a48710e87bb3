#include "pipeline/production/telemetry/kept_lines.h"

#include <stdio.h>
#include <string.h>

void ics_kept_lines_begin(ics_kept_lines *lines)
{
    pthread_mutex_init(&lines->lock, NULL);
}

void ics_kept_lines_add(ics_kept_lines *lines, const char *line)
{
    pthread_mutex_lock(&lines->lock);
    const size_t used = strlen(lines->text);
    snprintf(lines->text + used, sizeof lines->text - used, "%s\n", line);
    pthread_mutex_unlock(&lines->lock);
}

void ics_kept_lines_each(ics_kept_lines *lines, void (*say)(void *user, const char *line),
                         void *user)
{
    char text[sizeof lines->text], *rest = NULL;
    pthread_mutex_lock(&lines->lock);
    memcpy(text, lines->text, sizeof text);
    lines->text[0] = '\0';
    pthread_mutex_unlock(&lines->lock);
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        say(user, line);
    }
}
