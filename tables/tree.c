/* Builds the tree of a mesh from its root to its leaves. A node is cut where the expected cost of a
 * line is smallest: the surface of each side times its number of triangles. This is the surface
 * area heuristic of MacDonald and Booth (The Visual Computer 6, 1990), which is evaluated at 15
 * planes along each axis, as in Wald, "On fast Construction of SAH-based Bounding Volume
 * Hierarchies" (IEEE Symposium on Interactive Ray Tracing 2007).
 *
 * The depth is bounded: a node that is d steps below the root gets at most ICE_MESH_LEAF
 * 2^(ICE_MESH_DEPTH - d) triangles, so that halving always ends in time. */
#include "tables/tree.h"

#include "base/error.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 16 };

_Static_assert(sizeof(ice_mesh_node) == 64 && sizeof(ice_mesh_triangle) == 48,
               "a GPU reads nodes and triangles in words of 16 bytes");

/* A triangle while the tree is built. */
typedef struct item {
    ice_mesh_box box;
    uint32_t number;
} item;

typedef struct tree {
    item *items;
    ice_mesh_node *nodes; /* `first` is an index in `nodes` or in `items` */
    size_t node_count, node_capacity;
    float margin;   /* m */
    uint32_t depth; /* inner nodes on the longest way so far */
} tree;

typedef struct cut {
    float cost; /* m^2; FLT_MAX: there is no cut */
    int axis;
    int bin; /* the first bin of the right side */
} cut;

typedef struct bin {
    ice_mesh_box box;
    size_t count;
} bin;

/* The middles of the items of a node, times 2, and the bins that they lie in. */
typedef struct binning {
    float low[3], scale[3]; /* scale 0: all middles are the same */
} binning;

static const ice_mesh_box no_box = {{FLT_MAX, FLT_MAX, FLT_MAX}, {-FLT_MAX, -FLT_MAX, -FLT_MAX}};

static void grow(ice_mesh_box *box, const ice_mesh_box *by)
{
    for (int k = 0; k < 3; ++k) {
        box->low[k] = by->low[k] < box->low[k] ? by->low[k] : box->low[k];
        box->high[k] = by->high[k] > box->high[k] ? by->high[k] : box->high[k];
    }
}

/* Half of the surface of a box, m^2. */
static float surface(const ice_mesh_box *box)
{
    const float x = box->high[0] - box->low[0];
    const float y = box->high[1] - box->low[1];
    const float z = box->high[2] - box->low[2];
    return x * y + y * z + z * x;
}

static float middle(const item *one, int axis)
{
    return one->box.low[axis] + one->box.high[axis];
}

static int bin_of(const binning *b, const item *one, int axis)
{
    const int at = (int)((middle(one, axis) - b->low[axis]) * b->scale[axis]);
    return at < BINS ? at : BINS - 1;
}

static binning binning_of(const item *items, size_t count)
{
    ice_mesh_box middles = no_box;
    for (size_t i = 0; i < count; ++i) {
        for (int k = 0; k < 3; ++k) {
            const float at = middle(&items[i], k);
            middles.low[k] = at < middles.low[k] ? at : middles.low[k];
            middles.high[k] = at > middles.high[k] ? at : middles.high[k];
        }
    }
    binning b;
    for (int k = 0; k < 3; ++k) {
        const float scale = (float)BINS / (middles.high[k] - middles.low[k]);
        b.low[k] = middles.low[k];
        b.scale[k] = scale < FLT_MAX ? scale : 0.0f;
    }
    return b;
}

/* Improves *best by the cuts of one axis. Neither side gets more than `most` items. */
static void cut_axis(const bin bins[BINS], int axis, size_t most, cut *best)
{
    float right_cost[BINS];
    size_t right_count[BINS];
    ice_mesh_box box = no_box;
    size_t count = 0;
    for (int i = BINS - 1; i > 0; --i) {
        grow(&box, &bins[i].box);
        count += bins[i].count;
        right_cost[i] = count > 0 ? surface(&box) * (float)count : 0.0f;
        right_count[i] = count;
    }
    box = no_box;
    count = 0;
    for (int i = 1; i < BINS; ++i) {
        grow(&box, &bins[i - 1].box);
        count += bins[i - 1].count;
        if (count == 0 || right_count[i] == 0 || count > most || right_count[i] > most) {
            continue;
        }
        const float cost = surface(&box) * (float)count + right_cost[i];
        if (cost < best->cost) {
            *best = (cut){.cost = cost, .axis = axis, .bin = i};
        }
    }
}

static cut best_cut(const binning *b, const item *items, size_t count, size_t most)
{
    bin bins[3][BINS];
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < BINS; ++i) {
            bins[k][i] = (bin){.box = no_box};
        }
    }
    for (size_t i = 0; i < count; ++i) {
        for (int k = 0; k < 3; ++k) {
            bin *into = &bins[k][bin_of(b, &items[i], k)];
            grow(&into->box, &items[i].box);
            ++into->count;
        }
    }
    cut best = {.cost = FLT_MAX};
    for (int k = 0; k < 3; ++k) {
        cut_axis(bins[k], k, most, &best);
    }
    return best;
}

/* Moves the items of the left side to the front. Returns their number. */
static size_t part(const binning *b, const cut *where, item *items, size_t count)
{
    size_t left = 0;
    for (size_t i = 0; i < count; ++i) {
        if (bin_of(b, &items[i], where->axis) < where->bin) {
            const item moved = items[i];
            items[i] = items[left];
            items[left++] = moved;
        }
    }
    return left;
}

/* Returns how many items of a node of `count` items `depth` steps below the root go to the left,
 * and moves them to the front; 0: the node is to be a leaf. */
static size_t divide(item *items, size_t count, uint32_t depth, const ice_mesh_box *box)
{
    if (count == 1) {
        return 0;
    }
    const size_t most = (size_t)ICE_MESH_LEAF << (ICE_MESH_DEPTH - depth - 1);
    const binning b = binning_of(items, count);
    const cut best = best_cut(&b, items, count, most);
    /* a step through a node costs about as much as a test of one triangle */
    const bool may_be_leaf = count <= ICE_MESH_LEAF && depth > 0;
    if (may_be_leaf && !(best.cost + surface(box) < surface(box) * (float)count)) {
        return 0;
    }
    return best.cost < FLT_MAX ? part(&b, &best, items, count) : count / 2;
}

/* Returns the index of a new node, or SIZE_MAX without memory. */
static size_t new_node(tree *t)
{
    if (t->node_count == t->node_capacity) {
        const size_t capacity = t->node_capacity ? 2 * t->node_capacity : 1024;
        ice_mesh_node *nodes = realloc(t->nodes, capacity * sizeof *nodes);
        if (nodes == NULL) {
            return SIZE_MAX;
        }
        t->nodes = nodes;
        t->node_capacity = capacity;
    }
    t->nodes[t->node_count] = (ice_mesh_node){{{{0}, {0}}}, {0}, {0}};
    return t->node_count++;
}

static ice_mesh_box box_of(const item *items, size_t count)
{
    ice_mesh_box box = no_box;
    for (size_t i = 0; i < count; ++i) {
        grow(&box, &items[i].box);
    }
    return box;
}

static bool add_node(tree *t, size_t first, size_t count, size_t left, uint32_t depth);

/* Fills one child of a node with `count` items from `first` on. */
static bool add_child(tree *t, size_t node, int child, size_t first, size_t count, uint32_t depth)
{
    const ice_mesh_box box = box_of(t->items + first, count);
    const size_t left = depth < ICE_MESH_DEPTH ? divide(t->items + first, count, depth, &box) : 0;
    size_t at = first;
    size_t in_leaf = count;
    if (left > 0) {
        at = t->node_count;
        in_leaf = 0;
        if (!add_node(t, first, count, left, depth)) {
            return false;
        }
    }
    ice_mesh_node *parent = &t->nodes[node];
    for (int k = 0; k < 3; ++k) {
        parent->boxes[child].low[k] = box.low[k] - t->margin;
        parent->boxes[child].high[k] = box.high[k] + t->margin;
    }
    parent->first[child] = (uint32_t)at;
    parent->count[child] = (uint32_t)in_leaf;
    return true;
}

/* Adds a node `depth` steps below the root, whose left side has the first `left` of its items. The
 * recursion ends after ICE_MESH_DEPTH steps. */
static bool add_node(tree *t, size_t first, size_t count, size_t left, uint32_t depth)
{
    const size_t node = new_node(t);
    if (node == SIZE_MAX) {
        return false;
    }
    t->depth = depth + 1 > t->depth ? depth + 1 : t->depth;
    return add_child(t, node, 0, first, left, depth + 1) &&
           add_child(t, node, 1, first + left, count - left, depth + 1);
}

/* A root is always a node. A mesh of one triangle has it in both leaves, which changes no result.
 */
static bool add_root(tree *t, size_t count)
{
    const ice_mesh_box box = box_of(t->items, count);
    if (count > 1) {
        return add_node(t, 0, count, divide(t->items, count, 0, &box), 0);
    }
    const size_t node = new_node(t);
    t->depth = 1;
    return node != SIZE_MAX && add_child(t, node, 0, 0, 1, 1) && add_child(t, node, 1, 0, 1, 1);
}

static void fill_items(const ice_mesh *mesh, item *items)
{
    for (size_t i = 0; i < mesh->triangle_count; ++i) {
        items[i] = (item){.box = no_box, .number = (uint32_t)i};
        for (int corner = 0; corner < 3; ++corner) {
            const float *at = mesh->vertices[mesh->triangles[i][corner]];
            const ice_mesh_box point = {{at[0], at[1], at[2]}, {at[0], at[1], at[2]}};
            grow(&items[i].box, &point);
        }
    }
}

static void fill_triangles(const ice_mesh *mesh, const item *items, ice_mesh_triangle *out)
{
    for (size_t i = 0; i < mesh->triangle_count; ++i) {
        const uint32_t number = items[i].number;
        out[i] = (ice_mesh_triangle){.part = mesh->parts[number], .number = number};
        for (int corner = 0; corner < 3; ++corner) {
            const float *at = mesh->vertices[mesh->triangles[number][corner]];
            memcpy(out[i].vertices[corner], at, sizeof out[i].vertices[corner]);
        }
    }
}

/* Appends a tree and its triangles to the array of the forest. */
static bool append(ics_tree_forest *forest, const tree *t, const ice_mesh *mesh)
{
    const size_t room =
        (mesh->triangle_count * sizeof(ice_mesh_triangle) + sizeof(ice_mesh_node) - 1) /
        sizeof(ice_mesh_node);
    const size_t before = forest->count, behind = before + t->node_count;
    ice_mesh_node *meshes = realloc(forest->meshes, (behind + room) * sizeof *meshes);
    if (meshes == NULL) {
        return false;
    }
    for (size_t i = 0; i < t->node_count; ++i) {
        ice_mesh_node node = t->nodes[i];
        for (int child = 0; child < 2; ++child) {
            const size_t first = node.first[child];
            node.first[child] =
                (uint32_t)(node.count[child] > 0 ? 4 * behind + 3 * first : before + first);
        }
        meshes[before + i] = node;
    }
    /* behind the last triangle, too: digests read all bytes */
    memset(meshes + behind, 0, room * sizeof *meshes);
    fill_triangles(mesh, t->items, (ice_mesh_triangle *)(void *)(meshes + behind));
    forest->meshes = meshes;
    forest->count = behind + room;
    forest->deepest = t->depth > forest->deepest ? t->depth : forest->deepest;
    return true;
}

int ics_tables_tree_add(ics_tree_forest *forest, const ice_mesh *mesh, double reach, uint32_t *root,
                        icestream_error *error)
{
    tree t = {.items = calloc(mesh->triangle_count, sizeof *t.items),
              .margin = ICE_MESH_MARGIN * (float)reach};
    *root = (uint32_t)forest->count;
    bool done = t.items != NULL;
    if (done) {
        fill_items(mesh, t.items);
        done = add_root(&t, mesh->triangle_count) && append(forest, &t, mesh);
    }
    free(t.items);
    free(t.nodes);
    return done ? ICESTREAM_OK
                : ics_error_set(error, ICESTREAM_E_MEMORY,
                                "out of memory for the tree of a mesh of %zu triangles",
                                mesh->triangle_count);
}

void ics_tables_tree_free(ics_tree_forest *forest)
{
    free(forest->meshes);
    *forest = (ics_tree_forest){0};
}
