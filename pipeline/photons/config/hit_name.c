#include "pipeline/photons/config/hit_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char place[] = "{stem}";
enum { PLACE = sizeof place - 1 };

bool ics_hit_name_has_stem(const char *pattern)
{
    return strstr(pattern, place) != NULL;
}

static bool ends_with(const char *text, const char *ending)
{
    const size_t length = strlen(text), tail = strlen(ending);
    return length >= tail && strcmp(text + length - tail, ending) == 0;
}

static bool has_other_braces(const char *pattern)
{
    for (const char *at = pattern; *at != '\0';) {
        if (strncmp(at, place, PLACE) == 0) {
            at += PLACE;
        } else if (*at == '{' || *at == '}') {
            return true;
        } else {
            ++at;
        }
    }
    return false;
}

const char *ics_hit_name_fault(const char *pattern)
{
    if (strchr(pattern, '/') != NULL) {
        return "expected a name without a slash: sink.directory is the folder";
    }
    if (has_other_braces(pattern)) {
        return "expected no braces but those of {stem}, which stands for the name of the step file "
               "without .steps.npy or .npy";
    }
    if (!ends_with(pattern, ".npy") || ends_with(pattern, ".steps.npy") || pattern[0] == '.') {
        return "expected a name that ends in .npy, not in .steps.npy, and does not begin with a "
               "dot, such as {stem}.hits.npy (icestream convert makes other formats)";
    }
    return NULL;
}

char *ics_hit_name_make(const char *pattern, const char *stem, size_t length)
{
    char *name = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&name, &size);
    if (out == NULL) {
        return NULL;
    }
    for (const char *at; (at = strstr(pattern, place)) != NULL; pattern = at + PLACE) {
        fprintf(out, "%.*s%.*s", (int)(at - pattern), pattern, (int)length, stem);
    }
    fputs(pattern, out);
    if (fclose(out) == 0) {
        return name;
    }
    free(name);
    return NULL;
}
