#include "pipeline/production/units/hit_path.h"

#include "pipeline/photons/config/hit_name.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* DIRECTORY/NAME with one slash between them also where the directory ends in slashes. */
static char *join_path(const char *directory, const char *name)
{
    size_t length = strlen(directory);
    while (length > 1 && directory[length - 1] == '/') {
        length--;
    }
    bool root = length == 1 && directory[0] == '/';
    char *path = NULL;
    int written = asprintf(&path, "%.*s%s%s", (int)length, directory, root ? "" : "/", name);
    return written >= 0 ? path : NULL;
}

/* The path of a file in sink.directory, whose name is made of a stem. */
static char *name_output(const icestream_config *config, const char *pattern, const char *stem,
                         size_t length)
{
    char *name = ics_hit_name_make(pattern, stem, length);
    char *path = name != NULL ? join_path(config->sink.directory, name) : NULL;
    free(name);
    return path;
}

char *ics_hit_path_of_message(const icestream_config *config, const char *path, uint64_t number)
{
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    const char *base = slash != NULL ? slash + 1 : path != NULL ? path : "stdin";
    char *name = NULL, *made = NULL;
    int length = asprintf(&name, "%s-%06" PRIu64, base, number);
    if (length >= 0) {
        made = name_output(config, config->sink.name, name, (size_t)length);
        free(name);
    }
    return made;
}

/* Returns the length of a name without the first of the endings that it has. */
static size_t length_without(const char *name, const char *const *endings, size_t count)
{
    const size_t length = strlen(name);
    for (size_t i = 0; i < count; ++i) {
        const size_t ending = strlen(endings[i]);
        if (length > ending && strcmp(name + length - ending, endings[i]) == 0) {
            return length - ending;
        }
    }
    return length;
}

char *ics_hit_path_of_file(const icestream_config *config, const char *path)
{
    static const char *const endings[] = {".steps.npy", ".npy"};
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    return name_output(config, config->sink.name, name,
                       length_without(name, endings, sizeof endings / sizeof *endings));
}

char *ics_hit_path_of_light(const icestream_config *config, const char *pattern)
{
    static const char *const endings[] = {".f2k.txt", ".f2k", ".csv", ".yaml", ".yml"};
    const char *path = ics_config_has_particles(config) && config->particles.file != NULL
                           ? config->particles.file
                           : config->path;
    const char *name = path == NULL                 ? "generated"
                       : strcmp(path, "-") == 0     ? "stdin"
                       : strrchr(path, '/') != NULL ? strrchr(path, '/') + 1
                                                    : path;
    return name_output(config, pattern, name,
                       length_without(name, endings, sizeof endings / sizeof *endings));
}
