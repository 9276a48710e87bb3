#include "kernels/stage_scan.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* A token: a word, or one character. */
typedef struct scanner {
    const char *at;
    int line;
    const char *token;
    size_t length;    /* 0: the end */
    bool begins_line; /* nothing but blanks stands before `at` in its line */
} scanner;

/* What is known of a declaration up to the token that is read. */
typedef struct declaration {
    int line;                            /* line of its last word */
    size_t words;                        /* number of words in front of the first of = [ , */
    bool is_static, is_const, is_record; /* is_record: it begins with struct, union or enum */
    bool is_other;                       /* a function, a typedef, or declared elsewhere */
    bool has_name;                       /* no more words belong to it */
    char name[64];
} declaration;

static void pass(scanner *s)
{
    if (*s->at == '\n') {
        s->line++;
        s->begins_line = true;
    }
    s->at++;
}

/* Passes the rest of a line, and the lines that continue it. */
static void pass_directive(scanner *s)
{
    while (*s->at != 0 && *s->at != '\n') {
        if (s->at[0] == '\\' && s->at[1] == '\n') {
            pass(s);
        }
        pass(s);
    }
}

static void pass_comment(scanner *s)
{
    while (*s->at != 0 && strncmp(s->at, "*/", 2) != 0) {
        pass(s);
    }
    s->at += *s->at != 0 ? 2 : 0;
}

static void pass_quoted(scanner *s, char quote)
{
    pass(s);
    while (*s->at != 0 && *s->at != quote && *s->at != '\n') {
        s->at += s->at[0] == '\\' && s->at[1] != 0;
        pass(s);
    }
    s->at += *s->at == quote;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Reads the next token; comments, texts and lines of the preprocessor are none. */
static bool next(scanner *s)
{
    for (;;) {
        if ((*s->at == '#' && s->begins_line) || strncmp(s->at, "//", 2) == 0) {
            pass_directive(s);
        } else if (strncmp(s->at, "/*", 2) == 0) {
            s->at += 2;
            pass_comment(s);
        } else if (*s->at == '"' || *s->at == '\'') {
            pass_quoted(s, *s->at);
        } else if (isspace((unsigned char)*s->at)) {
            pass(s);
        } else {
            break;
        }
    }
    s->begins_line = false;
    s->token = s->at;
    while (is_word(*s->at)) {
        s->at++;
    }
    s->length = (size_t)(s->at - s->token);
    if (s->length == 0 && *s->at != 0) {
        s->length = 1;
        s->at++;
    }
    return s->length > 0;
}

static bool is_token(const scanner *s, const char *word)
{
    return strlen(word) == s->length && strncmp(s->token, word, s->length) == 0;
}

static bool is_one_of(const scanner *s, const char *const *words)
{
    for (; *words != NULL; ++words) {
        if (is_token(s, *words)) {
            return true;
        }
    }
    return false;
}

/* Passes a bracket that was read, with all that is in it. */
static void pass_group(scanner *s, const char *open, const char *close)
{
    for (int depth = 1; depth > 0 && next(s);) {
        depth += is_token(s, open) - is_token(s, close);
    }
}

/* Passes what follows = up to the ; of the declaration, or the } of the braces around it. */
static void pass_value(scanner *s)
{
    while (next(s) && !is_token(s, ";") && !is_token(s, "}")) {
        if (is_token(s, "{")) {
            pass_group(s, "{", "}");
        }
    }
}

static void add_word(declaration *d, const scanner *s)
{
    static const char *const constant[] = {"const", "constexpr", "__constant__", NULL};
    static const char *const other[] = {"typedef", "extern", "using", "return", "goto", NULL};
    static const char *const record[] = {"struct", "union", "enum", NULL};
    d->is_static |= is_token(s, "static");
    d->is_const |= is_one_of(s, constant);
    d->is_other |= is_one_of(s, other);
    d->is_record |= d->words == 0 && is_one_of(s, record);
    if (!d->has_name) {
        d->words++;
        d->line = s->line;
        snprintf(d->name, sizeof d->name, "%.*s", (int)s->length, s->token);
    }
}

/* Whether a declaration that is complete is a variable that keeps a value. `depth`: in how many
 * braces it stands. `has_body`: { follows. */
static bool is_state(const declaration *d, int depth, bool has_body)
{
    if (d->is_other || d->is_const) {
        return false;
    }
    if (d->is_static) {
        return d->words >= 2 || has_body;
    }
    return depth == 0 && !has_body && d->words >= (d->is_record ? 3U : 2U);
}

int ics_stage_scan_state(const char *text, char *name, size_t size)
{
    static const char *const attributes[] = {"__attribute__", "_Alignas", "alignas", "__align__",
                                             NULL};
    scanner s = {.at = text, .line = 1, .begins_line = true};
    declaration d = {0};
    bool attribute = false;
    int depth = 0;
    while (next(&s)) {
        bool ends = is_token(&s, ";") || is_token(&s, "{") || is_token(&s, "}");
        const bool has_body = is_token(&s, "{");
        if (has_body && d.is_record && !d.is_other && !d.is_static) {
            pass_group(&s, "{", "}");
            d.words = 2; /* the name of a variable is the third */
            continue;
        }
        if (is_token(&s, "(")) {
            d.is_other |= !attribute && !d.has_name;
            pass_group(&s, "(", ")");
        } else if (is_token(&s, "[")) {
            d.has_name = true;
            pass_group(&s, "[", "]");
        } else if (is_token(&s, "=")) {
            pass_value(&s);
            ends = true;
        } else if (is_token(&s, "*")) {
            d.is_const = false; /* of what the pointer points to */
        } else if (is_token(&s, ":")) {
            d = (declaration){.is_static = false}; /* the target of a goto or a case */
        } else if (is_token(&s, ",")) {
            d.has_name = true;
        } else if (is_one_of(&s, attributes)) {
            attribute = true;
            continue;
        } else if (!ends && is_word(*s.token)) {
            add_word(&d, &s);
        }
        attribute = false;
        if (ends && is_state(&d, depth, has_body)) {
            snprintf(name, size, "%s", d.name);
            return d.line;
        }
        depth += has_body - (is_token(&s, "}") && depth > 0);
        if (ends) {
            d = (declaration){.is_static = false};
        }
    }
    return 0;
}
