/* Fixtures for runs on fake GPUs: five step files, and what the summary reports about the device.
 */
#ifndef FAKE_GPU_RUN_H
#define FAKE_GPU_RUN_H

#include "tests/devices/fake_gpu.h"
#include "tests/support/run_folder.h"

#include <string.h>

enum { FILES = 5 };
static const char *const names[FILES] = {"a", "b", "c", "d", "e"};

/* Five files. One has a single step, and one has no photons. */
static inline run_folder open_place(void)
{
    const uint32_t steps[FILES] = {40, 1, 25, 3, 60}, photons[FILES] = {500, 9000, 300, 0, 200};
    run_folder place = run_folder_open();
    for (int i = 0; i < FILES; ++i) {
        char name[64];
        snprintf(name, sizeof name, "%s.steps.npy", names[i]);
        run_folder_bright_steps(&place, name, (uint32_t)i * 1000, steps[i], photons[i]);
    }
    place.options.force = true;
    return place;
}

static inline const json_t *device_of(const json_t *summary, const char *name)
{
    return json_object_get(json_object_get(summary, "device"), name);
}

/* Whether a warning of the device contains the text. */
static inline bool warned(const json_t *summary, const char *text)
{
    const json_t *warnings = device_of(summary, "warnings");
    for (size_t i = 0; i < json_array_size(warnings); ++i) {
        if (strstr(json_string_value(json_array_get(warnings, i)), text) != NULL) {
            return true;
        }
    }
    return false;
}

#endif
