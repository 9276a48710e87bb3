/* Decays of taus and muons have the shares, energies and times of physics.md 10.7, which are
 * computed here from the densities of the literature.
 *
 * How to join: add a row to `modes`, or one test for each formula of light_decay.h.
 *
 * There are 29 statistical comparisons. tests/support/moments.h says how likely a correct program
 * fails one of them. */
#include "physics/light/light_decay.h"
#include "tests/support/moments.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

static ice_stream stream_of(uint64_t event)
{
    return ice_stream_of(7, event, 0, ICE_PURPOSE_DECAY, 0);
}

/* Cumulative distributions of x, energy over the energy of the tau, for left-handed taus of high
 * energy: Phys. Rev. D 62 (2000) 123001, table I, with P = -1 and z = 1 - x of hadrons. The charged
 * lepton has the density of the tau neutrino. */
static double leptons_below(double x)
{
    return 4.0 / 3.0 * x - x * x * x * x / 3.0;
}

static double hadrons_below(double x, double mass, double asymmetry)
{
    const double r = mass * mass / (ICE_TAU_MASS * ICE_TAU_MASS);
    const double y = fmin(fmax((x - r) / (1.0 - r), 0.0), 1.0); /* (1 + cosine)/2 */
    return y + asymmetry * y * (1.0 - y);
}

/* The modes of hadrons as the Review of Particle Physics 2026 has them (per cent). The last one is
 * what is left. */
static const struct {
    double share, mass, pi0;
} modes[] = {{11.512, 0.13957, 0}, {25.926, 0.775, 1 / 2.0}, {9.324, 1.23, 2 / 3.0},
             {9.455, 1.23, 0},     {5.088, 1.4867, 1 / 4.0}, {1.255, 1.4867, 3 / 4.0},
             {2.227, 0.8917, 0}};
enum { MODES = sizeof modes / sizeof *modes };

static double all_hadrons_below(double x)
{
    double sum = 0;
    for (int i = 0; i < MODES; ++i) {
        const double r = modes[i].mass * modes[i].mass / (ICE_TAU_MASS * ICE_TAU_MASS);
        const double asymmetry = i == 0 ? 1 : i == 4 || i == 5 ? 0 : (1 - 2 * r) / (1 + 2 * r);
        sum += modes[i].share / 64.787 * hadrons_below(x, modes[i].mass, asymmetry);
    }
    return sum;
}

/* Compares the share of `x` below nine edges with a cumulative distribution. */
static void expect_shares(const char *what, const double *below, double total,
                          double (*cumulative)(double))
{
    for (int i = 0; i < 9; ++i) {
        char text[64];
        snprintf(text, sizeof text, "%s below %.1f", what, 0.1 * (i + 1));
        expect_share(text, below[i], total, cumulative(0.1 * (i + 1)), 2e-3);
    }
}

START_TEST(tau)
{
    const size_t count = test_scaled(200000);
    double kinds[ICE_DECAY_KINDS] = {0}, below[ICE_DECAY_KINDS][9] = {{0}};
    moment visible[ICE_DECAY_KINDS] = {{0}}, pi0 = {0};
    for (size_t i = 0; i < count; ++i) {
        ice_stream stream = stream_of(i);
        const ice_decay_products one = ice_decay_tau(1e6, &stream);
        const double x = one.energy / 1e6;
        ck_assert(x > 0 && x <= 1 && one.cosine <= 1 && one.delay == 0);
        ck_assert(x < 0.01 || one.cosine > 1 - 1e-7);
        ++kinds[one.kind];
        moment_add(&visible[one.kind], x);
        for (int k = 0; k < 9; ++k) {
            below[one.kind][k] += x < 0.1 * (k + 1);
        }
        if (one.kind == ICE_DECAY_HADRONS) {
            moment_add(&pi0, one.electromagnetic);
        }
    }
    expect_share("tau: electrons", kinds[ICE_DECAY_ELECTRON], (double)count, 0.17847, 0);
    expect_share("tau: muons", kinds[ICE_DECAY_MUON], (double)count, 0.17366, 0);
    expect_shares("electron", below[ICE_DECAY_ELECTRON], kinds[ICE_DECAY_ELECTRON], leptons_below);
    expect_shares("hadrons", below[ICE_DECAY_HADRONS], kinds[ICE_DECAY_HADRONS], all_hadrons_below);
    /* The mass of the muon raises its mean by (m/M)^2 or less. */
    expect_mean("electron: mean", &visible[ICE_DECAY_ELECTRON], 0.4, 1e-4);
    expect_mean("muon: mean", &visible[ICE_DECAY_MUON], 0.4, 0.003);
    expect_mean("hadrons: mean", &visible[ICE_DECAY_HADRONS], 0.59102, 1e-4);
    double share = 0;
    for (int i = 0; i < MODES; ++i) {
        share += modes[i].share / 64.787 * modes[i].pi0;
    }
    expect_mean("share of pi0", &pi0, share, 0);
}
END_TEST

/* A slow tau shares its energy with its neutrinos, too, and its products fly at large angles. */
START_TEST(slow_tau)
{
    moment along = {0};
    for (size_t i = 0; i < 20000; ++i) {
        ice_stream stream = stream_of(i);
        const ice_decay_products one = ice_decay_tau(2 * ICE_TAU_MASS, &stream);
        const double mass = one.kind == ICE_DECAY_MUON ? ICE_MUON_MASS : ICE_ELECTRON_MASS;
        ck_assert(one.energy >= mass * (1 - 1e-12) && one.energy < 2 * ICE_TAU_MASS);
        ck_assert(fabs(one.cosine) <= 1);
        moment_add(&along, one.cosine);
    }
    ck_assert(moment_mean(&along) > 0.3 && moment_mean(&along) < 0.9);
}
END_TEST

/* The spectrum of Michel with the end at (M^2 + m^2)/2M, and the two mean lives. */
START_TEST(muon_at_rest)
{
    const size_t count = test_scaled(200000);
    const double most =
        0.5 * (ICE_MUON_MASS + ICE_ELECTRON_MASS * ICE_ELECTRON_MASS / ICE_MUON_MASS);
    for (int positive = 0; positive < 2; ++positive) {
        moment energy = {0}, delay = {0};
        double captured = 0, half = 0;
        for (size_t i = 0; i < count; ++i) {
            ice_stream stream = stream_of(i);
            const ice_decay_products one = ice_decay_muon(positive, &stream);
            moment_add(&delay, one.delay);
            if (one.kind == ICE_DECAY_CAPTURE) {
                ++captured;
                continue;
            }
            ck_assert(one.kind == ICE_DECAY_ELECTRON && one.energy <= most);
            moment_add(&energy, one.energy / most);
            half += one.energy < 0.5 * most;
        }
        expect_mean("muon: mean energy", &energy, 0.7, 2e-5);
        expect_share("muon: below half of the energy", half, energy.count, 0.1875, 2e-5);
        /* Suzuki, Measday & Roalsvig: 0.10242 of 0.55684 per us, a mean life of 1796 ns in oxygen
         */
        expect_mean("muon: mean life (ns)", &delay, positive ? 2196.98 : 1795.9, 0.1);
        if (positive) {
            ck_assert_double_eq(captured, 0);
        } else {
            expect_share("muon: captured", captured, (double)count, 0.18393, 5e-5);
        }
    }
}
END_TEST

ICS_TEST_MAIN("light decay")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, tau);
    tcase_add_test(all, slow_tau);
    tcase_add_test(all, muon_at_rest);
    suite_add_tcase(suite, all);
}
