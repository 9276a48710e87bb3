/* Promises of base/memory.h: a request for more memory than there is is refused before it is made,
 * with both sizes and the limit that refuses it; a small request is not. Mapped arrays are zero.
 *
 * How to join: add one test for each new limit. Limits of the process are set in a child. */
#include "base/memory.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

START_TEST(small_request_passes)
{
    icestream_error error = {0};
    ck_assert_int_eq(ics_memory_check("the test needs", 1e6, 0, &error), ICESTREAM_OK);
}
END_TEST

START_TEST(more_than_the_machine_has_is_refused)
{
    icestream_error error = {0};
    ck_assert_int_eq(ics_memory_check("the test needs", 1e18, 0, &error), ICESTREAM_E_MEMORY);
    ck_assert_ptr_nonnull(strstr(error.text, "the test needs 1e+09 GB, but the "));
}
END_TEST

/* Address space that is only reserved counts for its own limit alone. */
START_TEST(limit_of_the_address_space_counts)
{
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        icestream_error error = {0};
        const struct rlimit limit = {(rlim_t)1 << 36, (rlim_t)1 << 36};
        const bool before = ics_memory_check("t", 1, 1e12, &error) == ICESTREAM_OK;
        const bool set = setrlimit(RLIMIT_AS, &limit) == 0;
        const bool after = ics_memory_check("t", 1, 1e12, &error) == ICESTREAM_E_MEMORY;
        _exit(before && set && after && strstr(error.text, "ulimit -v") != NULL ? 0 : 1);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
END_TEST

/* An array of any size is zero, all of it can be written, and a large one begins at a huge page. */
START_TEST(large_arrays_are_zero)
{
    const size_t counts[] = {1, 1000, 500000, 3000001};
    for (size_t i = 0; i < COUNT(counts); ++i) {
        uint32_t *array = ics_memory_zeros(counts[i], sizeof *array);
        ck_assert_ptr_nonnull(array);
        uint32_t bits = 0;
        for (size_t k = 0; k < counts[i]; ++k) {
            bits |= array[k];
            array[k] = UINT32_MAX;
        }
        ck_assert_uint_eq(bits, 0);
        free(array);
    }
}
END_TEST

/* All bytes of an array without content keep what is written into them. Several arrays are in use
 * at once, so the test also shows that none of them changes another one. */
START_TEST(large_arrays_without_content)
{
    const size_t sizes[] = {1, 4097, ((size_t)2 << 20) - 1, ((size_t)4 << 20) + 5, (size_t)9 << 20};
    unsigned char *arrays[COUNT(sizes)];
    for (size_t i = 0; i < COUNT(sizes); ++i) {
        arrays[i] = ics_memory_large(sizes[i]);
        ck_assert_ptr_nonnull(arrays[i]);
        memset(arrays[i], (int)(i + 1), sizes[i]);
    }
    for (size_t i = 0; i < COUNT(sizes); ++i) {
        size_t other = 0;
        for (size_t k = 0; k < sizes[i]; ++k) {
            other += arrays[i][k] != i + 1;
        }
        ck_assert_uint_eq(other, 0);
        free(arrays[i]);
    }
}
END_TEST

START_TEST(mapped_arrays_are_zero)
{
    static const size_t sizes[] = {
        1, 8, 4097, ((size_t)2 << 20) - 1, (size_t)2 << 20, ((size_t)5 << 20) + 3};
    for (size_t i = 0; i < COUNT(sizes); ++i) {
        unsigned char *array = ics_memory_map(sizes[i]);
        ck_assert_ptr_nonnull(array);
        ck_assert(sizes[i] < (size_t)2 << 20 || (uintptr_t)array % ((size_t)2 << 20) == 0);
        size_t zeros = 0;
        for (size_t k = 0; k < sizes[i]; ++k) {
            zeros += array[k] == 0;
            array[k] = 7;
        }
        ck_assert_uint_eq(zeros, sizes[i]);
        ics_memory_unmap(array, sizes[i]);
    }
    ics_memory_unmap(NULL, 5);
}
END_TEST

START_TEST(no_array_without_address_space)
{
    ck_assert_ptr_null(ics_memory_map(SIZE_MAX));
    ck_assert_ptr_null(ics_memory_map(SIZE_MAX / 2));
}
END_TEST

ICS_TEST_MAIN("memory")
{
    TCase *limits = tcase_create("limits");
    tcase_add_test(limits, small_request_passes);
    tcase_add_test(limits, more_than_the_machine_has_is_refused);
    tcase_add_test(limits, limit_of_the_address_space_counts);
    tcase_add_test(limits, large_arrays_are_zero);
    tcase_add_test(limits, large_arrays_without_content);
    tcase_add_test(limits, mapped_arrays_are_zero);
    tcase_add_test(limits, no_array_without_address_space);
    suite_add_tcase(suite, limits);
}
