/* From the events of libyaml to the nodes of a document. */
#include "pipeline/photons/config/yaml/builder.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

ics_yaml_node ics_yaml_builder_place(const ics_yaml_builder *build, yaml_mark_t mark)
{
    ics_yaml_node node = {.source = &build->document->source};
    if (build->has_lines) {
        node.line = (uint32_t)mark.line + 1;
        node.column = (uint32_t)mark.column + 1;
    }
    return node;
}

int ics_yaml_builder_no_memory(ics_yaml_builder *build)
{
    return ics_error_no_memory(build->error, build->document->source.name);
}

static int append(ics_yaml_builder *build, ics_yaml_frame *top, const ics_yaml_node *child)
{
    if (top->count == top->capacity) {
        size_t capacity = top->capacity ? 2 * top->capacity : 16; /* at most ICS_YAML_NODES_MAX */
        void *grown = realloc(top->children, capacity * sizeof(void *));
        if (grown == NULL) {
            return ics_yaml_builder_no_memory(build);
        }
        top->children = grown;
        top->capacity = capacity;
    }
    top->children[top->count++] = child;
    return ICESTREAM_OK;
}

/* Adds a node to the collection that is being filled. A collection is added before its items. */
static int attach(ics_yaml_builder *build, const ics_yaml_node *node)
{
    if (build->depth == 0) {
        build->document->root = node;
        return ICESTREAM_OK;
    }
    ics_yaml_frame *top = &build->frames[build->depth - 1];
    bool is_key = top->node->kind == ICS_YAML_MAPPING && top->count % 2 == 0;
    if (is_key && node->kind != ICS_YAML_SCALAR) {
        return ics_yaml_error(build->error, node, "a key must be a word, not a %s",
                              node->kind == ICS_YAML_LIST ? "list" : "mapping");
    }
    return append(build, top, node);
}

static int count_nodes(ics_yaml_builder *build, const ics_yaml_node *place, uint32_t more)
{
    if (more > ICS_YAML_NODES_MAX - build->nodes) {
        return ics_yaml_error(build->error, place,
                              "too many values: more than %d with all aliases written out",
                              ICS_YAML_NODES_MAX);
    }
    build->nodes += more;
    return ICESTREAM_OK;
}

static ics_yaml_anchor *find_anchor(ics_yaml_builder *build, const char *name)
{
    for (size_t i = 0; i < build->anchor_count; ++i) {
        if (strcmp(build->anchors[i].name, name) == 0) {
            return &build->anchors[i];
        }
    }
    return NULL;
}

static int add_anchor(ics_yaml_builder *build, const ics_yaml_node *node, const char *name)
{
    const ics_yaml_anchor *old = find_anchor(build, name);
    if (old != NULL) {
        return ics_yaml_error(build->error, node, "the anchor '&%.60s' is already used in line %u",
                              name, old->line);
    }
    if (build->anchor_count == ICS_YAML_ANCHORS_MAX) {
        return ics_yaml_error(build->error, node, "more than %d anchors", ICS_YAML_ANCHORS_MAX);
    }
    char *copy = ics_yaml_document_text(build->document, name, strlen(name));
    if (copy == NULL) {
        return ics_yaml_builder_no_memory(build);
    }
    build->anchors[build->anchor_count++] = (ics_yaml_anchor){
        .name = copy, .node = node, .line = node->line, .complete = node->kind == ICS_YAML_SCALAR};
    return ICESTREAM_OK;
}

int ics_yaml_builder_node(ics_yaml_builder *build, yaml_mark_t mark, ics_yaml_kind kind,
                          const yaml_char_t *name, const yaml_char_t *tag, ics_yaml_node **out)
{
    ics_yaml_node *node = ics_yaml_document_memory(build->document, sizeof *node);
    if (node == NULL) {
        return ics_yaml_builder_no_memory(build);
    }
    *node = ics_yaml_builder_place(build, mark);
    node->kind = kind;
    node->nodes = 1;
    node->height = kind == ICS_YAML_SCALAR ? 0 : 1;
    *out = node;
    ICS_TRY(count_nodes(build, node, 1));
    if (tag != NULL) {
        return ics_yaml_error(build->error, node, "tags are not supported, found '%.60s'",
                              (const char *)tag);
    }
    return name != NULL ? add_anchor(build, node, (const char *)name) : ICESTREAM_OK;
}

static int add_scalar(ics_yaml_builder *build, const yaml_event_t *event)
{
    ics_yaml_node *node = NULL;
    ICS_TRY(ics_yaml_builder_node(build, event->start_mark, ICS_YAML_SCALAR,
                                  event->data.scalar.anchor, event->data.scalar.tag, &node));
    const char *text = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    if (memchr(text, 0, length) != NULL) {
        return ics_yaml_error(build->error, node, "a text must not contain the character NUL");
    }
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    node->text = ics_yaml_document_text(build->document, text, length);
    return node->text != NULL ? attach(build, node) : ics_yaml_builder_no_memory(build);
}

static int open_collection(ics_yaml_builder *build, yaml_mark_t mark, ics_yaml_kind kind,
                           const yaml_char_t *name, const yaml_char_t *tag)
{
    ics_yaml_node *node = NULL;
    ICS_TRY(ics_yaml_builder_node(build, mark, kind, name, tag, &node));
    if (build->depth == ICS_YAML_DEPTH_MAX) {
        return ics_yaml_error(build->error, node, "nested deeper than %d levels",
                              ICS_YAML_DEPTH_MAX);
    }
    ICS_TRY(attach(build, node));
    build->frames[build->depth++] = (ics_yaml_frame){.node = node};
    return ICESTREAM_OK;
}

static int compare_keys(const void *a, const void *b)
{
    const ics_yaml_entry *x = *(ics_yaml_entry *const *)a, *y = *(ics_yaml_entry *const *)b;
    int order = strcmp(x->key->text, y->key->text);
    return order ? order : (x > y) - (x < y);
}

/* Marks keys that occur before in the mapping. Equal keys are next to each other after sorting, so
 * that not all pairs have to be compared. */
static int mark_duplicates(ics_yaml_builder *build, ics_yaml_entry *entries, size_t count)
{
    if (count < 2) {
        return ICESTREAM_OK;
    }
    ICS_FREES ics_yaml_entry **sorted = malloc(count * sizeof(ics_yaml_entry *));
    if (sorted == NULL) {
        return ics_yaml_builder_no_memory(build);
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
    return ICESTREAM_OK;
}

static int fill_list(ics_yaml_builder *build, const ics_yaml_frame *top, size_t count)
{
    const ics_yaml_node **items =
        ics_yaml_document_memory(build->document, count * sizeof(void *) + 1);
    if (items == NULL) {
        return ics_yaml_builder_no_memory(build);
    }
    if (count > 0) {
        memcpy(items, top->children, count * sizeof(void *));
    }
    top->node->items = items;
    top->node->count = count;
    return ICESTREAM_OK;
}

static int fill_mapping(ics_yaml_builder *build, const ics_yaml_frame *top, size_t count)
{
    ics_yaml_entry *entries =
        ics_yaml_document_memory(build->document, count * sizeof *entries + 1);
    if (entries == NULL) {
        return ics_yaml_builder_no_memory(build);
    }
    for (size_t i = 0; i < count; ++i) {
        entries[i] =
            (ics_yaml_entry){.key = top->children[2 * i], .value = top->children[2 * i + 1]};
    }
    top->node->entries = entries;
    top->node->count = count;
    return mark_duplicates(build, entries, count);
}

static int close_collection(ics_yaml_builder *build)
{
    const ics_yaml_frame top = build->frames[--build->depth];
    ICS_FREES const ics_yaml_node **children = top.children;
    const size_t count = children != NULL ? top.count : 0;
    for (size_t i = 0; i < count; ++i) {
        const uint32_t height = children[i]->height + 1;
        top.node->nodes += children[i]->nodes;
        top.node->height = height > top.node->height ? height : top.node->height;
    }
    ICS_TRY(top.node->kind == ICS_YAML_LIST ? fill_list(build, &top, count)
                                            : fill_mapping(build, &top, count / 2));
    for (size_t i = 0; i < build->anchor_count; ++i) {
        build->anchors[i].complete |= build->anchors[i].node == top.node;
    }
    return ICESTREAM_OK;
}

/* Adds a copy of the anchor's node with the place of the alias. Both nodes share their items. */
static int add_alias(ics_yaml_builder *build, const yaml_event_t *event)
{
    const char *name = (const char *)event->data.alias.anchor;
    ics_yaml_node place = ics_yaml_builder_place(build, event->start_mark);
    const ics_yaml_anchor *target = find_anchor(build, name);
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
    ICS_TRY(count_nodes(build, &place, target->node->nodes));
    ics_yaml_node *node = ics_yaml_document_memory(build->document, sizeof *node);
    if (node == NULL) {
        return ics_yaml_builder_no_memory(build);
    }
    *node = *target->node;
    node->line = place.line;
    node->column = place.column;
    return attach(build, node);
}

int ics_yaml_builder_event(ics_yaml_builder *build, const yaml_event_t *event, bool *has_document)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (*has_document) {
            ics_yaml_node place = ics_yaml_builder_place(build, event->start_mark);
            return ics_yaml_error(build->error, &place,
                                  "a second document starts here; a file holds only one");
        }
        *has_document = true;
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
