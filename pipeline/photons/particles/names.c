/* Names of f2k files that are other names of a type: those of mmc, of dCORSIKA, and of rdmc, the
 * library of AMANDA. Codes of the Particle Data Group: "Monte Carlo Particle Numbering Scheme" of
 * the Review of Particle Physics (pdg.lbl.gov). Names, and the negative codes from 2000000000, are
 * those of IceTray's I3Particle. physics.md 10.6 says why a particle has the light of another one.
 */
#include "pipeline/photons/particles/names.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A nucleus has a code 10LZZZAAAI. GENIE gives codes from 2000000000 to its own objects, among them
 * the binding energy of a nucleus (2000000101), which makes no light. */
enum {
    NUCLEI = 1000000000,
    NUCLEI_END = 1100000000,
    GENIE_OWN = 2000000000,
    GENIE_HADRONS = 2000000001
};

static const struct {
    const char *name;
    long code;
    const char *type; /* in particle.c */
} names[] = {
    {"Gamma", 22, "gamma"},
    {"EMinus", 11, "e-"},
    {"EPlus", -11, "e+"},
    {"MuMinus", 13, "mu"},
    {"MuPlus", -13, "mu+"},
    {"TauMinus", 15, "tau"},
    {"TauPlus", -15, "tau"},
    {"NuE", 12, "nu"},
    {"NuEBar", -12, "nu"},
    {"NuMu", 14, "nu"},
    {"NuMuBar", -14, "nu"},
    {"NuTau", 16, "nu"},
    {"NuTauBar", -16, "nu"},
    {"Nu", -2000000004, "nu"},
    {"Pi0", 111, "pi0"},
    {"PiPlus", 211, "pi+"},
    {"PiMinus", -211, "pi-"},
    {"Eta", 221, "pi0"},
    {"K0_Long", 130, "K0L"},
    {"K0_Short", 310, "K0L"},
    {"K0", 311, "K0L"},
    {"K0Bar", -311, "K0L"},
    {"KPlus", 321, "pi+"},
    {"KMinus", -321, "pi-"},
    {"PPlus", 2212, "p"},
    {"PMinus", -2212, "pbar"},
    {"Neutron", 2112, "n"},
    {"NeutronBar", -2112, "pbar"},
    {"Lambda", 3122, "n"},
    {"LambdaBar", -3122, "pbar"},
    {"SigmaPlus", 3222, "p"},
    {"Sigma0", 3212, "n"},
    {"SigmaMinus", 3112, "p"},
    {"SigmaMinusBar", -3222, "pbar"},
    {"Sigma0Bar", -3212, "pbar"},
    {"SigmaPlusBar", -3112, "pbar"},
    {"Xi0", 3322, "n"},
    {"XiMinus", 3312, "p"},
    {"Xi0Bar", -3322, "pbar"},
    {"XiPlusBar", -3312, "pbar"},
    {"OmegaMinus", 3334, "p"},
    {"OmegaPlusBar", -3334, "pbar"},
    {"DPlus", 411, "hadr"},
    {"DMinus", -411, "hadr"},
    {"D0", 421, "hadr"},
    {"D0Bar", -421, "hadr"},
    {"DsPlus", 431, "hadr"},
    {"DsMinusBar", -431, "hadr"},
    {"LambdacPlus", 4122, "hadr"},
    {"Monopole", -2000000041, "monopole"},
    {"Brems", -2000001001, "brems"},
    {"DeltaE", -2000001002, "delta"},
    {"PairProd", -2000001003, "epair"},
    {"NuclInt", -2000001004, "munu"},
    {"MuPair", -2000001005, "epair"},
    {"Hadrons", -2000001006, "hadr"},
    {"ContinuousEnergyLoss", -2000001111, "dark"},
};
enum { NAMES = sizeof names / sizeof *names };

/* Names of f2k files without a code. rdmc calls bremsstrahlung `brehm` and nuclear interactions
 * `nucle`, too. */
static const struct {
    const char *name, *type;
} f2k_names[] = {
    {"mu-", "mu"},       {"tau-", "tau"},   {"tau+", "tau"},  {"nu_e", "nu"},    {"~nu_e", "nu"},
    {"nu_mu", "nu"},     {"~nu_mu", "nu"},  {"nu_tau", "nu"}, {"~nu_tau", "nu"}, {"brehm", "brems"},
    {"mupair", "epair"}, {"nucle", "munu"}, {"p+", "p"},      {"p-", "pbar"},    {"k0", "K0L"},
    {"k+", "pi+"},       {"k-", "pi-"},
};
enum { F2K_NAMES = sizeof f2k_names / sizeof *f2k_names };

/* Words that people write, and the names that they may mean. */
static const struct {
    const char *word, *type;
} words[] = {
    {"muon", "mu"},      {"electron", "e-"},  {"positron", "e+"}, {"cascade", "hadr"},
    {"shower", "hadr"},  {"hadron", "hadr"},  {"pion", "pi+"},    {"proton", "p"},
    {"neutrino", "nu"},  {"photon", "gamma"}, {"nue", "nu_e"},    {"numu", "nu_mu"},
    {"nutau", "nu_tau"},
};
enum { WORDS = sizeof words / sizeof *words };

static const char *find_code(long code)
{
    for (size_t i = 0; i < NAMES; ++i) {
        if (names[i].code == code) {
            return names[i].type;
        }
    }
    if (code == GENIE_HADRONS) {
        return "hadr";
    }
    if (labs(code) >= NUCLEI && labs(code) < NUCLEI_END) {
        return "nucleus";
    }
    return code == GENIE_OWN + 101 ? "dark" : NULL;
}

const char *ics_particle_name_find(const ics_text_field *text)
{
    char typed[24], *end;
    for (size_t i = 0; i < NAMES; ++i) {
        if (ics_text_field_equals(text, names[i].name)) {
            return names[i].type;
        }
    }
    for (size_t i = 0; i < F2K_NAMES; ++i) {
        if (ics_text_field_equals(text, f2k_names[i].name)) {
            return f2k_names[i].type;
        }
    }
    if (text->length == 0 || text->length >= sizeof typed) {
        return NULL;
    }
    memcpy(typed, text->start, text->length);
    typed[text->length] = '\0';
    if (strspn(typed, "+-0123456789") != text->length) {
        return NULL;
    }
    const long code = strtol(typed, &end, 10);
    return *end == '\0' ? find_code(code) : NULL;
}

void ics_particle_name_nearest(ics_nearest *best, const char *typed)
{
    for (size_t i = 0; i < WORDS; ++i) {
        if (strcasecmp(typed, words[i].word) == 0) {
            *best = (ics_nearest){.word = words[i].type};
            return;
        }
    }
    for (size_t i = 0; i < NAMES; ++i) {
        ics_nearest_try(best, typed, names[i].name);
    }
    for (size_t i = 0; i < F2K_NAMES; ++i) {
        ics_nearest_try(best, typed, f2k_names[i].name);
    }
}
