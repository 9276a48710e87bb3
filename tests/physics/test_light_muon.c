/* Light of muons and of their energy losses has the worked numbers of physics.md 10.
 *
 * How to join: add one test for each formula of light_muon.h.
 *
 * There are six statistical comparisons at 4 standard deviations. Correct code would fail one of
 * them with other seeds in less than 0.1 % of all cases. */
#include "physics/light/light_muon.h"
#include "tests/physics/light_streams.h"
#include "tests/support/moments.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

START_TEST(muon_numbers)
{
    const ice_light_convention standard = ice_light_convention_of(ICE_CONVENTION_STANDARD);
    const ice_light_convention clsim = ice_light_convention_of(ICE_CONVENTION_CLSIM);
    static const double extra[][3] = {{1, 1.18563, 1.18800},
                                      {100, 1.27931, 1.28287},
                                      {1000, 1.32614, 1.33030},
                                      {1e6, 1.46665, 1.47260}};
    for (size_t i = 0; i < 4; ++i) {
        expect_near(1 + ice_muon_extra(&standard, extra[i][0]), extra[i][1], 5e-6);
        expect_near(1 + ice_muon_extra(&clsim, extra[i][0]), extra[i][2], 5e-6);
    }
    expect_near(32573.44 * (1 + ice_muon_extra(&standard, 1000)), 43197, 0.5);
    ck_assert_double_eq(ice_muon_extra(&clsim, 0), 0.1880);
    ck_assert(isfinite(ice_muon_extra(&standard, 0)));

    const ice_muon_loss ice = ice_muon_loss_in(ICE_DENSITY), sea = ice_muon_loss_in(1.038);
    expect_near(ice.ionisation / ICE_MUON_MASS, 2.267837, 5e-7);
    expect_near(ice_muon_beta(&ice, 0.5), 0.88340, 5e-6);
    expect_near(ice_muon_beta(&ice, 1), 0.95203, 5e-6);
    expect_near(ice_muon_beta(&ice, 5), 0.99671, 5e-6);
    ck_assert_double_gt(ice_muon_beta(&ice, ICE_MUON_SLOW), 1 - 3e-4);
    /* The threshold at 400 nm is at a residual range of 0.2350 m. */
    const double index = 1.319427;
    ck_assert_double_eq(ice_cherenkov_share(ice_muon_beta(&ice, 0.2349), index), 0);
    ck_assert_double_gt(ice_cherenkov_share(ice_muon_beta(&ice, 0.2352), index), 0);
    expect_near(ice_cherenkov_share(1, index), 1, 1e-15);
    expect_near(ice_muon_range(&ice, 0), 0, 0);
    expect_near(ice_muon_range(&ice, ICE_MUON_MASS + 0.0563), 0.2350, 1e-4);
    expect_near(ice_muon_range(&ice, 1000 + ICE_MUON_MASS),
                log(1 + 3.3e-4 * 1000 / 0.239616) / 3.3e-4, 1e-9);
    expect_near(ice_muon_range(&ice, 100), 390.602, 1e-3);
    expect_near(ice_muon_range(&sea, 100), 346.80, 5e-3);
    /* A muon that flies its range is at rest; before that its energy has the rest of the range. */
    expect_near(ice_muon_energy_after(&sea, 100, ice_muon_range(&sea, 100)), ICE_MUON_MASS, 1e-9);
    expect_near(ice_muon_range(&sea, ice_muon_energy_after(&sea, 100, 300)),
                ice_muon_range(&sea, 100) - 300, 1e-9);
    expect_near(ice_tau_decay_length(100), 4.897e-3, 1e-6);
    ck_assert_double_eq(ice_tau_decay_length(1), 0);
}
END_TEST

/* The lag follows from the speed at each range, and secondaries follow the energy. */
START_TEST(slowing)
{
    const ice_light_convention standard = ice_light_convention_of(ICE_CONVENTION_STANDARD);
    const ice_muon_loss ice = ice_muon_loss_in(ICE_DENSITY);
    double lag = 0, extra = 0;
    const double step = 1e-4;
    for (double left = 0.01 + step / 2; left < 5; left += step) {
        lag += step * (1 / ice_muon_beta(&ice, left) - 1) / ICE_LIGHT_SPEED;
    }
    expect_near(ice_muon_lag(&ice, 5, 0.01), lag, 2e-5);
    expect_near(ice_muon_lag(&ice, 5, 1) + ice_muon_lag(&ice, 1, 0), ice_muon_lag(&ice, 5, 0),
                1e-12);
    expect_near(ice_muon_lag(&ice, 1e6, 0), 1 / (2.267837 * 0.299792458), 1e-5);
    const double range = ice_muon_range(&ice, 10);
    for (double at = range / 2e4; at < range; at += range / 1e4) {
        extra += ice_muon_extra(&standard, ice_muon_energy_after(&ice, 10, at)) / 1e4;
    }
    expect_near(ice_muon_mean_extra(&standard, &ice, 10, range), extra, 2e-5);
    ck_assert_double_lt(extra, 0.93 * ice_muon_extra(&standard, 10));
}
END_TEST

/* The mean sum of the losses is the radiated energy b E dx. */
START_TEST(losses)
{
    const size_t count = test_scaled(400000);
    static const double energies[] = {10, 1000, 1e5};
    const ice_muon_loss ice = ice_muon_loss_in(ICE_DENSITY);
    for (size_t k = 0; k < 3; ++k) {
        const double energy = energies[k];
        const double radiated = 3.3e-4 * energy * 10;
        double pair, brems;
        ice_loss_means(&ice, energy, 10, &pair, &brems);
        moment pairs = {0}, hard = {0};
        ice_stream stream = light_stream((uint32_t)k);
        for (size_t i = 0; i < count; ++i) {
            moment_add(&pairs, ice_loss_pair_like(energy, ice_stream_uniform(&stream)));
            moment_add(&hard, ice_loss_brems_like(energy, ice_stream_uniform(&stream)));
        }
        expect_value("losses 1/e^2", pair * moment_mean(&pairs), pair * moment_error(&pairs),
                     0.5 * radiated, 0);
        expect_value("losses 1/e", brems * moment_mean(&hard), brems * moment_error(&hard),
                     0.5 * radiated, 0);
        expect_near(ice_loss_pair_like(energy, 0), 0.5, 1e-12);
        expect_near(ice_loss_brems_like(energy, 0), 0.5, 1e-12);
        ck_assert_double_le(ice_loss_pair_like(energy, nextafter(1, 0)), energy * (1 + 1e-12));
        ck_assert_double_le(ice_loss_brems_like(energy, nextafter(1, 0)), energy * (1 + 1e-12));
    }
}
END_TEST

ICS_TEST_MAIN("light muon")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, muon_numbers);
    tcase_add_test(all, slowing);
    tcase_add_test(all, losses);
    suite_add_tcase(suite, all);
}
