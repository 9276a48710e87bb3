/* The state of a photon's random numbers is the generator that physics.md 14.3 names: it has the
 * words of an independent computation, its period, and a begin that depends on the identity. Its
 * words are uniform and independent, within a photon and across photons with neighbouring
 * identities.
 *
 * How to join: a stage that draws further words of the state adds a test of their order. */
#include "stages/birefringence.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>

/* ---- the generator --------------------------------------------------------------------------- */

/* Words of a computation with whole numbers of any size in Python: digits of pi begin the state. */
START_TEST(known_answers)
{
    static const uint32_t words[] = {0x66eeeee2, 0xf13cbcd8, 0xcba72f7c, 0x4b12a64c, 0xe99d3015};
    ice_random at = ice_random_begin(0x243f6a88, 0x85a308d3);
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
        ck_assert_uint_eq(ice_random_word(at), words[i]);
        at = ice_random_next(at);
    }
}
END_TEST

/* The example of physics.md 14.3: seed 1, event 0, step 0, photon 0. */
START_TEST(first_bounce_of_a_photon)
{
    const ice_block block = ice_draw(1, 0, 0, 0, 0, ICE_BLOCK_RANDOM);
    ice_random at = ice_random_begin(block.a, block.b);
    ck_assert_uint_eq(at.state, 0x6fe2e660ac08141b);
    ck_assert_double_eq_tol((double)ice_depth_of(at), 0.2674824, 1e-5);
    const ice_scatter_draw draw = ice_draw_scatter(&at);
    ck_assert_double_eq_tol((double)draw.angle, 0.5898034, 1e-6);
    ck_assert_double_eq_tol((double)ice_uniform(draw.azimuth), 0.1973508, 1e-6);
    ck_assert_uint_eq(ice_random_word(at), 0x88ab2b72);
}
END_TEST

/* A bounce in birefringent ice takes the words of the deflection before those of the scatter, and
 * five words in all. */
START_TEST(words_of_a_bounce)
{
    const ice_random begin = ice_random_begin(12345, 67890);
    ice_random at = begin, words = begin;
    uint32_t word[6];
    for (int i = 0; i < 6; ++i) {
        word[i] = ice_random_word(words);
        words = ice_random_next(words);
    }
    const float depth = ice_depth_of(at);
    static ice_deflection_table table;
    ice_fill_normals(&table.normals);
    const ice_tables tables = {.deflection = &table};
    const ice_normal normal = ice_draw_deflection(&tables, &at);
    const ice_normal expected = ice_normals(&tables, word[1], word[2]);
    const ice_scatter_draw draw = ice_draw_scatter(&at);
    ck_assert(depth == ice_exponential(word[0]));
    ck_assert_mem_eq(&normal, &expected, sizeof normal);
    ck_assert(draw.angle == ice_uniform_positive(word[3]));
    ck_assert_uint_eq(draw.azimuth, word[4]);
    ck_assert_uint_eq(ice_random_word(at), word[5]);
}
END_TEST

static uint64_t product_modulo(uint64_t a, uint64_t b, uint64_t modulus)
{
    return (uint64_t)((unsigned __int128)a * b % modulus);
}

static uint64_t power_modulo(uint64_t base, uint64_t exponent, uint64_t modulus)
{
    uint64_t result = 1;
    for (; exponent != 0; exponent >>= 1) {
        if (exponent & 1) {
            result = product_modulo(result, base, modulus);
        }
        base = product_modulo(base, base, modulus);
    }
    return result;
}

/* The test of Miller and Rabin, which is exact below 2^64 with these bases. */
static bool is_prime(uint64_t n)
{
    static const uint64_t bases[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
    uint64_t odd = n - 1;
    int twos = 0;
    for (; odd % 2 == 0; odd /= 2) {
        ++twos;
    }
    for (size_t i = 0; i < sizeof bases / sizeof *bases; ++i) {
        uint64_t x = power_modulo(bases[i], odd, n);
        for (int k = 1; k < twos && x != 1 && x != n - 1; ++k) {
            x = product_modulo(x, x, n);
        }
        /* Of an even number of halvings only n - 1 may be followed by 1. */
        if (x != n - 1 && !(x == 1 && power_modulo(bases[i], odd, n) == 1)) {
            return false;
        }
    }
    return true;
}

/* The state after n steps is the state multiplied by the n-th power of the multiplier m, modulo
 * m 2^32 - 1. This modulus and its half are primes, so the order of m is m 2^31 - 1. */
START_TEST(period)
{
    const uint64_t modulus = ((uint64_t)ICE_RANDOM_MULTIPLIER << 32) - 1;
    const uint64_t half = modulus / 2;
    ck_assert(is_prime(modulus));
    ck_assert(is_prime(half));
    ck_assert_uint_eq(power_modulo(ICE_RANDOM_MULTIPLIER, half, modulus), 1);
    ck_assert_uint_ne(power_modulo(ICE_RANDOM_MULTIPLIER, 2, modulus), 1);

    const ice_random begin = ice_random_begin(0x243f6a88, 0x85a308d3);
    ice_random at = begin;
    for (int i = 0; i < 1000003; ++i) {
        at = ice_random_next(at);
    }
    ck_assert_uint_eq(
        at.state, product_modulo(begin.state, power_modulo(ICE_RANDOM_MULTIPLIER, 1000003, modulus),
                                 modulus));
}
END_TEST

/* A state that repeats itself or that is on no cycle cannot begin. */
START_TEST(begins_are_on_a_cycle)
{
    static const uint32_t words[] = {0, 1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
    const size_t count = sizeof words / sizeof *words;
    for (size_t i = 0; i < count * count; ++i) {
        const ice_random begin = ice_random_begin(words[i / count], words[i % count]);
        ck_assert_uint_gt(begin.state >> 32, 0);
        ck_assert_uint_lt(begin.state >> 32, ICE_RANDOM_MULTIPLIER - 1);
        ck_assert_uint_eq((uint32_t)begin.state, words[i / count]);
        ck_assert_uint_ne(ice_random_next(begin).state, begin.state);
    }
}
END_TEST

START_TEST(every_part_of_the_identity_matters)
{
    const ice_tables tables = {.seed_low = 1};
    const ice_identity of[] = {
        {3, 4, 5, 6}, {9, 4, 5, 6}, {3, 9, 5, 6}, {3, 4, 9, 6}, {3, 4, 5, 9}};
    const uint64_t base = ice_random_of(&tables, of[0]).state;
    const ice_block block = ice_draw(1, 4, 3, 5, 6, ICE_BLOCK_RANDOM);
    ck_assert_uint_eq(base, ice_random_begin(block.a, block.b).state);
    for (size_t i = 1; i < sizeof of / sizeof *of; ++i) {
        ck_assert_uint_ne(ice_random_of(&tables, of[i]).state, base);
    }
}
END_TEST

/* ---- statistics ------------------------------------------------------------------------------ */

/* Orders in which words of many photons follow each other. */
typedef enum order {
    ONE_PHOTON, /* the words of one photon */
    PHOTONS,    /* the same word of photon after photon of a step */
    STEPS,      /* the same word of the first photon of step after step */
    EVENTS,     /* the same word of the first photon of event after event */
    SEEDS,      /* the same word of the first photon of seed after seed */
    ORDERS
} order;

static const char *const order_names[ORDERS] = {
    "one photon", "photon after photon", "step after step", "event after event", "seed after seed"};

static ice_random begin_of(order by, uint32_t i)
{
    const ice_block block = ice_draw(by == SEEDS ? i : 1, 0, by == EVENTS ? i : 7,
                                     by == STEPS ? i : 3, by == PHOTONS ? i : 0, ICE_BLOCK_RANDOM);
    return ice_random_begin(block.a, block.b);
}

/* Writes `count` words: word `number` of count neighbours, or count words of one photon. */
static void words_by(order by, int number, uint32_t *words, size_t count)
{
    ice_random at = begin_of(by, 0);
    for (size_t i = 0; i < count; ++i) {
        if (by != ONE_PHOTON) {
            at = begin_of(by, (uint32_t)i);
            for (int k = 0; k < number; ++k) {
                at = ice_random_next(at);
            }
        }
        words[i] = ice_random_word(at);
        at = ice_random_next(at);
    }
}

/* Returns how many standard deviations chi square of equal expectations is off, by the
 * approximation of Wilson and Hilferty. Sets all cells to 0. */
static double sigmas_of(uint32_t *cells, size_t count, double entries)
{
    const double expected = entries / (double)count, freedom = (double)count - 1;
    double square = 0.0;
    for (size_t i = 0; i < count; ++i) {
        square += (cells[i] - expected) * (cells[i] - expected) / expected;
        cells[i] = 0;
    }
    const double width = 2.0 / (9.0 * freedom);
    return (cbrt(square / freedom) - (1.0 - width)) / sqrt(width);
}

enum { CELLS = 4096 };

/* Compares how often tuples of successive words fall into cells of equal size, by their upper bits
 * and by their lower ones. `size` words make a tuple, with 12 / size bits of each. */
static double worst_of_tuples(const uint32_t *words, size_t count, int size)
{
    static uint32_t cells[CELLS];
    const int bits = 12 / size;
    double worst = 0.0;
    for (int low = 0; low < 2; ++low) {
        const size_t tuples = count / (size_t)size;
        for (size_t i = 0; i < tuples; ++i) {
            uint32_t cell = 0;
            for (int k = 0; k < size; ++k) {
                /* ice_uniform() uses the upper 24 bits of a word: its lowest is bit 8. */
                const uint32_t word = words[i * (size_t)size + (size_t)k];
                cell =
                    cell << bits | ((low ? word >> 8 : word >> (32 - bits)) & ((1u << bits) - 1));
            }
            ++cells[cell];
        }
        worst = fmax(worst, fabs(sigmas_of(cells, CELLS, (double)tuples)));
    }
    return worst;
}

/* There are 5 orders with words 0, 1, 2 and 5 (one photon: its words alone), tuples of 1, 2, 3, 4
 * and 6 words, upper and lower bits: 170 comparisons at 5.2 sigma. A correct generator fails one of
 * them with a probability of 3e-5. The seeds are fixed. */
START_TEST(tuples_are_uniform)
{
    static const int numbers[] = {0, 1, 2, 5}, sizes[] = {1, 2, 3, 4, 6};
    const order by = (order)_i;
    const size_t count = test_scaled(200000);
    uint32_t *words = calloc(count, sizeof *words);
    ck_assert_ptr_nonnull(words);
    for (size_t n = 0; n < (by == ONE_PHOTON ? 1 : sizeof numbers / sizeof *numbers); ++n) {
        words_by(by, numbers[n], words, count);
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
            const double worst = worst_of_tuples(words, count, sizes[s]);
            ck_assert_msg(worst < 5.2, "%s: word %d, tuples of %d: %g sigma", order_names[by],
                          numbers[n], sizes[s], worst);
        }
    }
    free(words);
}
END_TEST

/* Each bit of a word agrees with each bit of the same word of the neighbour in half of all pairs,
 * and so with its own photon's next word. 4 orders with 2 words and 1 order, times 1024 pairs of
 * bits: 9216 comparisons at 6.2 sigma, which a correct generator fails with a probability of 5e-6.
 */
START_TEST(bits_of_neighbours_are_independent)
{
    const order by = (order)_i;
    const size_t count = test_scaled(60000);
    uint32_t *words = calloc(count, sizeof *words);
    ck_assert_ptr_nonnull(words);
    for (int number = 0; number < (by == ONE_PHOTON ? 1 : 2); ++number) {
        static uint32_t equal[32][32];
        memset(equal, 0, sizeof equal);
        words_by(by, number, words, count);
        for (size_t i = 0; i + 1 < count; ++i) {
            for (uint32_t turn = 0; turn < 32; ++turn) {
                const uint32_t turned = words[i + 1] << turn | words[i + 1] >> ((32 - turn) & 31);
                const uint32_t same = ~(words[i] ^ turned);
                for (uint32_t bit = 0; bit < 32; ++bit) {
                    equal[turn][bit] += same >> bit & 1;
                }
            }
        }
        for (size_t k = 0; k < 1024; ++k) {
            const double half = (double)(count - 1) / 2.0;
            const double sigma = ((double)equal[k / 32][k % 32] - half) / sqrt(half / 2.0);
            ck_assert_msg(fabs(sigma) < 6.2, "%s: word %d, bits %zu and %zu: %g sigma",
                          order_names[by], number, k % 32, (k % 32 + 32 - k / 32) % 32, sigma);
        }
    }
    free(words);
}
END_TEST

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The states of neighbouring photons, step by step, are different: of 300,000 states of 63 bits two
 * are equal with a probability of 5e-9. */
START_TEST(no_two_photons_share_a_state)
{
    enum { PHOTONS_OF_TEST = 1000, WORDS = 300 };
    uint64_t *states = calloc((size_t)PHOTONS_OF_TEST * WORDS, sizeof *states);
    ck_assert_ptr_nonnull(states);
    size_t count = 0;
    for (uint32_t i = 0; i < PHOTONS_OF_TEST; ++i) {
        ice_random at = begin_of(PHOTONS, i);
        for (int k = 0; k < WORDS; ++k) {
            states[count++] = at.state;
            at = ice_random_next(at);
        }
    }
    qsort(states, count, sizeof *states, by_value);
    for (size_t i = 1; i < count; ++i) {
        ck_assert_uint_ne(states[i], states[i - 1]);
    }
    free(states);
}
END_TEST

ICS_TEST_MAIN("random state")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, known_answers);
    tcase_add_test(all, first_bounce_of_a_photon);
    tcase_add_test(all, words_of_a_bounce);
    tcase_add_test(all, period);
    tcase_add_test(all, begins_are_on_a_cycle);
    tcase_add_test(all, every_part_of_the_identity_matters);
    tcase_add_loop_test(all, tuples_are_uniform, 0, ORDERS);
    tcase_add_loop_test(all, bits_of_neighbours_are_independent, 0, ORDERS);
    tcase_add_test(all, no_two_photons_share_a_state);
    suite_add_tcase(suite, all);
}
