/* Counts the results of ice_ratio, ice_root and ice_inverse_root in portable maths on a GPU that
 * are not the correctly rounded ones. */
#ifndef MATHS_FAULTS_H
#define MATHS_FAULTS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a count is of. The functions of one argument try every number of the range that
 * stages/maths.h states. The quotient tries random numbers of the range, and pairs of mantissas
 * that are as close together as possible. */
typedef enum maths_function {
    MATHS_ROOT,
    MATHS_INVERSE_ROOT,
    MATHS_INVERSE,
    MATHS_RATIO,
    MATHS_RATIO_CLOSE,
    MATHS_FUNCTIONS
} maths_function;

/* Sets *tried to the number of results that were compared, and *faults to the number of wrong ones.
 * `pairs` is the number of quotients of each thread. Returns a cudaError_t. */
int maths_faults(maths_function function, uint32_t pairs, uint64_t *tried, uint64_t *faults);

#ifdef __cplusplus
}
#endif

#endif
