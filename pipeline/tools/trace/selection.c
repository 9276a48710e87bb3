#include "pipeline/tools/trace/selection.h"

#include "base/error.h"
#include "pipeline/config/schema/nearest.h"
#include "pipeline/config/schema/number.h"
#include "pipeline/files/format/layout.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum comparison_code {
    EQUAL,
    UNEQUAL,
    LESS,
    LESS_OR_EQUAL,
    MORE,
    MORE_OR_EQUAL
} comparison_code;

/* A number of the expression. */
typedef struct operand {
    double value;
    bool whole; /* a whole number, and -2^64 < value < 2^64; then exactly +-magnitude */
    bool negative;
    uint64_t magnitude;
} operand;

typedef enum instruction_code { COMPARE, NOT, AND, OR } instruction_code;

typedef struct instruction {
    instruction_code code;
    const ics_layout_field *field; /* this and the members below: only for COMPARE */
    comparison_code comparison;
    operand number;
} instruction;

/* The expression in postfix form. */
struct ics_selection {
    size_t count;
    instruction *items; /* [count] */
};

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct reader {
    const char *text, *at;
    ics_selection *selection; /* has room for one instruction per character */
    size_t depth;
    icestream_error *error;
} reader;

enum { WORD = 48, SHOWN = 24 };

static void skip_blanks(reader *r)
{
    while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n') {
        ++r->at;
    }
}

/* Describes for a message what is found at `at`: a word, an operator or one character. */
static const char *found_text(const char *at, char text[SHOWN + 16])
{
    size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");
    if (*at == '\0') {
        return "the end";
    }
    if (length == 0) {
        length = strspn(at, "=<>!&|");
    }
    if (length == 0 && !isprint((unsigned char)*at)) {
        snprintf(text, SHOWN + 16, "byte 0x%02x", (unsigned char)*at);
        return text;
    }
    length = length == 0 ? 1 : length;
    snprintf(text, SHOWN + 16, "'%.*s%s'", (int)(length < SHOWN ? length : SHOWN), at,
             length > SHOWN ? "..." : "");
    return text;
}

static int unexpected(const reader *r, const char *at, const char *expected)
{
    char text[SHOWN + 16];
    return ics_error_set(r->error, ICESTREAM_E_USAGE, "--select: column %zu: found %s, expected %s",
                         (size_t)(at - r->text) + 1, found_text(at, text), expected);
}

static int unknown_field(const reader *r, const char *at, const char *name)
{
    const ics_layout *schema = ics_layout_hits();
    ics_nearest best = {NULL, 0};
    char text[SHOWN + 16], names[256] = "";
    size_t length = 0;
    for (size_t i = 0; i < schema->field_count && length < sizeof names; ++i) {
        ics_nearest_try(&best, name, schema->fields[i].name);
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", i > 0 ? ", " : "",
                                   schema->fields[i].name);
    }
    return ics_error_set(r->error, ICESTREAM_E_USAGE,
                         "--select: column %zu: found %s, expected a field of hits%s%s%s",
                         (size_t)(at - r->text) + 1, found_text(at, text),
                         best.word != NULL ? ", did you mean '" : ": ",
                         best.word != NULL ? best.word : names, best.word != NULL ? "'?" : "");
}

static bool begins_word(char c)
{
    return isalpha((unsigned char)c) || c == '_';
}

static int read_field(reader *r, const ics_layout_field **out)
{
    const char *start = r->at;
    char name[WORD] = "";
    size_t length = 0;
    while (begins_word(*r->at) || isdigit((unsigned char)*r->at)) {
        if (length + 1 < sizeof name) {
            name[length++] = *r->at;
        }
        ++r->at;
    }
    const ics_layout *schema = ics_layout_hits();
    for (size_t i = 0; i < schema->field_count; ++i) {
        if (strcmp(schema->fields[i].name, name) == 0) {
            *out = &schema->fields[i];
            return ICESTREAM_OK;
        }
    }
    return unknown_field(r, start, name);
}

static int read_number(reader *r, operand *out)
{
    const char *start = r->at;
    char text[WORD] = "";
    size_t length = 0;
    for (char before = 'e'; *r->at != '\0'; before = *r->at++) {
        /* A sign belongs to the number at its beginning and after an e. */
        bool sign = (*r->at == '+' || *r->at == '-') && (before == 'e' || before == 'E');
        if (!isalnum((unsigned char)*r->at) && *r->at != '.' && *r->at != '_' && !sign) {
            break;
        }
        if (length + 1 < sizeof text) {
            text[length++] = *r->at;
        } else {
            return unexpected(r, start, "a shorter number");
        }
    }
    if (ics_number_double(text, &out->value) != ICS_NUMBER_OK) {
        return unexpected(r, start, "a field of hits or a number");
    }
    const char *digits = text[0] == '-' || text[0] == '+' ? text + 1 : text;
    out->negative = text[0] == '-';
    out->whole = ics_number_unsigned(digits, &out->magnitude) == ICS_NUMBER_OK;
    return ICESTREAM_OK;
}

static int read_operator(reader *r, comparison_code *out)
{
    static const struct {
        const char *text;
        comparison_code code;
    } all[] = {{"==", EQUAL},         {"!=", UNEQUAL}, {"<=", LESS_OR_EQUAL},
               {">=", MORE_OR_EQUAL}, {"<", LESS},     {">", MORE}};
    skip_blanks(r);
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        size_t length = strlen(all[i].text);
        if (strncmp(r->at, all[i].text, length) == 0) {
            r->at += length;
            *out = all[i].code;
            skip_blanks(r);
            return ICESTREAM_OK;
        }
    }
    return unexpected(r, r->at, "a comparison: == != < <= > >=");
}

static void emit(reader *r, instruction item)
{
    r->selection->items[r->selection->count++] = item;
}

/* Adds an instruction after its operands, if they were read without an error. */
static void emit_after(reader *r, int status, instruction_code code)
{
    if (status == ICESTREAM_OK) {
        emit(r, (instruction){.code = code});
    }
}

/* `NUMBER operator FIELD` means the same as `FIELD mirrored NUMBER`. */
static comparison_code mirrored(comparison_code code)
{
    static const comparison_code mirror[] = {[EQUAL] = EQUAL, [UNEQUAL] = UNEQUAL,
                                             [LESS] = MORE,   [LESS_OR_EQUAL] = MORE_OR_EQUAL,
                                             [MORE] = LESS,   [MORE_OR_EQUAL] = LESS_OR_EQUAL};
    return mirror[code];
}

static int read_comparison(reader *r)
{
    instruction item = {.code = COMPARE};
    const bool field_first = begins_word(*r->at);
    int status = field_first ? read_field(r, &item.field) : read_number(r, &item.number);
    if (status == ICESTREAM_OK) {
        status = read_operator(r, &item.comparison);
    }
    if (status != ICESTREAM_OK) {
        return status;
    }
    if (field_first) {
        if (begins_word(*r->at)) {
            return unexpected(r, r->at, "a number: fields are compared with numbers only");
        }
        status = read_number(r, &item.number);
    } else {
        if (!begins_word(*r->at)) {
            return unexpected(r, r->at, "a field of hits");
        }
        status = read_field(r, &item.field);
        item.comparison = mirrored(item.comparison);
    }
    if (status == ICESTREAM_OK) {
        emit(r, item);
    }
    return status;
}

static int read_either(reader *r);

static int read_condition(reader *r)
{
    skip_blanks(r);
    if (*r->at != '(' && (*r->at != '!' || r->at[1] == '=')) {
        return read_comparison(r);
    }
    if (++r->depth > ICS_SELECTION_DEEPEST) {
        return ics_error_set(r->error, ICESTREAM_E_USAGE,
                             "--select: column %zu: found more than %d levels of ( and !, expected "
                             "fewer",
                             (size_t)(r->at - r->text) + 1, ICS_SELECTION_DEEPEST);
    }
    int status;
    if (*r->at++ == '!') {
        status = read_condition(r);
        emit_after(r, status, NOT);
    } else {
        status = read_either(r);
        if (status == ICESTREAM_OK && *r->at != ')') {
            status = unexpected(r, r->at, "&&, || or )");
        }
        if (status == ICESTREAM_OK) {
            ++r->at;
        }
    }
    --r->depth;
    return status;
}

static int read_all(reader *r)
{
    int status = read_condition(r);
    if (status == ICESTREAM_OK) {
        skip_blanks(r);
    }
    while (status == ICESTREAM_OK && strncmp(r->at, "&&", 2) == 0) {
        r->at += 2;
        status = read_condition(r);
        emit_after(r, status, AND);
        skip_blanks(r);
    }
    return status;
}

static int read_either(reader *r)
{
    int status = read_all(r);
    while (status == ICESTREAM_OK && strncmp(r->at, "||", 2) == 0) {
        r->at += 2;
        status = read_all(r);
        emit_after(r, status, OR);
    }
    return status;
}

int ics_selection_create(const char *text, ics_selection **out, icestream_error *error)
{
    *out = NULL;
    const size_t length = strlen(text);
    if (length > ICS_SELECTION_LONGEST) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "--select: found %zu characters, expected at most %d", length,
                             ICS_SELECTION_LONGEST);
    }
    ics_selection *selection = calloc(1, sizeof *selection);
    /* Every instruction comes from at least one character. */
    instruction *items = calloc(length + 1, sizeof *items);
    if (selection == NULL || items == NULL) {
        free(items);
        free(selection);
        return ics_error_set(error, ICESTREAM_E_MEMORY, "--select: out of memory");
    }
    selection->items = items;
    reader r = {.text = text, .at = text, .selection = selection, .error = error};
    int status = read_either(&r);
    if (status == ICESTREAM_OK && *r.at != '\0') {
        status = unexpected(&r, r.at, "&&, || or the end");
    }
    if (status != ICESTREAM_OK) {
        ics_selection_destroy(selection);
        return status;
    }
    *out = selection;
    return ICESTREAM_OK;
}

void ics_selection_destroy(ics_selection *selection)
{
    if (selection == NULL) {
        return;
    }
    free(selection->items);
    free(selection);
}

/* ---- evaluating ------------------------------------------------------------------------------ */

enum { BELOW = -1, SAME = 0, ABOVE = 1, UNORDERED = 2 };

static int order_of(double left, double right)
{
    return isnan(left) ? UNORDERED : left < right ? BELOW : left > right ? ABOVE : SAME;
}

/* Compares an integer, given as sign and magnitude, with the number. */
static int order_of_whole(bool negative, uint64_t magnitude, const operand *number)
{
    if (!number->whole) {
        /* The number has a fraction, so it is below 2^53, and rounding the integer to double cannot
         * make the two equal; or the number is beyond all 64-bit integers. */
        if (number->value >= 0x1p64) {
            return BELOW;
        }
        const double value = negative ? -(double)magnitude : (double)magnitude;
        return value < number->value ? BELOW : ABOVE;
    }
    const bool other_negative = number->negative && number->magnitude > 0;
    if (negative != other_negative) {
        return negative ? BELOW : ABOVE;
    }
    const int order = (magnitude > number->magnitude) - (magnitude < number->magnitude);
    return negative ? -order : order;
}

static int order_of_field(const ics_layout_field *field, const icestream_hit *hit,
                          const operand *number)
{
    const unsigned char *at = (const unsigned char *)hit + field->offset;
    if (field->type.kind == 'f' && field->type.bytes == 4) {
        float value;
        memcpy(&value, at, sizeof value);
        return order_of(value, (float)number->value);
    }
    if (field->type.kind == 'f') {
        double value;
        memcpy(&value, at, sizeof value);
        return order_of(value, number->value);
    }
    /* Fields are little-endian. The highest bit of a signed field is its sign. */
    uint64_t bits = 0;
    memcpy(&bits, at, field->type.bytes);
    const unsigned unused = 64 - 8u * field->type.bytes;
    const int64_t extended = (int64_t)(bits << unused) >> unused;
    const bool negative = field->type.kind == 'i' && extended < 0;
    return order_of_whole(negative, negative ? -(uint64_t)extended : bits, number);
}

static bool compare(const instruction *item, const icestream_hit *hit)
{
    const int order = order_of_field(item->field, hit, &item->number);
    switch (item->comparison) {
    case EQUAL:
        return order == SAME;
    case UNEQUAL:
        return order != SAME;
    case LESS:
        return order == BELOW;
    case LESS_OR_EQUAL:
        return order == BELOW || order == SAME;
    case MORE:
        return order == ABOVE;
    case MORE_OR_EQUAL:
        return order == ABOVE || order == SAME;
    }
    return false;
}

bool ics_selection_holds(const ics_selection *selection, const icestream_hit *hit)
{
    /* Each level of parentheses holds at most two results: the left side of a || and of a &&. */
    bool stack[2 * ICS_SELECTION_DEEPEST + 4] = {false};
    size_t top = 0;
    for (size_t i = 0; i < selection->count; ++i) {
        const instruction *item = &selection->items[i];
        switch (item->code) {
        case COMPARE:
            stack[top++] = compare(item, hit);
            break;
        case NOT:
            stack[top - 1] = !stack[top - 1];
            break;
        case AND:
            --top;
            stack[top - 1] = stack[top - 1] && stack[top];
            break;
        case OR:
            --top;
            stack[top - 1] = stack[top - 1] || stack[top];
            break;
        }
    }
    return stack[0];
}
