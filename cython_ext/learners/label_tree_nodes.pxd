"""The tree of ``--log_multi``: nodes, the labels of the examples that came by, and how leaves are split and removed."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from learners.audit_trace cimport Trace
from learners.class_update cimport PerClass
from learners.path_lanes cimport LANES, PathLanes

cdef enum:
    PREDICTORS = 0         # indices into ``used``: number of inner nodes so far
    ENTRIES = 1            # number of entries
    DEEPEST = 2            # upper bound on the inner nodes from the root to a leaf
    MOST_NODES = 64        # of a way that is learned in lanes

cdef extern from "stdint.h":
    const uint32_t NONE "UINT32_MAX"


cdef struct Node:          # columns named in vwlite/learners/trees.py
    uint32_t parent
    uint32_t left
    uint32_t right
    uint32_t predictor     # its set of weights, for an inner node
    uint32_t inner
    uint32_t least         # examples of the leaf with the fewest, among the leaves below
    uint32_t most          # of a leaf: examples of its most frequent label
    uint32_t answer        # that label
    uint32_t examples      # of an inner node: number of examples learned
    uint32_t labels        # number of its entries


cdef struct Entry:         # a label of examples that reached a node
    uint32_t owner         # the node; NONE after the node was reset
    uint32_t label
    uint32_t count
    uint32_t examples      # number of examples of this label that an inner node learned


cdef struct Tree:
    PerClass q
    Trace trace
    Node *node
    double *margin        # (nodes,) sum of an inner node's raw predictions
    Entry *entry
    double *entry_margin  # (capacity,) the part of it from examples of the label
    uint32_t *next        # (capacity,) the next entry in the same bucket
    uint32_t *bucket
    uint32_t last_bucket  # number of buckets (a power of two) minus 1
    size_t capacity       # entries at most
    uint32_t predictors   # inner nodes at most
    uint32_t resistance
    int64_t *used
    uint32_t *leaf        # (leaves,) the leaf that an example of a label reached last, by the label's lowest bits
    uint32_t last_leaf    # number of these (a power of two) minus 1
    PathLanes lanes       # inner nodes on the way to that leaf
    uint32_t node_of[LANES]
    uint32_t way[MOST_NODES]  # all of them, from the root on
    uint32_t nodes, begun     # how many there are, and how many of them have had lanes


cdef inline uint32_t bucket_of(const Tree *t, uint32_t owner, uint32_t label) noexcept nogil:
    cdef uint64_t mixed = (<uint64_t>owner << 32 | label) * <uint64_t>0x9E3779B97F4A7C15
    return <uint32_t>(mixed >> 32) & t.last_bucket


cdef inline void insert_entry(Tree *t, uint32_t e) noexcept nogil:
    cdef uint32_t bucket = bucket_of(t, t.entry[e].owner, t.entry[e].label)
    t.next[e] = t.bucket[bucket]
    t.bucket[bucket] = e


cdef inline uint32_t find_entry(const Tree *t, uint32_t owner, uint32_t label) noexcept nogil:
    """The node's entry for a label; NONE if there is none."""
    cdef uint32_t e = t.bucket[bucket_of(t, owner, label)]
    while e != NONE and (t.entry[e].owner != owner or t.entry[e].label != label):
        e = t.next[e]
    return e


cdef inline uint32_t find_or_add_entry(Tree *t, uint32_t owner, uint32_t label) noexcept nogil:
    """The node's entry for a label, added if there is none; NONE where the list of entries is full."""
    cdef uint32_t e = find_entry(t, owner, label)
    if e != NONE or <size_t>t.used[ENTRIES] >= t.capacity:
        return e
    e = <uint32_t>t.used[ENTRIES]
    t.used[ENTRIES] += 1
    t.entry[e] = Entry(owner, label, 0, 0)
    t.entry_margin[e] = 0
    t.node[owner].labels += 1
    insert_entry(t, e)
    return e


cdef inline float mean(double sum, uint32_t count) noexcept nogil:
    return <float>sum / <float>count if count else 0


cdef inline void propagate_fewest(Tree *t, uint32_t number) noexcept nogil:
    """Update ``least`` of the nodes above after it has changed."""
    cdef uint32_t before
    cdef Node *node
    while number:
        before = number
        number = t.node[number].parent
        node = &t.node[number]
        if node.least == t.node[before].least:
            break
        node.least = min(t.node[node.left].least, t.node[node.right].least)


cdef inline uint32_t rarest_leaf(const Tree *t) noexcept nogil:
    cdef uint32_t number = 0
    cdef const Node *node = t.node
    while node.inner:
        number = node.left if t.node[node.left].least < t.node[node.right].least else node.right
        node = &t.node[number]
    return number


cdef inline void reset_leaf(Tree *t, uint32_t number) noexcept nogil:
    """Reset a leaf to one without examples; its links in the tree are kept."""
    cdef Node *node = &t.node[number]
    cdef int64_t e
    if node.labels:
        for e in range(t.used[ENTRIES]):
            if t.entry[e].owner == number:
                t.entry[e].owner = NONE
    t.margin[number] = 0
    t.node[number] = Node(node.parent, 0, 0, 0, 0, node.least, 0, 1, 0, 0)


cdef inline void remove_leaf(Tree *t, uint32_t number) noexcept nogil:
    """Remove a leaf and its parent; the leaf's sibling replaces the parent."""
    cdef Node *parent = &t.node[t.node[number].parent]
    cdef uint32_t position = t.node[number].parent
    cdef uint32_t above = parent.parent if position else 0  # the root's own ``parent`` is not used
    cdef uint32_t sibling = parent.left if parent.right == number else parent.right
    if t.node[above].left == position:
        t.node[above].left = sibling
    else:
        t.node[above].right = sibling
    t.node[sibling].parent = above
    propagate_fewest(t, sibling)


cdef inline bint make_children(Tree *t, uint32_t number) noexcept nogil:
    """Split a leaf, with new nodes or, if there are none left, with those freed by removing the leaf with the fewest examples."""
    cdef Node *node = &t.node[number]
    cdef uint32_t left, right
    if t.used[PREDICTORS] < t.predictors:
        node.predictor = <uint32_t>t.used[PREDICTORS]
        left = 2 * node.predictor + 1
        right = left + 1
        t.used[PREDICTORS] += 1
    else:
        left = rarest_leaf(t)
        right = t.node[left].parent
        if left == number or (right == 0 and not t.q.m.vw_compat):  # as in vw, which then detaches the tree from its root
            return False
        node.predictor = t.node[right].predictor
        remove_leaf(t, left)
    reset_leaf(t, left)
    reset_leaf(t, right)
    node.left, node.right, node.inner = left, right, 1
    t.node[left].parent = t.node[right].parent = number
    t.node[left].answer = t.node[right].answer = node.answer
    t.node[left].least = node.least / 2
    t.node[right].least = node.least - node.least / 2
    propagate_fewest(t, left)
    return True


cdef inline bint count_label(Tree *t, uint32_t number, Entry *entry) noexcept nogil:
    """Count an example of a label at a node; returns whether the node is an inner node now."""
    cdef Node *node = &t.node[number]
    entry.count += 1
    if entry.count > node.most:
        node.most, node.answer = entry.count, entry.label
    if node.inner or node.labels < 2:
        return node.inner
    if t.used[PREDICTORS] < t.predictors or node.least - node.most > t.resistance * (t.node[0].least + 1):
        return make_children(t, number)
    return False
