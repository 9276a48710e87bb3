/* Promise: a ppc folder means its own detector, unless the user names another one; and lists of
 * single modules (efficiencies, axes, cables, voltages) are refused for a detector whose numbers
 * mean other positions. To join: write the files of a folder and load a detector with it. */
#include "pipeline/photons/models/detector/layout.h"
#include "tests/support/loaded_detector.h"
#include "tests/support/model_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#define GEO                                                                                        \
    "A 0x1 10 20 -1500 1 1\n"                                                                      \
    "B 0x2 10 20 -1517 1 2\n"                                                                      \
    "C 0x3 135 20 -1500 2 1\n"

typedef struct ice_folder {
    model_folder folder;
    char ice[MODEL_PATH + 32]; /* the setting of ice.directory */
} ice_folder;

static ice_folder create(const char *geo)
{
    char path[MODEL_PATH];
    ice_folder made = {.folder = model_folder_create()};
    if (geo != NULL) {
        model_folder_write(&made.folder, "geo-f2k", geo, path);
    }
    model_folder_write(&made.folder, "eff-f2k", "1 2 1.35\n", path);
    snprintf(made.ice, sizeof made.ice, "ice.directory=%s", made.folder.path);
    return made;
}

START_TEST(a_folder_brings_its_detector)
{
    ice_folder made = create(GEO);
    loaded_detector r = detector_load(model_config(made.ice, "stages.detect=pe", NULL));
    expect_detector(&r);
    ck_assert_uint_eq(r.detector->module_count, 3);
    ck_assert_double_eq_tol(r.detector->modules[0].z, 448.07, 1e-9);
    ck_assert_double_eq(r.detector->modules[1].efficiency, 1.35);
    ck_assert_uint_eq(r.warnings.count, 0);
    ck_assert_uint_eq(ics_detector_layout_line(r.detector, &r.detector->modules[2]), 3);
    detector_unload(&r);
    /* A layout or a file goes before it. */
    r = detector_load(model_config(made.ice, "detector.layout=hex86", NULL));
    expect_detector(&r);
    ck_assert_str_eq(r.detector->name, "hex86");
    detector_unload(&r);
    r = detector_load(model_config(made.ice, "detector.jitter=true", NULL));
    expect_no_detector(&r, "--set detector.jitter: error: detector.jitter: is for layout: hex86");
    detector_unload(&r);
    model_folder_remove(&made.folder);
}
END_TEST

START_TEST(a_folder_without_modules)
{
    ice_folder made = create(NULL);
    loaded_detector r = detector_load(model_config(made.ice, "stages.detect=pe", NULL));
    expect_detector(&r);
    ck_assert_str_eq(r.detector->name, "hex86");
    ck_assert_uint_eq(r.warnings.count, 1);
    ck_assert_ptr_nonnull(strstr(r.warnings.items[0], "eff-f2k is applied to hex86 by numbers"));
    detector_unload(&r);
    model_folder_remove(&made.folder);
}
END_TEST

START_TEST(lists_for_other_modules)
{
    static const struct {
        const char *modules, *message; /* NULL: the list is taken */
    } cases[] = {
        {"string,module,x,y,z\n1,1,10,20,448\n1,2,10,20.5,431\n2,1,135,20,448\n", NULL},
        {"string,module,x,y,z\n1,2,10,20,431\n9,1,0,0,0\n", NULL}, /* a part, and a new string */
        {"string,module,x,y,z\n1,1,10,20,448\n1,2,40,20,431.07\n",
         "whose module 2 of string 1 is 30 m away from its position there (and 1 of 2 modules more "
         "than 5 m); expected the detector of that file"},
        {"string,module,x,y,z\n1,2,10,20,448\n1,3,10,20,431\n", "module 2 of string 1 is 16.93 m"},
        {"string,module,x,y,z\n7,1,10,20,448\n", "found 1 row, none of a module that"},
    };
    ice_folder made = create(GEO);
    model_folder own = model_folder_create();
    for (size_t i = 0; i < COUNT(cases); ++i) {
        char path[MODEL_PATH], file[MODEL_PATH + 32];
        snprintf(file, sizeof file, "detector.file=%s",
                 model_folder_write(&own, "own.csv", cases[i].modules, path));
        loaded_detector r = detector_load(model_config(made.ice, file, "stages.detect=pe", NULL));
        if (cases[i].message == NULL) {
            expect_detector(&r);
        } else {
            expect_no_detector(&r, cases[i].message);
            ck_assert_ptr_nonnull(strstr(r.error.text, "eff-f2k"));
        }
        detector_unload(&r);
        /* Without photo-electrons, or without the list, every detector goes with the ice. */
        r = detector_load(model_config(made.ice, file, NULL));
        expect_detector(&r);
        detector_unload(&r);
        r = detector_load(
            model_config(made.ice, file, "stages.detect=pe", "detector.efficiencies=none", NULL));
        expect_detector(&r);
        detector_unload(&r);
    }
    loaded_detector r =
        detector_load(model_config(made.ice, "detector.layout=hex86", "stages.detect=pe", NULL));
    expect_no_detector(&r, "--set ice.directory: error: detector.efficiencies: found");
    detector_unload(&r);
    model_folder_remove(&own);
    model_folder_remove(&made.folder);
}
END_TEST

ICS_TEST_MAIN("detector layout")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, a_folder_brings_its_detector);
    tcase_add_test(all, a_folder_without_modules);
    tcase_add_test(all, lists_for_other_modules);
    suite_add_tcase(suite, all);
}
