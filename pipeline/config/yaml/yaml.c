#include "pipeline/config/yaml/yaml.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* ---- memory: a document is freed as a whole ------------------------------------------------- */

enum { BLOCK_BYTES = 16384 };

typedef struct block {
    struct block *next;
    size_t used, size;
    max_align_t data[];
} block;

struct ics_yaml {
    block *blocks;
    ics_yaml_source source;
    const ics_yaml_node *root;
};

static void *take(ics_yaml *document, size_t bytes)
{
    const size_t align = sizeof(max_align_t);
    bytes = (bytes + align - 1) / align * align;
    block *first = document->blocks;
    if (first == NULL || first->size - first->used < bytes) {
        size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        first = malloc(sizeof *first + size);
        if (first == NULL) {
            return NULL;
        }
        *first = (block){.next = document->blocks, .size = size};
        document->blocks = first;
    }
    void *memory = (char *)first->data + first->used;
    first->used += bytes;
    return memory;
}

static char *take_text(ics_yaml *document, const char *text, size_t length)
{
    char *copy = take(document, length + 1);
    if (copy != NULL) {
        memcpy(copy, text, length);
        copy[length] = 0;
    }
    return copy;
}

void ics_yaml_destroy(ics_yaml *document)
{
    if (document == NULL) {
        return;
    }
    for (block *next, *each = document->blocks; each != NULL; each = next) {
        next = each->next;
        free(each);
    }
    free(document);
}

static int out_of_memory(icestream_error *error, const char *name)
{
    ics_error_add(error, ICESTREAM_E_MEMORY, "%s: error: out of memory", name);
    return ICESTREAM_E_MEMORY;
}

/* `name` is a path from which the folder is derived when `in_folder` is set. */
static int document_create(const char *name, bool in_folder, ics_yaml **out, icestream_error *error)
{
    ics_yaml *document = calloc(1, sizeof *document);
    if (document == NULL) {
        return out_of_memory(error, name);
    }
    const char *slash = in_folder ? strrchr(name, '/') : NULL;
    size_t folder = slash != NULL ? (size_t)(slash - name) : 0;
    if (slash != NULL && slash == name) { /* the folder of "/run.yaml" is "/" */
        folder = 1;
    }
    document->source.name = take_text(document, name, strlen(name));
    document->source.folder = take_text(document, name, folder);
    if (document->source.name == NULL || document->source.folder == NULL) {
        ics_yaml_destroy(document);
        return out_of_memory(error, name);
    }
    *out = document;
    return ICESTREAM_OK;
}

/* ---- from events to nodes ------------------------------------------------------------------- */

typedef struct frame {
    ics_yaml_node *node;            /* the list or mapping that is being filled */
    const ics_yaml_node **children; /* mappings: key, value, key, value, ... */
    size_t count, capacity;
} frame;

typedef struct anchor {
    const char *name;
    const ics_yaml_node *node;
    uint32_t line;
    bool complete;
} anchor;

typedef struct builder {
    ics_yaml *document;
    icestream_error *error;
    bool has_lines;
    const char *text; /* the whole input, to find the place of bytes that are not text */
    size_t length;
    frame frames[ICS_YAML_DEPTH_MAX];
    size_t depth;
    anchor anchors[ICS_YAML_ANCHORS_MAX];
    size_t anchor_count;
    uint32_t nodes; /* so far, aliases written out */
} builder;

/* A node that only carries a place, for messages about events that make no node. */
static ics_yaml_node at(const builder *build, yaml_mark_t mark)
{
    ics_yaml_node node = {.source = &build->document->source};
    if (build->has_lines) {
        node.line = (uint32_t)mark.line + 1;
        node.column = (uint32_t)mark.column + 1;
    }
    return node;
}

static int fail_memory(builder *build)
{
    return out_of_memory(build->error, build->document->source.name);
}

static int append(builder *build, frame *top, const ics_yaml_node *child)
{
    if (top->count == top->capacity) {
        size_t capacity = top->capacity ? 2 * top->capacity : 16; /* bounded by the node limit */
        void *grown = realloc(top->children, capacity * sizeof(void *));
        if (grown == NULL) {
            return fail_memory(build);
        }
        top->children = grown;
        top->capacity = capacity;
    }
    top->children[top->count++] = child;
    return ICESTREAM_OK;
}

/* Hangs a finished node, or one that is about to be filled, into the tree. */
static int attach(builder *build, const ics_yaml_node *node)
{
    if (build->depth == 0) {
        build->document->root = node;
        return ICESTREAM_OK;
    }
    frame *top = &build->frames[build->depth - 1];
    bool ics_key = top->node->kind == ICS_YAML_MAPPING && top->count % 2 == 0;
    if (ics_key && node->kind != ICS_YAML_SCALAR) {
        return ics_yaml_error(build->error, node, "a key must be a word, not a %s",
                              node->kind == ICS_YAML_LIST ? "list" : "mapping");
    }
    return append(build, top, node);
}

static int count_nodes(builder *build, const ics_yaml_node *place, uint32_t more)
{
    if (more > ICS_YAML_NODES_MAX - build->nodes) {
        return ics_yaml_error(build->error, place,
                              "too many values: more than %d with all aliases written out",
                              ICS_YAML_NODES_MAX);
    }
    build->nodes += more;
    return ICESTREAM_OK;
}

static anchor *find_anchor(builder *build, const char *name)
{
    for (size_t i = 0; i < build->anchor_count; ++i) {
        if (strcmp(build->anchors[i].name, name) == 0) {
            return &build->anchors[i];
        }
    }
    return NULL;
}

static int add_anchor(builder *build, const ics_yaml_node *node, const char *name)
{
    const anchor *old = find_anchor(build, name);
    if (old != NULL) {
        return ics_yaml_error(build->error, node, "the anchor '&%.60s' is already used in line %u",
                              name, old->line);
    }
    if (build->anchor_count == ICS_YAML_ANCHORS_MAX) {
        return ics_yaml_error(build->error, node, "more than %d anchors", ICS_YAML_ANCHORS_MAX);
    }
    char *copy = take_text(build->document, name, strlen(name));
    if (copy == NULL) {
        return fail_memory(build);
    }
    build->anchors[build->anchor_count++] = (anchor){
        .name = copy, .node = node, .line = node->line, .complete = node->kind == ICS_YAML_SCALAR};
    return ICESTREAM_OK;
}

/* Makes the node of an event and registers its anchor; `name` and `tag` may be NULL. */
static int start_node(builder *build, yaml_mark_t mark, ics_yaml_kind kind, const yaml_char_t *name,
                      const yaml_char_t *tag, ics_yaml_node **out)
{
    ics_yaml_node *node = take(build->document, sizeof *node);
    if (node == NULL) {
        return fail_memory(build);
    }
    *node = at(build, mark);
    node->kind = kind;
    node->nodes = 1;
    node->height = kind == ICS_YAML_SCALAR ? 0 : 1;
    *out = node;
    int status = count_nodes(build, node, 1);
    if (status == ICESTREAM_OK && tag != NULL) {
        status = ics_yaml_error(build->error, node, "tags are not supported, found '%.60s'",
                                (const char *)tag);
    }
    if (status == ICESTREAM_OK && name != NULL) {
        status = add_anchor(build, node, (const char *)name);
    }
    return status;
}

static int add_scalar(builder *build, const yaml_event_t *event)
{
    ics_yaml_node *node = NULL;
    int status = start_node(build, event->start_mark, ICS_YAML_SCALAR, event->data.scalar.anchor,
                            event->data.scalar.tag, &node);
    if (status != ICESTREAM_OK) {
        return status;
    }
    const char *text = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    if (memchr(text, 0, length) != NULL) {
        return ics_yaml_error(build->error, node, "a text must not contain the character NUL");
    }
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    node->text = take_text(build->document, text, length);
    return node->text != NULL ? attach(build, node) : fail_memory(build);
}

static int open_collection(builder *build, yaml_mark_t mark, ics_yaml_kind kind,
                           const yaml_char_t *name, const yaml_char_t *tag)
{
    ics_yaml_node *node = NULL;
    int status = start_node(build, mark, kind, name, tag, &node);
    if (status == ICESTREAM_OK && build->depth == ICS_YAML_DEPTH_MAX) {
        status =
            ics_yaml_error(build->error, node, "nested deeper than %d levels", ICS_YAML_DEPTH_MAX);
    }
    if (status == ICESTREAM_OK) {
        status = attach(build, node);
    }
    if (status == ICESTREAM_OK) {
        build->frames[build->depth++] = (frame){.node = node};
    }
    return status;
}

static int compare_keys(const void *a, const void *b)
{
    const ics_yaml_entry *x = *(ics_yaml_entry *const *)a, *y = *(ics_yaml_entry *const *)b;
    int order = strcmp(x->key->text, y->key->text);
    return order ? order : (x > y) - (x < y);
}

/* Sorting finds equal keys in a mapping of any size without comparing all pairs. */
static int mark_duplicates(builder *build, ics_yaml_entry *entries, size_t count)
{
    if (count < 2) {
        return ICESTREAM_OK;
    }
    ics_yaml_entry **sorted = malloc(count * sizeof(ics_yaml_entry *));
    if (sorted == NULL) {
        return fail_memory(build);
    }
    for (size_t i = 0; i < count; ++i) {
        sorted[i] = &entries[i];
    }
    qsort(sorted, count, sizeof(ics_yaml_entry *), compare_keys);
    const ics_yaml_entry *first = sorted[0];
    for (size_t i = 1; i < count; ++i) {
        if (strcmp(first->key->text, sorted[i]->key->text) == 0) {
            sorted[i]->duplicate_of = first->key;
        } else {
            first = sorted[i];
        }
    }
    free(sorted);
    return ICESTREAM_OK;
}

static int close_collection(builder *build)
{
    frame *top = &build->frames[--build->depth];
    ics_yaml_node *node = top->node;
    size_t count = top->children != NULL ? top->count : 0;
    for (size_t i = 0; i < count; ++i) {
        node->nodes += top->children[i]->nodes;
        if (top->children[i]->height + 1 > node->height) {
            node->height = top->children[i]->height + 1;
        }
    }
    int status = ICESTREAM_OK;
    if (node->kind == ICS_YAML_LIST) {
        const ics_yaml_node **items = take(build->document, count * sizeof(void *) + 1);
        if (items != NULL && count) {
            memcpy(items, top->children, count * sizeof(void *));
        }
        node->items = items;
        node->count = count;
        status = items != NULL ? ICESTREAM_OK : fail_memory(build);
    } else {
        ics_yaml_entry *entries = take(build->document, count / 2 * sizeof *entries + 1);
        node->entries = entries;
        node->count = count / 2;
        for (size_t i = 0; entries != NULL && i < node->count; ++i) {
            entries[i] =
                (ics_yaml_entry){.key = top->children[2 * i], .value = top->children[2 * i + 1]};
        }
        status =
            entries != NULL ? mark_duplicates(build, entries, node->count) : fail_memory(build);
    }
    free(top->children);
    top->children = NULL;
    for (size_t i = 0; i < build->anchor_count; ++i) {
        if (build->anchors[i].node == node) {
            build->anchors[i].complete = true;
        }
    }
    return status;
}

/* An alias becomes a copy of its anchor's node with a place of its own; what is below is shared. */
static int add_alias(builder *build, const yaml_event_t *event)
{
    const char *name = (const char *)event->data.alias.anchor;
    ics_yaml_node place = at(build, event->start_mark);
    const anchor *target = find_anchor(build, name);
    if (target == NULL) {
        return ics_yaml_error(build->error, &place, "unknown anchor '*%.60s'", name);
    }
    if (!target->complete) {
        return ics_yaml_error(build->error, &place, "the anchor '&%.60s' contains itself", name);
    }
    if (build->depth + target->node->height > ICS_YAML_DEPTH_MAX) {
        return ics_yaml_error(build->error, &place, "nested deeper than %d levels",
                              ICS_YAML_DEPTH_MAX);
    }
    int status = count_nodes(build, &place, target->node->nodes);
    if (status != ICESTREAM_OK) {
        return status;
    }
    ics_yaml_node *node = take(build->document, sizeof *node);
    if (node == NULL) {
        return fail_memory(build);
    }
    *node = *target->node;
    node->line = place.line;
    node->column = place.column;
    return attach(build, node);
}

/* ---- errors of libyaml ------------------------------------------------------------------------
 */

/* Line and column, in characters, of a byte: libyaml gives only the offset of bytes it rejects. */
static ics_yaml_node place_of_byte(const builder *build, size_t offset)
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
    return at(build, mark);
}

/* What people most often meant when libyaml stumbles. */
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

static int syntax_error(builder *build, const yaml_parser_t *parser)
{
    if (parser->error == YAML_MEMORY_ERROR) {
        return fail_memory(build);
    }
    const char *problem = parser->problem != NULL ? parser->problem : "not YAML";
    if (parser->error == YAML_READER_ERROR) {
        ics_yaml_node place = place_of_byte(build, parser->problem_offset);
        return ics_yaml_error(build->error, &place, "not valid UTF-8 text: %s (0x%02X)", problem,
                              parser->problem_value < 0 ? 0U : (unsigned)parser->problem_value);
    }
    ics_yaml_node place = at(build, parser->problem_mark);
    if (parser->context != NULL && build->has_lines) {
        return ics_yaml_error(build->error, &place, "%s, %s in line %zu%s", problem,
                              parser->context, parser->context_mark.line + 1, hint(parser));
    }
    return ics_yaml_error(build->error, &place, "%s%s", problem, hint(parser));
}

/* ---- reading ----------------------------------------------------------------------------------
 */

static int take_event(builder *build, const yaml_event_t *event, bool *document_seen)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (*document_seen) {
            ics_yaml_node place = at(build, event->start_mark);
            return ics_yaml_error(build->error, &place,
                                  "a second document starts here; a file holds only one");
        }
        *document_seen = true;
        return ICESTREAM_OK;
    case YAML_SCALAR_EVENT:
        return add_scalar(build, event);
    case YAML_ALIAS_EVENT:
        return add_alias(build, event);
    case YAML_SEQUENCE_START_EVENT:
        return open_collection(build, event->start_mark, ICS_YAML_LIST,
                               event->data.sequence_start.anchor, event->data.sequence_start.tag);
    case YAML_MAPPING_START_EVENT:
        return open_collection(build, event->start_mark, ICS_YAML_MAPPING,
                               event->data.mapping_start.anchor, event->data.mapping_start.tag);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return close_collection(build);
    default:
        return ICESTREAM_OK;
    }
}

/* Whether a line begins at this byte, by any of the line breaks of YAML 1.1. */
static bool begins_line(const builder *build, size_t offset)
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

/* libyaml compares every %TAG directive with all before it: a file full of them takes hours. They
 * serve nothing here, as tags are errors. */
static int refuse_tag_directives(const builder *build)
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

static int parse(builder *build)
{
    yaml_parser_t parser;
    if (refuse_tag_directives(build) != ICESTREAM_OK) {
        return ICESTREAM_E_CONFIG;
    }
    if (!yaml_parser_initialize(&parser)) {
        return fail_memory(build);
    }
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)build->text, build->length);
    int status = ICESTREAM_OK;
    bool document_seen = false, ended = false;
    while (status == ICESTREAM_OK && !ended) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            status = syntax_error(build, &parser);
            break;
        }
        ended = event.type == YAML_STREAM_END_EVENT;
        status = take_event(build, &event, &document_seen);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    for (size_t i = 0; i < build->depth; ++i) {
        free(build->frames[i].children);
    }
    return status;
}

/* Fills a document from text. An input without any document is an empty mapping. */
static int build_document(ics_yaml *document, const char *text, size_t length, bool has_lines,
                          icestream_error *error)
{
    builder *build = calloc(1, sizeof *build);
    if (build == NULL) {
        return out_of_memory(error, document->source.name);
    }
    build->document = document;
    build->error = error;
    build->has_lines = has_lines;
    build->text = text;
    build->length = length;
    int status = parse(build);
    if (status == ICESTREAM_OK && document->root == NULL) {
        ics_yaml_node *node = NULL;
        status = start_node(build, (yaml_mark_t){0}, ICS_YAML_MAPPING, NULL, NULL, &node);
        document->root = node;
    }
    free(build);
    return status;
}

int ics_yaml_read_text(const char *name, const char *text, size_t length, ics_yaml **out,
                       icestream_error *error)
{
    *out = NULL;
    if (length > ICS_YAML_BYTES_MAX) {
        return ics_error_add(error, ICESTREAM_E_CONFIG,
                             "%s: error: the file has %zu bytes, expected at most %zu", name,
                             length, ICS_YAML_BYTES_MAX);
    }
    ics_yaml *document = NULL;
    int status = document_create(name, true, &document, error);
    if (status == ICESTREAM_OK) {
        status = build_document(document, text, length, true, error);
    }
    if (status != ICESTREAM_OK) {
        ics_yaml_destroy(document);
        return status;
    }
    *out = document;
    return ICESTREAM_OK;
}

/* libyaml checks files; a literal value has to be checked here. */
static bool is_utf8(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    while (*s) {
        int more = *s < 0x80                 ? 0
                   : *s >= 0xc2 && *s < 0xe0 ? 1
                   : *s >= 0xe0 && *s < 0xf0 ? 2
                   : *s >= 0xf0 && *s < 0xf5 ? 3
                                             : -1;
        if (more < 0) {
            return false;
        }
        /* The second byte rules out overlong forms, surrogates and what is beyond U+10FFFF. */
        unsigned char least = *s == 0xe0 ? 0xa0 : *s == 0xf0 ? 0x90 : 0x80;
        unsigned char most = *s == 0xed ? 0x9f : *s == 0xf4 ? 0x8f : 0xbf;
        for (++s; more > 0; --more, ++s) {
            if (*s < least || *s > most) {
                return false;
            }
            least = 0x80;
            most = 0xbf;
        }
    }
    return true;
}

static int build_literal(ics_yaml *document, const char *text, icestream_error *error)
{
    ics_yaml_node *node = take(document, sizeof *node);
    char *copy = take_text(document, text, strlen(text));
    if (node == NULL || copy == NULL) {
        return out_of_memory(error, document->source.name);
    }
    *node = (ics_yaml_node){
        .kind = ICS_YAML_SCALAR, .source = &document->source, .text = copy, .nodes = 1};
    document->root = node;
    if (!is_utf8(text)) {
        return ics_yaml_error(error, node, "not valid UTF-8 text");
    }
    return ICESTREAM_OK;
}

int ics_yaml_read_value(const char *name, const char *text, ics_yaml **out, icestream_error *error)
{
    *out = NULL;
    ics_yaml *document = NULL;
    int status = document_create(name, false, &document, error);
    if (status != ICESTREAM_OK) {
        return status;
    }
    bool ics_yaml_text = *text && strchr("[{\"'", *text) != NULL;
    status = ics_yaml_text ? build_document(document, text, strlen(text), false, error)
                           : build_literal(document, text, error);
    if (status != ICESTREAM_OK) {
        ics_yaml_destroy(document);
        return status;
    }
    *out = document;
    return ICESTREAM_OK;
}

const ics_yaml_node *ics_yaml_root(const ics_yaml *document)
{
    return document->root;
}
