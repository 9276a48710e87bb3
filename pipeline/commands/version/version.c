/* What the library was built from and with. */
#include "base/error.h"
#include "kernels/cpu/kernels.h"
#include "pipeline/icestream.h"

#include <build_commit.h>
#include <build_facts.h>
#include <errno.h>
#include <string.h>

static const struct {
    const char *name, *value;
} facts[] = {
#define X(name, value) {name, value},
    ICS_BUILD_FACTS(X)
#undef X
};

static void print_fact(FILE *out, const char *name, const char *value)
{
    fprintf(out, "%s: %s\n", name, value);
}

/* Those that the library has, and the one that this machine gets. */
static void print_instruction_sets(FILE *out)
{
    const ics_cpu_kernels *best = ics_kernels_find("auto");
#if defined(ICS_HAVE_X86_KERNELS)
    const char *sets = "baseline avx2 avx512";
#else
    const char *sets = "baseline";
#endif
    fprintf(out, "instruction sets: %s; this machine uses %s\n", sets,
            best != NULL ? best->name : "none");
}

int icestream_build_print(FILE *out, icestream_error *error)
{
    print_fact(out, "icestream", ICESTREAM_VERSION);
    print_fact(out, "commit", ICS_BUILD_COMMIT);
    print_instruction_sets(out);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; ++i) {
        print_fact(out, facts[i].name, facts[i].value);
    }
    if (fflush(out) != 0 || ferror(out)) {
        return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, errno,
                                   "cannot write what icestream was built with: %s",
                                   strerror(errno));
    }
    return ICESTREAM_OK;
}
