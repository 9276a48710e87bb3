/* The programs of sink.command and other keys: which files they are. */
#include "base/error.h"
#include "pipeline/photons/config/keys.h"
#include "pipeline/photons/config/schema/value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

ics_user_words ics_config_program(const icestream_config *config, ics_user_program program)
{
    const ics_user_words programs[ICS_PROGRAMS] = {
        [ICS_PROGRAM_SHIP] = {"sink.ship", config->sink.ship, config->sink.ship_count},
        [ICS_PROGRAM_VERIFY] = {"sink.verify", config->sink.verify, config->sink.verify_count},
        [ICS_PROGRAM_COMMAND] = {"sink.command", config->sink.command, config->sink.command_count},
        [ICS_PROGRAM_FETCH] = {"source.fetch", config->source.fetch, config->source.fetch_count}};
    return programs[program];
}

bool ics_config_ships(const icestream_config *config)
{
    return config->sink.ship_count > 0 || config->sink.url != NULL;
}

const char *ics_config_delivery(const icestream_config *config)
{
    return config->sink.ship_count > 0 ? "sink.ship"
           : config->sink.url != NULL  ? "sink.url"
                                       : "sink.command";
}

bool ics_config_delivers(const icestream_config *config)
{
    return ics_config_ships(config) || config->sink.verify_count > 0 ||
           config->sink.command_count > 0;
}

static const ics_yaml_node *node_of(const icestream_config *config, const char *key)
{
    return config->origin->given[ics_config_find(key)];
}

static int out_of_memory(icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for the configuration");
}

static int resolve(const icestream_config *config, ics_user_program program, icestream_error *error)
{
    const ics_user_words given = ics_config_program(config, program);
    char **word = given.words;
    const ics_yaml_node *node = given.count > 0 ? node_of(config, given.key) : NULL;
    if (node == NULL || strchr(*word, '/') == NULL || **word == '/') {
        return ICESTREAM_OK;
    }
    ICS_FREES char *here = getcwd(NULL, 0);
    ICS_FREES char *path = ics_schema_join(node->source->folder, *word, false);
    char *whole = path != NULL && here != NULL ? ics_schema_join(here, path, false) : NULL;
    if (whole == NULL) {
        return out_of_memory(error);
    }
    free(*word);
    *word = whole;
    return ICESTREAM_OK;
}

int ics_config_resolve_programs(icestream_config *config, icestream_error *error)
{
    for (ics_user_program program = 0; program < ICS_PROGRAMS; ++program) {
        ICS_TRY(resolve(config, program, error));
    }
    return ICESTREAM_OK;
}

/* Returns 0, or errno: why the file cannot be run as a program. */
static int judge(const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0) {
        return errno;
    }
    if (S_ISDIR(about.st_mode)) {
        return EISDIR;
    }
    return access(path, X_OK) == 0 ? 0 : errno;
}

/* Looks for a program in the folders of `folders`, which colons separate; an empty one is the
 * current folder. *path NULL: there is none. */
static int search(const char *name, const char *folders, char **path, icestream_error *error)
{
    *path = NULL;
    for (const char *at = folders;; ++at) {
        const size_t length = strcspn(at, ":");
        if (asprintf(path, "%.*s/%s", length > 0 ? (int)length : 1, length > 0 ? at : ".", name) <
            0) {
            *path = NULL;
            return out_of_memory(error);
        }
        if (judge(*path) == 0) {
            return ICESTREAM_OK;
        }
        free(*path);
        *path = NULL;
        at += length;
        if (*at == '\0') {
            return ICESTREAM_OK;
        }
    }
}

static int refuse(const icestream_config *config, const ics_user_words *program, int cause,
                  const char *folders, icestream_error *error)
{
    char place[1024], reason[4096];
    const char *key = program->key;
    const ics_yaml_node *node = node_of(config, key);
    const char *word = program->words[0];
    const char *given = node != NULL ? node->items[0]->text : word;
    if (folders != NULL) {
        snprintf(reason, sizeof reason, "and no folder of PATH has such a program (%.3000s)",
                 folders);
    } else if (strcmp(given, word) != 0) {
        snprintf(reason, sizeof reason, "which is %.3500s: %s", word, strerror(cause));
    } else {
        snprintf(reason, sizeof reason, "%s", strerror(cause));
    }
    return ics_error_add(error, ICESTREAM_E_CONFIG,
                         "%s: error: %s: found '%s', %s; expected a program: in PATH, with an "
                         "absolute path, or with a path that begins with ./ and starts in the "
                         "folder of the file that names it (with --set in the current folder)",
                         ics_config_place(config, key, place, sizeof place), key, given, reason);
}

int ics_config_find_program(const icestream_config *config, ics_user_program program, char **path,
                            icestream_error *error)
{
    const ics_user_words given = ics_config_program(config, program);
    *path = NULL;
    if (given.count == 0) {
        return ICESTREAM_OK;
    }
    const char *word = given.words[0], *folders = getenv("PATH");
    if (strchr(word, '/') != NULL) {
        const int cause = judge(word);
        if (cause != 0) {
            return refuse(config, &given, cause, NULL, error);
        }
        *path = strdup(word);
        return *path != NULL ? ICESTREAM_OK : out_of_memory(error);
    }
    folders = folders != NULL ? folders : "/bin:/usr/bin"; /* as execvp(3) */
    ICS_TRY(search(word, folders, path, error));
    return *path != NULL ? ICESTREAM_OK : refuse(config, &given, 0, folders, error);
}
