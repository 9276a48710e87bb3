/* What replays photons: the CPU or a GPU. */
#ifndef ICS_PHOTONS_REPLAY_BACKEND_H
#define ICS_PHOTONS_REPLAY_BACKEND_H

#include "base/icestream_error.h"
#include "kernels/identity.h"

/* Decides whether a GPU replays `count` photons. `backend`: "cpu", "cuda", or "auto" (NULL: the
 * same), which wants one for fast maths, and from a number on with which the CPU takes longer than
 * the compilation of the kernel. ICESTREAM_E_USAGE; ICESTREAM_E_DEVICE: cuda without a GPU. */
int ics_replay_choose_gpu(const char *backend, bool fast_maths, size_t count, bool *on_gpu,
                          icestream_error *error);

/* Checks that kernels repeat the hits that others made: fast maths has the same bits only in the
 * same kind of kernels. Hits of earlier versions do not say theirs; each of them is compared
 * anyway. ICESTREAM_E_DIFFERENT, with both kinds. */
int ics_replay_check_kernels(const ics_kernels *made, const ics_kernels *here,
                             icestream_error *error);

#endif
