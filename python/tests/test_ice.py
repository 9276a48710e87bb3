"""Tests of icestream.ice: expectations, likelihood and fits.

Promise: weights, sums and errors are those of docs/reweighting.md. Formulas are compared with their definitions (integrals, loops
over photons, finite differences), fits with a toy whose light is known in closed form, and derivatives of real hits with a
simulation in the other ice. Statistical tests have fixed seeds; each says how often a correct program would fail with another
seed. To join: write a function test_NAME here.
"""
import json

import icestream
import numpy as np
import pytest
from icestream import ice, ice_variation
from icestream.ice import Bins, Gradient, Parameter

import ice_oracle

special = pytest.importorskip("scipy.special", reason="SciPy is not installed")
stats = pytest.importorskip("scipy.stats", reason="SciPy is not installed")
integrate = pytest.importorskip("scipy.integrate", reason="SciPy is not installed")


def hits_of(photon, module, t, weight=1.0):
    """Hits of event 1, step 0, with the numbers of their photons."""
    hits = np.zeros(len(photon), icestream.HIT)
    hits["event_id"], hits["photon_id"], hits["module"], hits["t"], hits["weight"] = 1, photon, module, t, weight
    return hits


def several(rng):
    """60 hits of 25 photons, in 4 modules and 2 bins of time, with derivatives by 3 parameters."""
    hits = hits_of(rng.integers(0, 25, 60), rng.integers(0, 4, 60), rng.uniform(0, 100, 60), rng.uniform(0.5, 2, 60))
    n, tau = rng.integers(0, 5, (60, 3)), rng.uniform(0, 4, (60, 3)) * (rng.uniform(size=(60, 3)) < 0.7)
    hit, parameter = np.nonzero((n != 0) | (tau != 0))
    names = tuple(Parameter(name, "scattering", i, i + 1) for i, name in enumerate("abc"))
    gradient = Gradient(names, 60, hit, parameter, (n - tau)[hit, parameter], -tau[hit, parameter])
    return hits, gradient, n, tau


def test_effective_likelihood_is_the_mean_of_poisson_over_a_gamma_distribution():
    for k, mean, variance in ((0, 0.5, 0.3), (3, 2.0, 0.5), (17, 12.0, 30.0), (40, 45.0, 2.0)):
        a, b = mean * mean / variance + 1, mean / variance
        integral, _ = integrate.quad(lambda m: stats.poisson.pmf(k, m) * stats.gamma.pdf(m, a, scale=1 / b),
                                     0,
                                     60 * mean + 60,
                                     limit=500,
                                     epsabs=0,
                                     points=[mean, max(k, 0.1)])
        assert ice.effective_likelihood(k, mean, variance).log == pytest.approx(np.log(integral), rel=1e-6)


def test_effective_likelihood_becomes_poisson():
    assert ice.effective_likelihood(7, 5.0, 0).log == pytest.approx(stats.poisson.logpmf(7, 5.0), rel=1e-12)
    assert ice.effective_likelihood(7, 5.0, 1e-7).log == pytest.approx(stats.poisson.logpmf(7, 5.0), rel=1e-6)
    assert ice.effective_likelihood(0, 0, 0).log == 0


def test_effective_likelihood_has_its_derivatives():
    k, mean, variance, step = np.array([0., 4, 30]), np.array([1., 5, 20]), np.array([0.4, 1, 15]), 1e-5
    found = ice.effective_likelihood(k, mean, variance)
    by_value = (ice.effective_likelihood(k, mean + step, variance).log - \
                ice.effective_likelihood(k, mean - step, variance).log) / (2 * step)
    by_variance = (ice.effective_likelihood(k, mean, variance + step).log - \
                   ice.effective_likelihood(k, mean, variance - step).log) / (2 * step)
    np.testing.assert_allclose(found.by_value, by_value, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(found.by_variance, by_variance, rtol=1e-5, atol=1e-8)


def test_data_without_simulated_light_is_an_error():
    with pytest.raises(icestream.UsageError, match="found 3 hits in bin 1, where the simulation has no light"):
        ice.effective_likelihood([0, 3], [0, 0], [0, 0])


def test_expected_is_the_sum_over_photons():
    rng = np.random.default_rng(1)
    hits, gradient, n, tau = several(rng)
    bins = Bins(hits, [0, 50, 100], ("module", ), least=1e-9)
    x = np.array([0.2, -0.3, 0.1])
    found = ice.expected(hits, bins, x, gradient=gradient, scale=2.0)
    weights = 2.0 * hits["weight"] * np.exp(n @ x - tau @ (np.exp(x) - 1))
    index = bins.index(hits)
    photons = {photon: np.zeros(len(bins)) for photon in hits["photon_id"]}
    for photon, place, weight in zip(hits["photon_id"], index, weights):
        photons[photon][place] += weight
    rows = np.array(list(photons.values()))
    np.testing.assert_allclose(found.values, rows.sum(axis=0))
    np.testing.assert_allclose(found.covariance(), rows.T @ rows)
    np.testing.assert_allclose(found.variance, np.diag(rows.T @ rows))
    assert np.abs(rows.T @ rows - np.diag(found.variance)).max() > 1  # photons are in several bins
    assert found.effective == pytest.approx(rows.sum()**2 / (rows.sum(axis=1)**2).sum())
    for i in range(3):
        step = 1e-6 * np.eye(3)[i]
        up, down = (ice.expected(hits, bins, x + sign * step, gradient=gradient, scale=2.0) for sign in (1, -1))
        np.testing.assert_allclose(found.derivatives[:, i], (up.values - down.values) / 2e-6, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(found.variance_derivatives[:, i], (up.variance - down.variance) / 2e-6, rtol=1e-6, atol=1e-5)


def test_weights_and_gradient_agree():
    hits, gradient, _, _ = several(np.random.default_rng(2))
    bins, x = Bins(hits, by=("module", ), least=1e-9), [0.1, 0.2, -0.2]
    by_gradient = ice.expected(hits, bins, x, gradient=gradient)
    by_weights = ice.expected(hits, bins, weights=np.exp(gradient.log_weights(x)))
    np.testing.assert_allclose(by_gradient.values, by_weights.values, rtol=1e-14)
    assert by_weights.derivatives.shape == (len(bins), 0)


def test_merged_layers_have_the_sum_of_the_derivatives():
    hits, gradient, _, _ = several(np.random.default_rng(3))
    common = gradient.merged([0, 0, -1], [Parameter("ab", "scattering")])
    np.testing.assert_allclose(common.log_weights([0.3]), gradient.log_weights([0.3, 0.3, 0]))


def test_scales_are_factors():
    hits, gradient, _, _ = several(np.random.default_rng(4))
    scaled = gradient.with_scales(hits, "module")
    assert [parameter.name for parameter in scaled.parameters[3:]] == ["scale module %d" % i for i in range(4)]
    shift = scaled.log_weights([0.1, 0, 0, 0, 0.5, 0, 0]) - gradient.log_weights([0.1, 0, 0])
    np.testing.assert_allclose(shift, 0.5 * (hits["module"] == 1), atol=1e-14)


def test_bins_are_those_with_enough_simulated_light():
    hits = hits_of(np.arange(60), [1] * 30 + [2] * 20 + [3] * 10, [5.0] * 55 + [50.0] * 5)
    bins = Bins(hits, [0, 10, 100], ("module", ), least=15)
    assert [tuple(label) for label in bins.labels] == [(1, 0, 10), (2, 0, 10)]
    late, other = hits_of([0], [1], [50.0]), hits_of([0], [4], [5.0])
    assert bins.index(late)[0] == -1 and bins.index(other)[0] == -1 and bins.index(hits)[35] == 1
    assert bins.counts(hits).tolist() == [30, 20]


LIGHT, DEPTH, PASS = np.array([400., 900, 600, 500, 700, 300]), np.array([[3., 0.5], [1, 2], [0.5, 4], [2, 2], [1, 0], [4,
                                                                                                                        1]]), 0.9


def toy(rng, x, light):
    """Hits of a toy: photons of bin b meet n ~ Poisson(DEPTH f) scatters in each of two layers, and pass each with the
    probability PASS. The expected number of hits is light LIGHT exp(-(1 - PASS) sum of DEPTH f), and weights are exact."""
    count = rng.poisson(light * LIGHT)
    place = np.repeat(np.arange(len(LIGHT)), count)
    depth = DEPTH[place]
    n = rng.poisson(depth * np.exp(x))
    kept = rng.uniform(size=len(place)) < PASS**n.sum(axis=1)
    place, n, tau = place[kept], n[kept], depth[kept] * np.exp(x)
    hit, parameter = np.nonzero(tau + n)
    layers = tuple(Parameter("layer %d" % i, "scattering", i, i + 1) for i in range(2))
    return hits_of(np.arange(len(place)), place, 0), Gradient(layers, len(place), hit, parameter, (n - tau)[hit, parameter],
                                                              -tau[hit, parameter])


def test_the_toy_is_weighted_right():
    """False alarms: 1e-3."""
    hits, gradient = toy(np.random.default_rng(5), np.zeros(2), 20)
    x = np.array([0.2, -0.2])
    found = ice.expected(hits, Bins(hits, by=("module", )), x, gradient=gradient)
    true = 20 * LIGHT * np.exp(-(1 - PASS) * DEPTH @ np.exp(x))
    assert stats.chi2.sf(np.sum((found.values - true)**2 / found.variance), len(LIGHT)) > 1e-3


def fits(method, start, light, count, brightness=1):
    """Pulls of fits of the toy, [count, 2], and their mean errors; the data are those of x = (0.25, 0)."""
    rng, truth = np.random.default_rng(6), np.array([0.25, 0.0])
    results = []
    for _ in range(count):
        data, _ = toy(rng, truth, brightness)
        hits, gradient = toy(rng, np.asarray(start), brightness * light)
        shift = np.asarray(start)
        results.append(
            ice.fit(data,
                    hits,
                    gradient, [ice.gaussian(gradient.parameters, 2.0)],
                    bins=Bins(hits, by=("module", )),
                    scale=1 / light,
                    method=method))
        results[-1] = (results[-1].pulls(truth - shift), results[-1].errors)
    return np.array([pulls for pulls, _ in results]), np.mean([errors for _, errors in results], axis=0)


def test_split_fits_have_right_errors():
    """Means of pulls and their spread, with a simulation twice the data and another ice. False alarms: 1e-3 for each of four
    numbers."""
    pulls, _ = fits("split", (0.15, 0.1), 2.0, 100, 3)
    spread = np.sum((pulls - pulls.mean(axis=0))**2, axis=0)
    assert np.all(np.abs(pulls.mean(axis=0)) * np.sqrt(len(pulls)) / pulls.std(axis=0) < 3.3)
    assert np.all(stats.chi2.sf(spread, len(pulls) - 1) > 5e-4) and np.all(stats.chi2.cdf(spread, len(pulls) - 1) > 5e-4)


@pytest.mark.filterwarnings("ignore:fit. the effective number:icestream.IcestreamWarning")
def test_likelihood_fits_are_pulled_towards_the_simulation_unless_it_is_large():
    """The reason for method="split": small simulations pull the maximum of the likelihood, here by about one error. False alarms:
    below 1e-3."""
    small, _ = fits("gauss-newton", (-0.25, 0.0), 0.5, 40)
    large, _ = fits("gauss-newton", (-0.25, 0.0), 10, 40)
    assert small.mean(axis=0)[0] < large.mean(axis=0)[0] - 0.5
    assert abs(large.mean(axis=0)[0]) < 0.5


def test_iminuit_finds_the_same_maximum():
    pytest.importorskip("iminuit", reason="iminuit is not installed")
    rng = np.random.default_rng(7)
    data, _ = toy(rng, np.array([0.2, -0.1]), 5)
    hits, gradient = toy(rng, np.zeros(2), 20)
    one, other = (ice.fit(data, hits, gradient, bins=Bins(hits, by=("module", )), scale=0.25, method=method)
                  for method in ("gauss-newton", "iminuit"))
    np.testing.assert_allclose(one.x, other.x, atol=0.03 * one.errors.min())


def test_a_fit_simulates_again_when_weights_are_worn_out():
    rng, truth, asked = np.random.default_rng(8), np.array([0.9, -0.6]), []
    data, _ = toy(rng, truth, 20)
    hits, gradient = toy(rng, np.zeros(2), 40)

    def simulate(x):
        asked.append(x)
        return toy(rng, x, 40)

    result = ice.fit(data, hits, gradient, bins=Bins(hits, by=("module", )), scale=0.5, simulate=simulate, least_share=0.6)
    assert result.simulations == len(asked) >= 1 and result.share >= 0.6
    assert stats.chi2.sf(result.pulls_chi2(truth), 2) > 1e-3  # false alarms: 1e-3
    with pytest.warns(icestream.IcestreamWarning, match="the effective number of photons at the result is"):
        ice.fit(data, hits, gradient, bins=Bins(hits, by=("module", )), scale=0.5, least_share=0.95)


def test_smooth_priors_join_neighbours():
    layers = [Parameter("s%d" % i, "scattering", i, i + 1) for i in (2, 0, 1)] + [Parameter("a", "absorption")]
    prior = ice.smooth(layers, 0.5, "scattering")
    x = np.array([1.0, 3.0, 2.5, 9.0])  # the layers from below: 3, 2.5, 1
    assert x @ prior.precision @ x == pytest.approx((0.5**2 + 1.5**2) / 0.25)


@pytest.mark.parametrize("arguments, message", [
    (dict(method="newton"), "method: found 'newton'"),
    (dict(least_share=2), "least_share: found 2"),
    (dict(priors=[ice.Prior(np.eye(3), np.zeros(3))]), r"priors: found one of shape \(3, 3\)"),
    (dict(data=[1, 2]), "data: found an array of shape"),
    (dict(method="iminuit", simulate=lambda x: None), "simulate: found a function with method='iminuit'"),
])
def test_wrong_arguments_are_errors(arguments, message):
    hits, gradient = toy(np.random.default_rng(9), np.zeros(2), 1)
    given = {"data": hits, "hits": hits, "parameters": gradient, "bins": Bins(hits, by=("module", )), **arguments}
    with pytest.raises(icestream.UsageError, match=message):
        ice.fit(**given)


def test_parameters_that_nothing_determines_are_an_error():
    hits, gradient = toy(np.random.default_rng(10), np.zeros(2), 1)
    more = Gradient(gradient.parameters + (Parameter("elsewhere", "scattering"), ), gradient.count, gradient.hit,
                    gradient.parameter, gradient.first, gradient.second)
    with pytest.raises(icestream.UsageError, match="do not determine, for example elsewhere"):
        ice.fit(hits, hits, more, bins=Bins(hits, by=("module", )))


LAYERS = np.array([[1928.07, 0.04, 0.012, 0], [1948.07, 0.06, 0.02, 0], [1968.07, 0.03, 0.008, 0]])
CHANGE = np.array([1.2, 0.9, 1.15, 1.8, 1.6, 1.7])  # scattering and absorption of the layers, the deepest first


def small_run(folder, layers, seed):
    """A point of light in three layers with modules of 0.8 m around it, and the configuration."""
    rows = ["string,module,x,y,z"] + [
        "%d,%d,%.6f,%.6f,%d" % (string, module, 25 * np.cos(string), 25 * np.sin(string), 10 * module - 40)
        for string in range(1, 7) for module in range(1, 8)
    ]
    (folder / "modules.csv").write_text("\n".join(rows) + "\n")
    (folder / "ice.yaml").write_text(json.dumps(ice_oracle.ice_of(layers)))  # JSON is YAML
    config = {
        "run": {
            "seed": seed
        },
        "ice": {
            "file": str(folder / "ice.yaml")
        },
        "light": {
            "acceptance": "none"
        },
        "device": {
            "backend": "cpu",
            "threads": 2
        },
        "detector": {
            "file": str(folder / "modules.csv"),
            "radius": 0.8
        },
        "workload": {
            "kind": "point",
            "spectrum": 3,
            "steps": 1000,
            "photons_per_step": 1000
        }
    }
    return config, icestream.run(config)


def changed():
    table = LAYERS.copy()
    table[:, 1] *= CHANGE[:3][::-1]
    table[:, 2] *= CHANGE[3:][::-1]
    return table


@pytest.mark.filterwarnings("ignore::icestream.IcestreamWarning")  # modules of 0.8 m are unusual
def test_the_oracle_agrees_with_a_simulation_in_the_other_ice(tmp_path):
    """The derivatives of ice_oracle, with which those of the program are compared below. False alarms: 1e-3."""
    config, hits = small_run(tmp_path, LAYERS, 1)
    gradient = ice_oracle.gradient(config, hits, LAYERS)
    _, direct = small_run(tmp_path, changed(), 2)
    bins = Bins(hits, [0, 150, 220, 400, 3000], ("module", ))
    weighted, other, plain = ice.expected(hits, bins, np.log(CHANGE),
                                          gradient=gradient), ice.expected(direct, bins), ice.expected(hits, bins)
    probability, unweighted = (stats.chi2.sf(np.sum((a.values - other.values) ** 2 / \
                               (a.variance + other.variance)), len(bins)) for a in (weighted, plain))
    assert probability > 1e-3 and unweighted < 1e-6


@pytest.fixture
def made(program, tmp_path):
    """A hit file of the program in three layers, its run file, and the file of a target with CHANGE."""
    if not hasattr(icestream.ice.lib, "icestream_gradient"):
        pytest.skip("the library has no icestream_reweight and icestream_gradient")
    config, _ = small_run(tmp_path, LAYERS, 1)
    config["workload"]["steps"] = 100
    config["sink"] = {"directory": "."}
    (tmp_path / "run.yaml").write_text(json.dumps(config))
    (tmp_path / "other.ice.yaml").write_text(json.dumps(ice_oracle.ice_of(changed())))
    (tmp_path / "other.yaml").write_text("ice: { file: other.ice.yaml }\n")
    done = program("run", "run.yaml")
    assert done.returncode == 0, done.stderr
    return config, str(tmp_path / "run.yaml"), str(tmp_path / "run.hits.npy"), str(tmp_path / "other.yaml")


@pytest.mark.filterwarnings("ignore::icestream.IcestreamWarning")
def test_derivatives_of_the_program_are_those_of_the_oracle(made):
    config, run, path, _ = made
    hits = np.asarray(icestream.load(path))
    found = ice.gradient(path, ["layers.scattering", "layers.adust400_per_m"], run)
    oracle = ice_oracle.gradient(config, hits, LAYERS)
    assert len(hits) > 100
    assert [parameter.name for parameter in found.parameters[:2]] == ["layers.scattering[0]", "layers.scattering[1]"]
    assert [parameter.bottom for parameter in found.parameters[:3]] == pytest.approx([-30, -10, 10])
    first, second = (np.zeros((len(hits), 6)) for _ in range(2))
    first[found.hit, found.parameter], second[found.hit, found.parameter] = found.first, found.second
    first[oracle.hit, oracle.parameter] -= oracle.first
    second[oracle.hit, oracle.parameter] -= oracle.second
    assert np.abs(oracle.second).max() > 10 and np.abs(first).max() < 1e-3 and np.abs(second).max() < 1e-3


@pytest.mark.filterwarnings("ignore::icestream.IcestreamWarning")
def test_weights_of_the_program_are_exponents_of_its_derivatives(made):
    _, run, path, other = made
    found = ice.gradient(path, ["layers.scattering", "layers.adust400_per_m"], run)
    both = ice.weights(path, [other, "run.bounce_limit=10000"], run)
    np.testing.assert_allclose(both[:, 0], np.exp(found.log_weights(np.log(CHANGE))), rtol=1e-4)
    assert np.all(both[:, 1] == 1)  # a target that changes nothing
    np.testing.assert_array_equal(ice.weights(path, other, run), both[:, 0])


@pytest.mark.filterwarnings("ignore::icestream.IcestreamWarning")
def test_what_no_weight_describes_is_an_error(made):
    _, run, path, _ = made
    with pytest.raises(icestream.ConfigError, match="detector.radius"):
        ice.weights(path, "detector.radius=0.5", run)
    with pytest.raises(icestream.Error, match="nowhere.hits.npy"):
        ice.gradient("nowhere.hits.npy", config=run)
    shape = ice.gradient(path, ["mean_cosine"], run)
    assert not shape.parameters[0].exact
    with pytest.raises(icestream.UsageError, match="x: found 0.1 for mean_cosine, of which only the derivative at 0 is known"):
        shape.log_weights([0.1])


def test_pictures_show_the_fit():
    pytest.importorskip("matplotlib", reason="matplotlib is not installed").use("Agg")
    from icestream import ice_plot
    rng, truth = np.random.default_rng(11), np.array([0.2, -0.1])
    data, _ = toy(rng, truth, 5)
    hits, gradient = toy(rng, np.zeros(2), 10)
    bins = Bins(hits, by=("module",))
    result = ice.fit(data, hits, gradient, [ice.gaussian(gradient.parameters, 2.0)], bins=bins, scale=0.5)
    assert result.prior_errors == pytest.approx([2, 2])
    profile = ice_plot.profile(result, truth)
    np.testing.assert_allclose(profile.patches[0].get_data().values, result.factors)
    assert [text.get_text() for text in profile.get_legend().get_texts()] == ["scattering", "truth"]
    pulls = ice_plot.pulls(result).patches[0].get_data().values
    assert pulls.sum() == len(bins)
    slopes = ice_plot.sensitivity(hits, gradient).patches[0].get_data().values
    light = ice.expected(hits, np.zeros(len(hits), int), gradient=gradient)
    np.testing.assert_allclose(slopes, light.derivatives[0] / light.values[0])
    points = ice_plot.effective(hits, bins, gradient, [0.5, 0.5]).lines[0]
    assert np.all(points.get_ydata() < points.get_xdata())


def test_torch_light_has_its_gradient():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    from icestream.ice_autograd import torch_light
    hits, gradient, _, _ = several(np.random.default_rng(12))
    bins = Bins(hits, by=("module",), least=1e-9)
    x = torch.tensor([0.2, -0.3, 0.1], dtype=torch.float64, requires_grad=True)
    light = torch_light(hits, bins, gradient, 2.0)
    there = ice.expected(hits, bins, [0.2, -0.3, 0.1], gradient=gradient, scale=2.0)
    np.testing.assert_allclose(light(x).detach().numpy(), there.values)
    (light(x) ** 2).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * there.values @ there.derivatives)
    assert torch.autograd.gradcheck(light, (x,))


def test_jax_light_has_its_gradient():
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    from icestream.ice_autograd import jax_light
    hits, gradient, _, _ = several(np.random.default_rng(13))
    bins = Bins(hits, by=("module",), least=1e-9)
    light = jax_light(hits, bins, gradient, 2.0)
    x = np.array([0.2, -0.3, 0.1], np.float32)
    there = ice.expected(hits, bins, x, gradient=gradient, scale=2.0)
    np.testing.assert_allclose(jax.jit(light)(x), there.values, rtol=1e-5)
    found = jax.grad(lambda point: (light(point) ** 2).sum())(jax.numpy.asarray(x))
    np.testing.assert_allclose(found, 2 * there.values @ there.derivatives, rtol=1e-4)


# ---- an ice for each event -------------------------------------------------------------------------------------------------


LAYER_PARAMETERS = tuple(
    Parameter("%s[%d]" % (key, i), key, -30 + 20 * i, -10 + 20 * i) for key in ("layers.scattering", "layers.adust400_per_m")
    for i in range(3))


def test_draws_depend_on_seed_and_event_alone(tmp_path):
    sigma = {"layers.scattering": 0.05, "layers.adust400_per_m": 0.2}
    all_events = ice_variation.vary(range(2000), LAYER_PARAMETERS, sigma, 7, {"layers.adust400_per_m": 30})
    few = ice_variation.vary([12, 3], LAYER_PARAMETERS, sigma, 7, {"layers.adust400_per_m": 30})
    np.testing.assert_array_equal(few.x, all_events.x[[3, 12]])
    assert not np.any(ice_variation.vary([3], LAYER_PARAMETERS, sigma, 8).of(3) == few.of(3))
    # 2000 draws: standard deviations within 1.6 % and correlations within 0.022 (one standard deviation); 5 are allowed.
    np.testing.assert_allclose(all_events.x.std(axis=0), [0.05] * 3 + [0.2] * 3, rtol=0.08)
    expected = np.eye(6)
    expected[3:, 3:] = np.exp(-np.abs(np.subtract.outer([0, 20, 40], [0, 20, 40])) / 30)
    np.testing.assert_allclose(np.corrcoef(all_events.x.T), expected, atol=0.11)
    few.save(tmp_path / "draws.npz")
    again = ice_variation.Variation.load(tmp_path / "draws.npz")
    assert again.parameters == few.parameters and again.about == few.about
    np.testing.assert_array_equal(again.x, few.x)


@pytest.mark.parametrize("change, message", [
    (dict(sigma={"layers.scattering": 0.1}), "expected a number of at least 0 for each of layers.adust400_per_m, layers.scattering"),
    (dict(correlation={"hole.absorption": 3}), "expected a length above 0 for a key of layers"),
    (dict(parameters=[Parameter("mean_cosine", "mean_cosine", exact=False)], sigma={"mean_cosine": 0.1}), "only the derivative at 0"),
])
def test_wrong_variations_are_errors(change, message):
    arguments = dict(events=[1], parameters=LAYER_PARAMETERS, sigma={"layers.scattering": 0.1, "layers.adust400_per_m": 0.1}, seed=1)
    with pytest.raises(icestream.UsageError, match=message):
        ice_variation.vary(**{**arguments, **change})


def test_variations_of_other_hits_are_errors():
    sigma = {"layers.scattering": 0.1, "layers.adust400_per_m": 0.1}
    drawn = ice_variation.vary([1], LAYER_PARAMETERS, sigma, 1)
    with pytest.raises(icestream.UsageError, match="found event 2"):
        drawn.of(2)
    with pytest.raises(icestream.UsageError, match="expected one"):
        drawn.layers(1, LAYERS[:2])


@pytest.mark.filterwarnings("ignore::icestream.IcestreamWarning")
def test_weighted_events_are_those_simulated_in_their_ice(made, program, tmp_path):
    """SnowStorm two ways: events of one run with weights, and each event again in its ice with another seed. False alarms: 2e-3."""
    config, _, _, _ = made
    del config["workload"]
    config["particles"] = {"list": [{"type": "point", "event": event, "x": 3 * event - 9, "y": 2, "z": 6 * event - 21, "photons": 1e6,
                                     "spectrum": 3} for event in range(1, 7)]}

    def run(name, light, seed, layers):
        (tmp_path / "ice.yaml").write_text(json.dumps(ice_oracle.ice_of(layers)))
        (tmp_path / (name + ".yaml")).write_text(json.dumps({**config, "particles": {"list": light}, "run": {"seed": seed}}))
        done = program("run", name + ".yaml")
        assert done.returncode == 0, done.stderr
        return np.asarray(icestream.load(tmp_path / (name + ".hits.npy")))

    light = config["particles"]["list"]
    simulated = []
    hits = run("one", light, 1, LAYERS)
    gradient = ice.gradient(str(tmp_path / "one.hits.npy"), ["layers.scattering", "layers.adust400_per_m"], str(tmp_path / "one.yaml"))
    drawn = ice_variation.vary(hits["event_id"], gradient.parameters, {"layers.scattering": 0.1, "layers.adust400_per_m": 0.5}, 3,
                               {"layers.adust400_per_m": 40})
    for one in light:
        simulated.append(run("event%d" % one["event"], [one], 2, drawn.layers(one["event"], LAYERS)))
    direct = np.concatenate(simulated)
    bins = Bins(hits, None, ("event_id", "string"))
    weights = np.exp(drawn.log_weights(hits, gradient))
    weighted, plain, other = ice.expected(hits, bins, weights=weights), ice.expected(hits, bins), ice.expected(direct, bins)
    probability, unweighted = (stats.chi2.sf(np.sum((a.values - other.values)**2 / (a.variance + other.variance)), len(bins))
                               for a in (weighted, plain))
    total = (weighted.values.sum() - other.values.sum()) / np.sqrt(weighted.variance.sum() + other.variance.sum())
    print("%d and %d hits, %d bins: p %.3g (without weights %.3g), total %.2f, share %.3f" %
          (len(hits), len(direct), len(bins), probability, unweighted, total, weighted.effective / plain.effective))
    assert probability > 1e-3 and abs(total) < 3.29 and unweighted < 1e-6
