/* Writing a structure as YAML and its table as documentation. */
#include "pipeline/config/schema/number.h"
#include "pipeline/config/schema/schema_value.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void ics_schema_print_number(double value, FILE *out)
{
    char digits[ICS_NUMBER_DIGITS];
    fputs(ics_number_print(value, digits), out);
}

/* Reads one character of valid UTF-8, returns its bytes; 1 and U+FFFD for anything else. */
static size_t decode(const unsigned char *s, uint32_t *out)
{
    size_t bytes = *s < 0x80 ? 1 : *s >= 0xf0 ? 4 : *s >= 0xe0 ? 3 : *s >= 0xc0 ? 2 : 0;
    uint32_t value = bytes == 1 ? *s : bytes == 0 ? 0 : *s & (0xffU >> (bytes + 1));
    for (size_t i = 1; i < bytes; ++i) {
        if ((s[i] & 0xc0) != 0x80) {
            bytes = 0;
        } else {
            value = value << 6 | (s[i] & 0x3fU);
        }
    }
    *out = bytes ? value : 0xfffd;
    return bytes ? bytes : 1;
}

/* The characters that YAML allows as they are (YAML 1.1, 5.1), without line breaks. */
static bool is_printable(uint32_t c)
{
    return (c >= 0x20 && c < 0x7f) || (c >= 0xa0 && c < 0x2028) || (c > 0x2029 && c < 0xd800) ||
           (c >= 0xe000 && c < 0xfffe && c != 0xfeff) || c >= 0x10000;
}

void ics_schema_print_text(const char *text, FILE *out)
{
    fputc('"', out);
    const unsigned char *s = (const unsigned char *)text;
    while (*s) {
        uint32_t c = 0;
        size_t bytes = decode(s, &c);
        if (c == '"' || c == '\\') {
            fprintf(out, "\\%c", (char)c);
        } else if (!is_printable(c)) {
            fprintf(out, "\\u%04X", (unsigned)c);
        } else if (c == 0xfffd) {
            fputs("\\uFFFD", out);
        } else {
            fwrite(s, 1, bytes, out);
        }
        s += bytes;
    }
    fputc('"', out);
}

/* Absolute, so that the printed file means the same in every folder. */
static void print_path(const char *path, bool ics_pattern, FILE *out)
{
    char *folder = getcwd(NULL, 0);
    char *absolute = folder != NULL ? ics_schema_join(folder, path, ics_pattern) : NULL;
    ics_schema_print_text(absolute != NULL ? absolute : path, out);
    free(absolute);
    free(folder);
}

void ics_schema_print_path(const char *path, FILE *out)
{
    print_path(path, false, out);
}

/* The keys that lead from the previous field to this one. */
static void print_keys(const char *previous, const char *path, FILE *out)
{
    size_t shared = 0; /* characters of the sections that both are in */
    for (size_t i = 0; previous[i] && previous[i] == path[i]; ++i) {
        if (path[i] == '.') {
            shared = i + 1;
        }
    }
    int level = 0;
    for (size_t start = 0; path[start];) {
        size_t length = strcspn(path + start, ".");
        bool ics_last = path[start + length] == 0;
        if (start >= shared) {
            fprintf(out, "%*s%.*s:%s", 2 * level, "", (int)length, path + start,
                    ics_last ? " " : "\n");
        }
        start += length + (ics_last ? 0 : 1);
        ++level;
    }
}

static void print_patterns(const ics_schema_field *field, const void *target, FILE *out)
{
    char *const *texts;
    size_t count;
    memcpy(&texts, (const char *)target + field->offset, sizeof texts);
    memcpy(&count, (const char *)target + field->count_offset, sizeof count);
    fputc('[', out);
    for (size_t i = 0; i < count; ++i) {
        fputs(i ? ", " : "", out);
        print_path(texts[i], true, out);
    }
    fputc(']', out);
}

static bool is_choice(const ics_schema_field *field, const char *text)
{
    for (size_t i = 0; field->choice != NULL && field->choice(field->path, i) != NULL; ++i) {
        if (strcmp(field->choice(field->path, i), text) == 0) {
            return true;
        }
    }
    return false;
}

static void print_texts(const ics_schema_field *field, const char *text, FILE *out)
{
    if (is_choice(field, text)) {
        fputs(text, out);
    } else if (field->type == ICS_SCHEMA_PATH) {
        ics_schema_print_path(text, out);
    } else {
        ics_schema_print_text(text, out);
    }
}

static void print_one_number(const ics_schema_field *field, double value, FILE *out)
{
    if (field->word != NULL && value == field->word_value) {
        fputs(field->word, out);
    } else {
        ics_schema_print_number(value, out);
    }
}

static void print_value(const ics_schema_field *field, const void *target, FILE *out)
{
    const char *from = (const char *)target + field->offset;
    char digits[ICS_NUMBER_DIGITS];
    uint64_t whole;
    double number;
    const char *text;
    switch (field->type) {
    case ICS_SCHEMA_BOOL:
        fputs(ics_schema_value_unsigned(field, target) ? "true" : "false", out);
        break;
    case ICS_SCHEMA_UNSIGNED:
        whole = ics_schema_value_unsigned(field, target);
        if (field->word != NULL && whole == (uint64_t)field->word_value) {
            fputs(field->word, out);
        } else {
            fprintf(out, "%llu", (unsigned long long)whole);
        }
        break;
    case ICS_SCHEMA_BYTES:
        whole = ics_schema_value_unsigned(field, target);
        if (field->word != NULL && whole == (uint64_t)field->word_value) {
            fputs(field->word, out);
        } else {
            fputs(ics_number_print_bytes(whole, digits), out);
        }
        break;
    case ICS_SCHEMA_NUMBER:
        memcpy(&number, from, sizeof number);
        print_one_number(field, number, out);
        break;
    case ICS_SCHEMA_NUMBERS:
        for (size_t i = 0; i < field->size / sizeof number; ++i) {
            memcpy(&number, from + i * sizeof number, sizeof number);
            fputs(i ? ", " : "[", out);
            ics_schema_print_number(number, out);
        }
        fputc(']', out);
        break;
    case ICS_SCHEMA_CHOICE:
        fputs(field->choice(field->path, (size_t)ics_schema_value_unsigned(field, target)), out);
        break;
    case ICS_SCHEMA_VARIANT:
        memcpy(&text, (const char *)target + field->source_offset, sizeof text);
        if (text != NULL) {
            fputs("{source: ", out);
            ics_schema_print_path(text, out);
            fputc('}', out);
            break;
        }
        memcpy(&text, from, sizeof text);
        print_texts(field, text, out);
        break;
    case ICS_SCHEMA_NAME:
    case ICS_SCHEMA_TEXT:
    case ICS_SCHEMA_PATH:
        memcpy(&text, from, sizeof text);
        print_texts(field, text, out);
        break;
    case ICS_SCHEMA_PATTERNS:
        print_patterns(field, target, out);
        break;
    case ICS_SCHEMA_CUSTOM:
        field->custom->print(target, out);
        break;
    }
}

/* Texts that are NULL and lists without texts were not chosen. */
static bool is_there(const ics_schema_field *field, const void *target)
{
    bool ics_pointer = field->type == ICS_SCHEMA_NAME || field->type == ICS_SCHEMA_VARIANT ||
                       field->type == ICS_SCHEMA_TEXT || field->type == ICS_SCHEMA_PATH ||
                       field->type == ICS_SCHEMA_PATTERNS;
    const void *pointer = NULL;
    if (field->type == ICS_SCHEMA_CUSTOM && field->custom->is_there != NULL) {
        return field->custom->is_there(target);
    }
    if (ics_pointer) {
        memcpy(&pointer, (const char *)target + field->offset, sizeof pointer);
    }
    return !ics_pointer || pointer != NULL;
}

void ics_schema_print(const ics_schema_field *fields, size_t count, const void *target, FILE *out)
{
    const char *previous = "";
    for (size_t i = 0; i < count; ++i) {
        if (!is_there(&fields[i], target)) {
            continue;
        }
        print_keys(previous, fields[i].path, out);
        print_value(&fields[i], target, out);
        fputc('\n', out);
        previous = fields[i].path;
    }
}

void ics_schema_document(const ics_schema_field *fields, size_t count, FILE *out)
{
    fputs("| key | value | unit | default | meaning |\n| --- | --- | --- | --- | --- |\n", out);
    for (size_t i = 0; i < count; ++i) {
        char expected[512];
        const ics_schema_field *field = &fields[i];
        const char *value = !field->growing
                                ? ics_schema_value_expected(field, expected, sizeof expected)
                            : field->type == ICS_SCHEMA_VARIANT ? "a name, or {source: path}"
                                                                : "a name";
        fprintf(out, "| `%s` | %s | %s | %s%s%s | %s |\n", field->path, value,
                field->unit != NULL ? field->unit : "", field->fallback != NULL ? "`" : "",
                field->fallback != NULL ? field->fallback : "", field->fallback != NULL ? "`" : "",
                field->help);
    }
}
