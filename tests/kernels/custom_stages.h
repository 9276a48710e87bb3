/* What the tests of stages from a user's header share: the folder, the cache and the errors. */
#ifndef CUSTOM_STAGES_H
#define CUSTOM_STAGES_H

#include "kernels/cpu/custom.h"
#include "tests/support/scratch_files.h"

#include <check.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The example of a header that icestream ships. */
#define CUSTOM_RAYLEIGH ICS_SOURCE_DIRECTORY "/configs/stages/rayleigh.h"

/* Makes a scratch folder, and makes it the cache of this process. Check runs every test in a
 * separate process, so no other test is affected. */
static inline scratch custom_start(void)
{
    const scratch place = scratch_create();
    ck_assert_int_eq(setenv("XDG_CACHE_HOME", place.folder, 1), 0);
    return place;
}

/* Returns the number of files in the cache whose names match a pattern. */
static inline size_t custom_cached(const scratch *place, const char *pattern)
{
    char path[SCRATCH_PATH];
    glob_t found = {0};
    snprintf(path, sizeof path, "%s/icestream/%s", place->folder, pattern);
    const size_t count = glob(path, 0, NULL, &found) == 0 ? found.gl_pathc : 0;
    globfree(&found);
    return count;
}

/* Writes a text file into the folder, and its path into `path`. */
static inline void custom_write(const scratch *place, const char *name, const char *text,
                                char path[SCRATCH_PATH])
{
    scratch_write(scratch_path(place, name, path), text, strlen(text));
}

/* Kernels with a scatter stage of this header, for spheres in plain ice. */
static inline ics_custom_wanted custom_scatter(const char *path)
{
    return (ics_custom_wanted){.headers = {[ICS_STAGE_SCATTER] = path},
                               .instruction_set = "baseline",
                               .variants = {ICE_create_cherenkov, ICE_propagate_cumulative,
                                            ICE_collide_string_grid, ICE_scatter_custom,
                                            ICE_compact_partition}};
}

/* Compiles a header with a scatter stage, or loads it from the cache. Fails the test on errors. The
 * caller destroys the kernels. */
static inline ics_custom_kernels *custom_create_scatter(const char *path)
{
    const ics_custom_wanted wanted = custom_scatter(path);
    ics_custom_kernels *kernels = NULL;
    icestream_error why;
    const int result = ics_custom_kernels_create(&wanted, &kernels, &why);
    ck_assert_msg(result == 0, "%s", why.text);
    return kernels;
}

/* Fails unless the header is refused with a message that contains all `parts`, and that names no
 * folder in which icestream compiles. */
static inline void custom_expect_refusal(const char *path, const char *const *parts, size_t count)
{
    const ics_custom_wanted wanted = custom_scatter(path);
    ics_custom_kernels *kernels = (void *)&kernels;
    icestream_error why;
    ck_assert_int_eq(ics_custom_kernels_create(&wanted, &kernels, &why), ICESTREAM_E_CONFIG);
    ck_assert_ptr_null(kernels);
    for (size_t i = 0; i < count; ++i) {
        ck_assert_msg(strstr(why.text, parts[i]) != NULL, "'%s' is missing in:\n%s", parts[i],
                      why.text);
    }
    ck_assert_msg(strstr(why.text, "/build-") == NULL, "a folder of ours is in:\n%s", why.text);
}

#endif
