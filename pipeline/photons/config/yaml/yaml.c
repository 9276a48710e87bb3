/* Reading YAML with libyaml: its errors in words, and values that are given without a file. */
#include "pipeline/photons/config/yaml/yaml.h"

#include "base/error.h"
#include "base/file_kind.h"
#include "base/visible_text.h"
#include "pipeline/photons/config/yaml/builder.h"

#include <stdlib.h>
#include <string.h>

/* ---- errors of libyaml ------------------------------------------------------------------------
 */

/* The line and column (in characters) of a byte. libyaml names a byte that it rejects only by its
 * offset. */
static ics_yaml_node place_of_byte(const ics_yaml_builder *build, size_t offset)
{
    yaml_mark_t mark = {0};
    for (size_t i = 0; i < offset && i < build->length; ++i) {
        if (build->text[i] == '\n') {
            ++mark.line;
            mark.column = 0;
        } else if (((unsigned char)build->text[i] & 0xc0) != 0x80) {
            ++mark.column;
        }
    }
    return ics_yaml_builder_place(build, mark);
}

/* What the user most likely has to change after an error of libyaml. */
static const char *hint(const yaml_parser_t *parser)
{
    if (parser->context != NULL && strcmp(parser->context, "while scanning an alias") == 0) {
        return "; a text that starts with * needs quotes, as in \"*.npy\"";
    }
    if (parser->problem != NULL &&
        strcmp(parser->problem, "block sequence entries are not allowed in this context") == 0) {
        return "; a lone - needs quotes: \"-\"";
    }
    if (parser->problem != NULL &&
        strcmp(parser->problem, "found character that cannot start any token") == 0) {
        return "; tabs cannot indent, and texts with @ ` % in front need quotes";
    }
    return "";
}

static int syntax_error(ics_yaml_builder *build, const yaml_parser_t *parser)
{
    if (parser->error == YAML_MEMORY_ERROR) {
        return ics_yaml_builder_no_memory(build);
    }
    const char *problem = parser->problem != NULL ? parser->problem : "not YAML";
    if (parser->error == YAML_READER_ERROR) {
        ics_yaml_node place = place_of_byte(build, parser->problem_offset);
        const char *kind = ics_file_kind(build->text, build->length);
        return ics_yaml_error(build->error, &place, "not valid UTF-8 text: %s (0x%02X)%s%s",
                              problem,
                              parser->problem_value < 0 ? 0U : (unsigned)parser->problem_value,
                              kind != NULL ? "; this is " : "", kind != NULL ? kind : "");
    }
    ics_yaml_node place = ics_yaml_builder_place(build, parser->problem_mark);
    if (parser->context != NULL && build->has_lines) {
        return ics_yaml_error(build->error, &place, "%s, %s in line %zu%s", problem,
                              parser->context, parser->context_mark.line + 1, hint(parser));
    }
    return ics_yaml_error(build->error, &place, "%s%s", problem, hint(parser));
}

/* ---- reading ----------------------------------------------------------------------------------
 */

/* Whether a line begins at this byte; YAML 1.1 has five line breaks. */
static bool begins_line(const ics_yaml_builder *build, size_t offset)
{
    static const char *const before[] = {"\n", "\r", "\xC2\x85", "\xE2\x80\xA8", "\xE2\x80\xA9"};
    for (size_t i = 0; i < sizeof before / sizeof *before; ++i) {
        size_t length = strlen(before[i]);
        if (offset >= length && memcmp(build->text + offset - length, before[i], length) == 0) {
            return true;
        }
    }
    return offset == 0 || (offset == 3 && memcmp(build->text, "\xEF\xBB\xBF", 3) == 0);
}

/* libyaml compares every %TAG directive with all directives before it, so a file full of them would
 * take hours. They are of no use here, because tags are errors. */
static int refuse_tag_directives(const ics_yaml_builder *build)
{
    static const char directive[] = "%TAG";
    enum { LENGTH = sizeof directive - 1 };
    size_t offset = 0;
    const char *found;
    while (offset < build->length && (found = memmem(build->text + offset, build->length - offset,
                                                     directive, LENGTH)) != NULL) {
        offset = (size_t)(found - build->text);
        if (begins_line(build, offset)) {
            ics_yaml_node place = place_of_byte(build, offset);
            return ics_yaml_error(build->error, &place,
                                  "tags are not supported, found a %%TAG directive");
        }
        offset += LENGTH;
    }
    return ICESTREAM_OK;
}

static int parse(ics_yaml_builder *build)
{
    yaml_parser_t parser;
    if (refuse_tag_directives(build) != ICESTREAM_OK) {
        return ICESTREAM_E_CONFIG;
    }
    if (!yaml_parser_initialize(&parser)) {
        return ics_yaml_builder_no_memory(build);
    }
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)build->text, build->length);
    int status = ICESTREAM_OK;
    bool has_document = false, ended = false;
    while (status == ICESTREAM_OK && !ended) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            status = syntax_error(build, &parser);
            break;
        }
        ended = event.type == YAML_STREAM_END_EVENT;
        status = ics_yaml_builder_event(build, &event, &has_document);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    for (size_t i = 0; i < build->depth; ++i) {
        free(build->frames[i].children);
    }
    return status;
}

/* Fills a document from text. A text without a YAML document is an empty mapping. */
static int build_document(ics_yaml *document, const char *text, size_t length, bool has_lines,
                          icestream_error *error)
{
    ICS_FREES ics_yaml_builder *build = calloc(1, sizeof *build);
    if (build == NULL) {
        return ics_error_no_memory(error, document->source.name);
    }
    build->document = document;
    build->error = error;
    build->has_lines = has_lines;
    build->text = text;
    build->length = length;
    ICS_TRY(parse(build));
    if (document->root == NULL) {
        ics_yaml_node *node = NULL;
        ICS_TRY(
            ics_yaml_builder_node(build, (yaml_mark_t){0}, ICS_YAML_MAPPING, NULL, NULL, &node));
        document->root = node;
    }
    return ICESTREAM_OK;
}

int ics_yaml_read_text(const char *name, const char *text, size_t length, ics_yaml **out,
                       icestream_error *error)
{
    ICS_DESTROYS(ics_yaml_destroy) ics_yaml *document = NULL;
    *out = NULL;
    if (length > ICS_YAML_BYTES_MAX) {
        return ics_error_add(error, ICESTREAM_E_CONFIG,
                             "%s: error: the file has %zu bytes, expected at most %zu", name,
                             length, ICS_YAML_BYTES_MAX);
    }
    ICS_TRY(ics_yaml_document_create(name, NULL, &document, error));
    ICS_TRY(build_document(document, text, length, true, error));
    *out = ICS_HAND_OVER(document);
    return ICESTREAM_OK;
}

/* Checks a literal value, which libyaml does not see. */
static bool is_utf8(const char *text)
{
    size_t length = 1;
    for (uint32_t code; length > 0 && *text != '\0'; text += length) {
        length = ics_visible_decode(text, &code);
    }
    return length > 0;
}

static int build_literal(ics_yaml *document, const char *text, icestream_error *error)
{
    ics_yaml_node *node = ics_yaml_document_memory(document, sizeof *node);
    char *copy = ics_yaml_document_text(document, text, strlen(text));
    if (node == NULL || copy == NULL) {
        return ics_error_no_memory(error, document->source.name);
    }
    *node = (ics_yaml_node){
        .kind = ICS_YAML_SCALAR, .source = &document->source, .text = copy, .nodes = 1};
    document->root = node;
    if (!is_utf8(text)) {
        return ics_yaml_error(error, node, "not valid UTF-8 text");
    }
    return ICESTREAM_OK;
}

int ics_yaml_read_value(const char *name, const char *folder, const char *text, ics_yaml **out,
                        icestream_error *error)
{
    ICS_DESTROYS(ics_yaml_destroy) ics_yaml *document = NULL;
    const bool is_yaml = *text && strchr("[{\"'", *text) != NULL;
    *out = NULL;
    ICS_TRY(ics_yaml_document_create(name, folder, &document, error));
    ICS_TRY(is_yaml ? build_document(document, text, strlen(text), false, error)
                    : build_literal(document, text, error));
    *out = ICS_HAND_OVER(document);
    return ICESTREAM_OK;
}
