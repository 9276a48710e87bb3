#include "pipeline/photons/config/schema/number.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The parts of a number's text. */
typedef struct parts {
    bool negative, hexadecimal;
    const char *whole, *fraction; /* runs of digits */
    size_t whole_digits, fraction_digits;
    long exponent; /* cut at +-EXPONENT_LIMIT */
} parts;

/* More than the digits of any text that is read, so that digits cannot make up for an exponent that
 * was cut at this limit. */
#define EXPONENT_LIMIT 1000000000L

static size_t digits(const char *text, bool hexadecimal)
{
    size_t count = 0;
    while (hexadecimal ? isxdigit((unsigned char)text[count])
                       : isdigit((unsigned char)text[count])) {
        ++count;
    }
    return count;
}

static bool split_exponent(const char *text, parts *out)
{
    if (*text == 0) {
        return true;
    }
    if (*text != 'e' && *text != 'E') {
        return false;
    }
    ++text;
    bool negative = *text == '-';
    if (*text == '-' || *text == '+') {
        ++text;
    }
    size_t count = digits(text, false);
    if (count == 0 || text[count] != 0) {
        return false;
    }
    for (size_t i = 0; i < count; ++i) {
        out->exponent = 10 * out->exponent + (text[i] - '0');
        if (out->exponent > EXPONENT_LIMIT) {
            out->exponent = EXPONENT_LIMIT;
        }
    }
    if (negative) {
        out->exponent = -out->exponent;
    }
    return true;
}

static bool split(const char *text, parts *out)
{
    *out = (parts){.negative = *text == '-'};
    if (*text == '-' || *text == '+') {
        ++text;
    }
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        out->hexadecimal = true;
        out->whole = text + 2;
        out->whole_digits = digits(out->whole, true);
        return out->whole_digits > 0 && out->whole[out->whole_digits] == 0;
    }
    out->whole = text;
    out->whole_digits = digits(text, false);
    if (out->whole_digits > 1 && *text == '0') {
        return false;
    }
    text += out->whole_digits;
    if (*text == '.') {
        out->fraction = text + 1;
        out->fraction_digits = digits(out->fraction, false);
        text += 1 + out->fraction_digits;
    }
    return out->whole_digits + out->fraction_digits > 0 && split_exponent(text, out);
}

ics_number_result ics_number_double(const char *text, double *out)
{
    parts number;
    if (!split(text, &number)) {
        return ICS_NUMBER_NONE;
    }
    double value = strtod(text, NULL);
    if (!isfinite(value)) {
        return ICS_NUMBER_TOO_LARGE;
    }
    *out = value;
    return ICS_NUMBER_OK;
}

/* value = value * base + digit. False: the result has more than 64 bits. */
static bool push_digit(uint64_t *value, unsigned base, unsigned digit)
{
    return !__builtin_mul_overflow(*value, (uint64_t)base, value) &&
           !__builtin_add_overflow(*value, (uint64_t)digit, value);
}

static unsigned digit_value(char digit)
{
    unsigned char c = (unsigned char)digit;
    return isdigit(c) ? (unsigned)c - '0' : (unsigned)tolower(c) - 'a' + 10;
}

/* The k-th digit of the whole part and the fraction written together. */
static char digit_at(const parts *number, size_t k)
{
    const char *digit =
        k < number->whole_digits ? &number->whole[k] : &number->fraction[k - number->whole_digits];
    return *digit;
}

static ics_number_result hexadecimal(const parts *number, uint64_t *value)
{
    for (size_t i = 0; i < number->whole_digits; ++i) {
        if (!push_digit(value, 16, digit_value(number->whole[i]))) {
            return ICS_NUMBER_TOO_LARGE;
        }
    }
    return ICS_NUMBER_OK;
}

/* Removes zeros at both ends of the digits; the rest times a power of ten is the value. It is whole
 * if the power is not negative. */
static ics_number_result decimal(const parts *number, uint64_t *value)
{
    size_t first = 0, end = number->whole_digits + number->fraction_digits;
    while (first < end && digit_at(number, first) == '0') {
        ++first;
    }
    if (first == end) {
        return ICS_NUMBER_OK;
    }
    long long exponent = (long long)number->exponent - (long long)number->fraction_digits;
    while (digit_at(number, end - 1) == '0') {
        --end;
        ++exponent;
    }
    if (exponent < 0) {
        return ICS_NUMBER_NOT_WHOLE;
    }
    for (size_t k = first; k < end; ++k) {
        if (!push_digit(value, 10, digit_value(digit_at(number, k)))) {
            return ICS_NUMBER_TOO_LARGE;
        }
    }
    for (; exponent > 0; --exponent) { /* ends after at most 20 turns, because the value is not zero
                                          and overflows */
        if (!push_digit(value, 10, 0)) {
            return ICS_NUMBER_TOO_LARGE;
        }
    }
    return ICS_NUMBER_OK;
}

ics_number_result ics_number_unsigned(const char *text, uint64_t *out)
{
    parts number;
    if (!split(text, &number)) {
        return ICS_NUMBER_NONE;
    }
    uint64_t value = 0;
    ics_number_result result =
        number.hexadecimal ? hexadecimal(&number, &value) : decimal(&number, &value);
    if (result == ICS_NUMBER_OK && number.negative && value != 0) {
        result = ICS_NUMBER_NEGATIVE;
    }
    if (result == ICS_NUMBER_OK) {
        *out = value;
    }
    return result;
}

/* ---- sizes ---------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    double bytes;
} units[] = {{"TiB", 0x1p40}, {"TB", 1e12},  {"GiB", 0x1p30}, {"GB", 1e9}, {"MiB", 0x1p20},
             {"MB", 1e6},     {"KiB", 1024}, {"kB", 1e3},     {"B", 1}};
enum { UNITS = sizeof units / sizeof *units };

ics_number_result ics_number_bytes(const char *text, uint64_t *out)
{
    char number[64];
    /* Only decimal digits, because the B of a unit is also a hexadecimal digit. */
    const size_t length = strspn(text, "+-.0123456789");
    const char *unit = text + length + (text[length] == ' ');
    size_t i = 0;
    while (i < UNITS && strcmp(unit, units[i].name) != 0) {
        ++i;
    }
    if (i == UNITS) {
        return ics_number_unsigned(text, out); /* "4096", "2e9", "0x1000" */
    }
    if (length >= sizeof number) {
        return ICS_NUMBER_NONE;
    }
    snprintf(number, sizeof number, "%.*s", (int)length, text);
    double value = 0;
    const ics_number_result result = ics_number_double(number, &value);
    if (result != ICS_NUMBER_OK) {
        return result;
    }
    value = round(value * units[i].bytes);
    if (value < 0) {
        return ICS_NUMBER_NEGATIVE;
    }
    if (value > 0x1p53) {
        return ICS_NUMBER_TOO_LARGE;
    }
    *out = (uint64_t)value;
    return ICS_NUMBER_OK;
}

const char *ics_number_print_bytes(uint64_t size, char buffer[ICS_NUMBER_DIGITS])
{
    size_t i = 0;
    while (i < UNITS - 1 && (size == 0 || size % (uint64_t)units[i].bytes != 0)) {
        ++i;
    }
    snprintf(buffer, ICS_NUMBER_DIGITS, "%llu%s%s",
             (unsigned long long)(size / (uint64_t)units[i].bytes), i < UNITS - 1 ? " " : "",
             i < UNITS - 1 ? units[i].name : "");
    return buffer;
}

const char *ics_number_print(double value, char buffer[ICS_NUMBER_DIGITS])
{
    for (int precision = 6; precision <= 17; ++precision) {
        snprintf(buffer, ICS_NUMBER_DIGITS, "%.*g", precision, value);
        if (strtod(buffer, NULL) == value) {
            break;
        }
    }
    return buffer;
}
