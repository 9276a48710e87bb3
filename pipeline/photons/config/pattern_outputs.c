#include "pipeline/photons/config/pattern_outputs.h"

#include "pipeline/photons/config/hit_name.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The end of the bracket expression that begins at `at`; NULL: the bracket is an ordinary
 * character. */
static const char *bracket_end(const char *at)
{
    at++;
    at += *at == '!' || *at == '^';
    at += *at == ']';
    const char *end = strchr(at, ']');
    return end != NULL ? end + 1 : NULL;
}

/* A character that the bracket expression fits. */
static char fitting_character(const char *at, const char *end)
{
    char bracket[64], text[2] = "x";
    if ((size_t)(end - at) >= sizeof bracket) {
        return 'x';
    }
    memcpy(bracket, at, (size_t)(end - at));
    bracket[end - at] = '\0';
    for (char c = '~'; c > ' '; --c) {
        text[0] = c;
        if (c != '/' && fnmatch(bracket, text, 0) == 0) {
            return c;
        }
    }
    return 'x';
}

/* Makes a name that the pattern fits. False: it is too long. */
static bool make_example(const char *pattern, char name[NAME_MAX + 1])
{
    size_t length = 0;
    for (const char *at = pattern; *at != '\0'; ++length) {
        if (length == NAME_MAX) {
            return false;
        }
        const char *end = *at == '[' ? bracket_end(at) : NULL;
        if (end != NULL) {
            name[length] = fitting_character(at, end);
            at = end;
            continue;
        }
        at += *at == '\\' && at[1] != '\0';
        const bool is_any = *at == '*' || *at == '?';
        name[length] = *at++;
        if (is_any) {
            name[length] = 'x';
        }
    }
    name[length] = '\0';
    return true;
}

bool ics_pattern_fits_outputs(const char *pattern, const char *hit_name, char name[NAME_MAX + 1])
{
    static const char *const endings[] = {".steps.npy", ".npy", ""};
    static const char *const others[] = {"run.journal", "summary.json"};
    char example[NAME_MAX + 1];
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
        if (fnmatch(pattern, others[i], 0) == 0) {
            snprintf(name, NAME_MAX + 1, "%s", others[i]);
            return true;
        }
    }
    if (!make_example(pattern, example)) {
        return false;
    }
    size_t length = strlen(example), tail = 0;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; ++i) {
        tail = strlen(endings[i]);
        if (length > tail && strcmp(example + length - tail, endings[i]) == 0) {
            break; /* the hit file has another ending in its place (units/inputs.h) */
        }
    }
    char *made = ics_hit_name_make(hit_name, example, length - tail);
    snprintf(name, NAME_MAX + 1, "%s", made != NULL ? made : "");
    free(made);
    return fnmatch(pattern, name, 0) == 0;
}

bool ics_pattern_same_folder(const char *left, const char *right)
{
    struct stat a, b;
    return stat(left, &a) == 0 && stat(right, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}
