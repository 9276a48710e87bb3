/* Several GPUs, and trials of schedules, need the same programs at the same time. One thread makes
 * a program, and the others wait until it is done. If no cache can take the program, the process
 * keeps a copy for them. */
#ifndef ICS_KERNELS_CUDA_PROGRAM_SHARE_H
#define ICS_KERNELS_CUDA_PROGRAM_SHARE_H

#include "kernels/cuda/program.h"

/* Copies the program with this name (64 hexadecimal digits) to *program. Waits while another thread
 * makes it. Returns true if *program is filled; its image and kernels belong to the caller. Returns
 * false if the caller must make the program, and then call ics_program_share_end(). Any thread. */
bool ics_program_share_begin(const char key[65], ics_program *program);
/* Ends the wait of other callers, and keeps a copy of a program for them. NULL: it could not be
 * made, or a cache has it. */
void ics_program_share_end(const char key[65], const ics_program *program);

#endif
