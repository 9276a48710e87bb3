/* Promises of files from NumPy: those with all fields are read, others are refused with a reason.
 * To join: a file of NumPy that we read is a program in `numpy_programs`, one that we refuse is a
 * row of `numpy_refusals`. */
#include "tests/support/scratch_files.h"
#include "tests/support/step_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdlib.h>

#define STEPS_IN_PYTHON                                                                            \
    "import numpy as n, sys\n"                                                                     \
    "def save(types, order, align=False):\n"                                                       \
    "    d = n.dtype([(o[0], types.get(o[0], o[1])) + o[2:] for o in order], align=align)\n"       \
    "    a = n.zeros(1000, d)\n"                                                                   \
    "    i = n.arange(1000)\n"                                                                     \
    "    a['x'] = i - 500; a['dz'] = -1; a['beta'] = 0.5; a['weight'] = 2; a['photons'] = i\n"     \
    "    a['event_id'] = i // 10; a['step_id'] = i % 10; a['kind'] = 3\n"                          \
    "    n.save(sys.argv[1], a)\n"                                                                 \
    "ours = [('x','<f4'),('y','<f4'),('z','<f4'),('photons','<u4'),('dx','<f4'),('dy','<f4'),"     \
    "('dz','<f4'),('length','<f4'),('beta','<f4'),('weight','<f4'),('t','<f8'),"                   \
    "('event_id','<u8'),('step_id','<u4'),('kind','u1'),('spectrum','u1'),('flags','<u2'),"        \
    "('source_id','<u8')]\n"

static const char *const numpy_programs[] = {
    STEPS_IN_PYTHON "save({}, ours)\n",
    STEPS_IN_PYTHON "save({}, ours[::-1])\n",
    STEPS_IN_PYTHON "save(dict(t='<f4', source_id='<u4'), ours)\n",
    STEPS_IN_PYTHON "save({}, ours[::2] + [('name', 'U7'), ('v', '>f8', (3,)), "
                    "('s', [('a', '<f4'), ('b', 'u1')])] + ours[1::2])\n",
    STEPS_IN_PYTHON "save(dict(x='<f8', y='<f2', z='<i2', photons='<i8', kind='<i4', flags='?', "
                    "event_id='<f8', step_id='<u8', spectrum='i1'), ours)\n",
    STEPS_IN_PYTHON "save(dict(x='<f8'), ours[::-1], align=True)\n",
    STEPS_IN_PYTHON "save({}, ours + [('\\u00e4\\u03c0', '<f4')])\n",
};

START_TEST(files_of_numpy_are_read)
{
    if (!scratch_has_numpy()) {
        return;
    }
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    icestream_step *steps = malloc(1000 * sizeof *steps);
    ics_step_reader *reader = NULL;
    ics_step_summary summary;
    icestream_error error = {.text = ""};
    size_t got;
    ck_assert_ptr_nonnull(steps);
    scratch_path(&place, "a.steps.npy", path);
    ck_assert_int_eq(scratch_python(numpy_programs[_i], path, NULL), 0);
    ck_assert_msg(ics_step_reader_open(path, STEP_FILE_SPECTRA, &reader, &error) == 0, "%s",
                  error.text);
    ck_assert_msg(ics_step_reader_check(reader, &summary, NULL, &error) == 0, "%s", error.text);
    ck_assert_uint_eq(summary.rows, 1000);
    ck_assert_uint_eq(summary.photons, 499500);
    ck_assert(summary.ascending);
    ck_assert_int_eq(ics_step_reader_read(reader, steps, 1000, &got, &error), 0);
    ck_assert_uint_eq(got, 1000);
    for (uint32_t i = 0; i < 1000; ++i) {
        const icestream_step expected = {.x = (float)i - 500,
                                         .dz = -1,
                                         .beta = 0.5f,
                                         .weight = 2,
                                         .photons = i,
                                         .event_id = i / 10,
                                         .step_id = i % 10,
                                         .kind = 3};
        ck_assert_mem_eq(&steps[i], &expected, sizeof expected);
    }
    ics_step_reader_destroy(reader);
    free(steps);
    scratch_remove(&place);
}
END_TEST

static const struct {
    const char *program, *expected;
} numpy_refusals[] = {
    {STEPS_IN_PYTHON "save(dict(photons='<i8'), ours)\n"
                     "a = n.load(sys.argv[1]); a['photons'][77] = -5; n.save(sys.argv[1], a)\n",
     "row 77, field photons: found -5, expected a value that fits a 4-byte unsigned integer"},
    {STEPS_IN_PYTHON "f = open(sys.argv[1], 'wb')\na = n.zeros(2, n.dtype(ours))\n"
                     "a['dx'] = a['beta'] = 1; a['step_id'] = [0, 1]\nn.save(f, a); n.save(f, a)\n",
     "bytes after the last row"},
};

START_TEST(files_of_numpy_that_do_not_fit_are_refused)
{
    if (!scratch_has_numpy()) {
        return;
    }
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    scratch_path(&place, "a.steps.npy", path);
    ck_assert_int_eq(scratch_python(numpy_refusals[_i].program, path, NULL), 0);
    step_file_refuse(path, numpy_refusals[_i].expected);
    scratch_remove(&place);
}
END_TEST

ICS_TEST_MAIN("numpy_files")
{
    TCase *numpy = tcase_create("numpy");
    tcase_add_loop_test(numpy, files_of_numpy_are_read, 0, COUNT(numpy_programs));
    tcase_add_loop_test(numpy, files_of_numpy_that_do_not_fit_are_refused, 0,
                        COUNT(numpy_refusals));
    suite_add_tcase(suite, numpy);
}
