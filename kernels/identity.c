#include "kernels/identity.h"

#include <stdio.h>
#include <string.h>

/* A code: the capability times 10 in the upper half, then a bit for a driver that ended the
 * compilation, 7 bits of the compiler's major version and 8 of its minor one. */
enum { CAPABILITY_SHIFT = 16, DRIVER_BIT = 1 << 15, MAJOR_SHIFT = 8 };

static uint32_t make_code(unsigned capability, unsigned major, unsigned minor, bool is_ptx)
{
    if (capability == 0 || capability >= 0xffff || major > 127 || minor > 255) {
        return 0;
    }
    return capability << CAPABILITY_SHIFT | (is_ptx ? DRIVER_BIT : 0) | major << MAJOR_SHIFT |
           minor;
}

ics_kernels ics_kernels_of(const char *gpu, int architecture, const char *compiler, bool is_ptx)
{
    ics_kernels out = {.code = 0};
    unsigned major = 0, minor = 0;
    if (architecture > 0 && sscanf(compiler, "nvrtc %u.%u", &major, &minor) == 2) {
        out.code = make_code((unsigned)architecture, major, minor, is_ptx);
    }
    snprintf(out.gpu, sizeof out.gpu, "%s", gpu);
    return out;
}

void ics_kernels_add(ics_kernels *to, const ics_kernels *other)
{
    if (to->code == 0) {
        *to = *other;
    } else if (other->code != 0 && other->code != to->code) {
        to->code = ICS_KERNELS_MIXED;
    } else if (to->gpu[0] == '\0') {
        memcpy(to->gpu, other->gpu, sizeof to->gpu);
    }
}

void ics_kernels_capability(uint32_t code, char text[32])
{
    const uint32_t capability = code >> CAPABILITY_SHIFT;
    snprintf(text, 32, "%u.%u", capability / 10, capability % 10);
}

void ics_kernels_compiler(uint32_t code, char text[32])
{
    snprintf(text, 32, "nvrtc %u.%u%s", code >> MAJOR_SHIFT & 127, code & 255,
             code & DRIVER_BIT ? ", driver" : "");
}

uint32_t ics_kernels_code(const char *capability, const char *compiler)
{
    unsigned major, minor, of, point;
    int end = 0, last = 0;
    if (sscanf(capability, "%3u.%1u%n", &major, &minor, &end) != 2 || capability[end] != '\0' ||
        sscanf(compiler, "nvrtc %3u.%3u%n", &of, &point, &last) != 2) {
        return 0;
    }
    const bool is_ptx = strcmp(compiler + last, ", driver") == 0;
    return is_ptx || compiler[last] == '\0' ? make_code(10 * major + minor, of, point, is_ptx) : 0;
}

const char *ics_kernels_text(const ics_kernels *kernels, char *text, size_t size)
{
    char capability[32], compiler[32];
    if (kernels->code == 0) {
        snprintf(text, size, "unknown kernels");
    } else if (kernels->code == ICS_KERNELS_MIXED) {
        snprintf(text, size, "kernels of several kinds");
    } else {
        ics_kernels_capability(kernels->code, capability);
        ics_kernels_compiler(kernels->code, compiler);
        snprintf(text, size, "%s (compute capability %s, %s)",
                 kernels->gpu[0] != '\0' ? kernels->gpu : "a GPU", capability, compiler);
    }
    return text;
}
