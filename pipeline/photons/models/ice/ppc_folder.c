/* Which files a ppc folder has: those that it must have, and those that are not read. */
#include "base/error.h"
#include "pipeline/photons/models/ice/sources.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool has_file(const char *directory, const char *name)
{
    char path[4096];
    struct stat about;
    return snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path ||
           stat(path, &about) == 0;
}

/* Finds the first entry of a folder, by name, that matches `pattern` and has the file `within`
 * (NULL: any entry) in it. Returns whether there is one; its name is in found[256]. */
static bool find_entry(const char *directory, const char *pattern, const char *within,
                       char found[256])
{
    struct dirent **entries;
    const int count = scandir(directory, &entries, NULL, alphasort);
    bool is_there = false;
    for (int i = 0; i < count; ++i) {
        const char *name = entries[i]->d_name;
        char file[512];
        snprintf(file, sizeof file, "%s/%s", name, within != NULL ? within : ".");
        if (!is_there && fnmatch(pattern, name, FNM_CASEFOLD) == 0 && name[0] != '.' &&
            (within == NULL || has_file(directory, file))) {
            snprintf(found, 256, "%s", name);
            is_there = true;
        }
        free(entries[i]);
    }
    if (count >= 0) {
        free(entries);
    }
    return is_there;
}

int ics_ice_ppc_check_folder(const char *directory, icestream_error *error)
{
    static const char *const needed[] = {"icemodel.dat", "icemodel.par", "cfg.txt"};
    struct stat about;
    char missing[64] = "", entry[256];
    if (stat(directory, &about) != 0) {
        return ics_error_add(error, ICESTREAM_E_CONFIG, "%s: error: %s", directory,
                             strerror(errno));
    }
    if (!S_ISDIR(about.st_mode)) {
        return ics_error_add(error, ICESTREAM_E_CONFIG,
                             "%s: error: found a file, expected a ppc ice folder", directory);
    }
    for (size_t i = 0; i < sizeof needed / sizeof *needed; ++i) {
        if (!has_file(directory, needed[i])) {
            const size_t used = strlen(missing);
            snprintf(missing + used, sizeof missing - used, "%s%s", used > 0 ? ", " : "",
                     needed[i]);
        }
    }
    /* Prometheus' water for a changed ppc, which takes nothing from icemodel.dat. */
    if (has_file(directory, "sca_len.dat") && has_file(directory, "abs_len.dat")) {
        return ics_error_add(error, ICESTREAM_E_CONFIG,
                             "%s: error: found sca_len.dat and abs_len.dat, water of a changed ppc "
                             "whose icemodel.dat only stands for it; expected ice, or a file of "
                             "water with these lengths as optics.table",
                             directory);
    }
    if (missing[0] == '\0') {
        return ICESTREAM_OK;
    }
    const bool has_layers = has_file(directory, needed[0]);
    if (!has_layers && find_entry(directory, "*ice_table*", NULL, entry)) {
        return ics_error_add(error, ICESTREAM_E_CONFIG,
                             "%s: error: found %s, a table of photonics, which is not read; "
                             "expected icemodel.dat, icemodel.par and cfg.txt, as ppc has them",
                             directory, entry);
    }
    if (!has_layers && find_entry(directory, "*", needed[0], entry)) {
        return ics_error_add(error, ICESTREAM_E_CONFIG,
                             "%s: error: found folders of ice, such as %s, expected one of them",
                             directory, entry);
    }
    return ics_error_add(
        error, ICESTREAM_E_CONFIG,
        "%s: error: found no %s, expected a ppc ice folder: icemodel.dat (layers), "
        "icemodel.par (dependence on wavelength) and cfg.txt (oversize, "
        "efficiency, share of simplified Liu, mean cosine, ...)",
        directory, missing);
}

void ics_ice_ppc_warn_of_unread(const char *directory, ics_warnings *warnings)
{
    if (has_file(directory, "str-f2k")) {
        ics_warnings_add(warnings, "not simulated yet: str-f2k (data of strings)");
    }
}
