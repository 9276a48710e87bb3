/* Which kernels computed photons with fast maths. Their bits depend on the compute capability of
 * the GPU and on the compiler, so that hits can be replayed only by such kernels. */
#ifndef ICS_KERNELS_IDENTITY_H
#define ICS_KERNELS_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero: no photon was computed with fast maths, or it is not known by which kernels. */
typedef struct ics_kernels {
    uint32_t code; /* capability and compiler; ICS_KERNELS_MIXED: of several kinds */
    char gpu[60];  /* name of the (first) GPU; "": not known */
} ics_kernels;
#define ICS_KERNELS_MIXED 0xffffffffu

/* Makes the identity. `architecture`: 90 for 9.0; `compiler`: "nvrtc 13.0"; `is_ptx`: the driver
 * ended the compilation. */
ics_kernels ics_kernels_of(const char *gpu, int architecture, const char *compiler, bool is_ptx);
/* Adds the kernels of other photons. */
void ics_kernels_add(ics_kernels *to, const ics_kernels *other);

/* Write "9.0" and "nvrtc 13.0", or "nvrtc 13.0, driver"; both [32]. */
void ics_kernels_capability(uint32_t code, char text[32]);
void ics_kernels_compiler(uint32_t code, char text[32]);
/* The inverse. Returns 0 if a text is not understood. */
uint32_t ics_kernels_code(const char *capability, const char *compiler);

/* Writes "NVIDIA H200 (compute capability 9.0, nvrtc 13.0)", for messages. Returns `text`. */
const char *ics_kernels_text(const ics_kernels *kernels, char *text, size_t size);

#endif
