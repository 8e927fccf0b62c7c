"""A tree of classes that grows with the examples, as Vowpal Wabbit's ``--log_multi``.

Every inner node learns to send an example to one of two sides: a class goes where its margins so far lie, below or
above the average of all that came by (Choromanska and Langford 2015). A leaf's answer is the class it met most.
"""

from libc.math cimport isnan
from libc.stdint cimport int64_t, uint32_t, uint64_t

from learners.gd_update cimport count_time, prefetch_slots
from features.namespace_groups cimport Rows
from learners.example_loop cimport Call, check_fit, open_call, process_in_order
from losses.loss_types cimport apply_link
from learners.class_update cimport (
    PerClass, begin_row, close_path, end_row, infer_first_class, move_slots, open_path, open_weight_sets, predict_and_update,
    predict_once
)
from features.row_buffer cimport Scratch
from base.status cimport NO_MEMORY, OK
from learners.audit_trace cimport Trace, counted_features, note, open_trace
from features.kernel_views cimport Results

cdef enum:
    PREDICTORS = 0         # indices into ``used``: number of inner nodes so far
    ENTRIES = 1            # number of entries
    DEEPEST = 2            # upper bound on the inner nodes from the root to a leaf

cdef uint32_t NONE = 0xffffffff


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


cdef inline uint32_t bucket_of(const Tree *t, uint32_t owner, uint32_t label) noexcept nogil:
    cdef uint64_t mixed = (<uint64_t>owner << 32 | label) * <uint64_t>0x9E3779B97F4A7C15
    return <uint32_t>(mixed >> 32) & t.last_bucket


cdef inline void insert_entry(Tree *t, uint32_t e) noexcept nogil:
    cdef uint32_t bucket = bucket_of(t, t.entry[e].owner, t.entry[e].label)
    t.next[e] = t.bucket[bucket]
    t.bucket[bucket] = e


cdef inline uint32_t find_or_add_entry(Tree *t, uint32_t owner, uint32_t label) noexcept nogil:
    """The node's entry for a label, added if there is none; NONE where the list of entries is full."""
    cdef uint32_t e = t.bucket[bucket_of(t, owner, label)]
    while e != NONE and (t.entry[e].owner != owner or t.entry[e].label != label):
        e = t.next[e]
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


cdef inline bint goes_right(const Tree *t, uint32_t predictor) noexcept nogil:
    """Whether an example goes to the right child, by the prediction just made."""
    return not apply_link(t.q.m.link, t.q.score[predictor]) < 0


cdef inline int train_node(Tree *t, const Rows *rows, size_t row, Scratch *s, uint32_t number, uint32_t e) noexcept nogil:
    """Train the node to send the label to the side of the average on which its examples lie so far; then add the new margin."""
    cdef Node *node = &t.node[number]
    cdef Entry *entry = &t.entry[e]
    cdef uint32_t c = node.predictor
    cdef float average = mean(t.margin[number], node.examples), label_mean = mean(t.entry_margin[e], entry.examples)
    cdef int status
    status = predict_and_update(&t.q, rows, row, s, c, -1 if average > label_mean else 1, rows.importance[row], t.q.raw,
                                t.q.score)
    note(&t.trace, c, False, t.q.score[c])
    status |= predict_once(&t.q, rows, row, s, c, t.q.raw, t.q.score)
    note(&t.trace, c, True, t.q.score[c])
    t.margin[number] += t.q.raw[c]
    t.entry_margin[e] += t.q.raw[c]
    node.examples += 1
    entry.examples += 1
    return status


cdef inline int train(Tree *t, const Rows *rows, size_t row, Scratch *s, uint32_t label) noexcept nogil:
    cdef uint32_t number = 0, e
    cdef int64_t depth = 0
    cdef int status = OK
    while True:
        e = find_or_add_entry(t, number, label)
        if e == NONE:
            return NO_MEMORY
        if not count_label(t, number, &t.entry[e]):
            break
        status |= train_node(t, rows, row, s, number, e)
        number = t.node[number].right if goes_right(t, t.node[number].predictor) else t.node[number].left
        depth += 1
    t.node[number].least += 1
    propagate_fewest(t, number)
    if depth > t.used[DEEPEST]:
        t.used[DEEPEST] = depth
    return status


cdef inline int answer(Tree *t, const Rows *rows, size_t row, Scratch *s, uint32_t *found) noexcept nogil:
    cdef uint32_t number = 0, c
    cdef int status = OK
    while t.node[number].inner:
        c = t.node[number].predictor
        status |= predict_once(&t.q, rows, row, s, c, t.q.raw, t.q.score)
        note(&t.trace, c, False, t.q.score[c])
        number = t.node[number].right if goes_right(t, c) else t.node[number].left
    found[0] = t.node[number].answer
    return status


cdef int process_example(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil:
    cdef Tree *t = <Tree *>learner
    cdef float y = rows.label[row], weight = rows.importance[row]
    cdef bint labeled = not isnan(y), held = out.holdout_mask != NULL and out.holdout_mask[row]
    cdef uint32_t found = 0
    cdef size_t calls_before = t.trace.calls
    cdef int status
    begin_row(&t.q, s, learning and labeled and not held)
    status = answer(t, rows, row, s, &found)
    out.prediction[row] = found
    out.raw[row] = 0
    out.loss[row] = weight if labeled and weight > 0 and out.prediction[row] != y else 0
    if learning and labeled and not held and (t.q.m.vw_compat or (status == OK and weight > 0)):
        if not t.q.m.vw_compat:
            infer_first_class(&t.q, y)
        status |= train(t, rows, row, s, <uint32_t>y if 0 <= y < 4294967296.0 else 0)
    end_row(&t.q, s, t.node[0].predictor)
    out.features[row] = counted_features(&t.trace, calls_before, s, t.q.m.vw_compat)
    count_time(&t.q.m, weight, labeled, held)
    return status


cdef void prepare(void *learner, Scratch *s) noexcept nogil:
    cdef Tree *t = <Tree *>learner
    move_slots(&t.q, s)
    prefetch_slots(&t.q.m, s)


cdef int open_tree(Tree *t, state, config) except -1:
    """From a ``vwlite.learners.trees.LogMulti``, whose nodes have been checked, and its ``KernelConfig``."""
    cdef uint32_t[:, ::1] nodes = state.nodes, entries = state.entries
    cdef double[::1] margins = state.margins, entry_margins = state.entry_margins
    cdef uint32_t[::1] next = state.next, buckets = state.buckets
    cdef int64_t[::1] used = state.used
    open_weight_sets(&t.q, state, config)
    open_trace(&t.trace, state)
    t.predictors, t.resistance, t.capacity = config.predictors, config.resistance, entries.shape[0]
    t.last_bucket = <uint32_t>buckets.shape[0] - 1
    if nodes.shape[1] * 4 != sizeof(Node) or entries.shape[1] * 4 != sizeof(Entry) or used.shape[0] != 3 or \
            <size_t>nodes.shape[0] != 2 * <size_t>t.predictors + 1 or margins.shape[0] != nodes.shape[0]:
        raise ValueError("the nodes do not fit the classes")
    if t.predictors > t.q.models or not 0 <= used[PREDICTORS] <= t.predictors:
        raise ValueError("more inner nodes than sets of weights")
    if entry_margins.shape[0] != <Py_ssize_t>t.capacity or next.shape[0] != <Py_ssize_t>t.capacity or t.capacity == 0 or \
            not 0 <= used[ENTRIES] <= <int64_t>t.capacity or buckets.shape[0] == 0 or buckets.shape[0] & t.last_bucket:
        raise ValueError("the entries do not fit their room")
    t.node, t.margin = <Node *>&nodes[0, 0], &margins[0]
    t.entry, t.entry_margin = <Entry *>&entries[0, 0], &entry_margins[0]
    t.next, t.bucket, t.used = &next[0], &buckets[0], &used[0]
    return 0


def file_entries(state, config):
    """Put the entries, ``used`` of them, into their buckets, and count those of every node."""
    cdef Tree t
    cdef int64_t e
    cdef Py_ssize_t i
    open_tree(&t, state, config)
    for i in range(2 * <Py_ssize_t>t.predictors + 1):
        t.node[i].labels = 0
    for i in range(<Py_ssize_t>t.last_bucket + 1):
        t.bucket[i] = NONE
    for e in range(t.used[ENTRIES]):
        if t.entry[e].owner > 2 * t.predictors:
            raise ValueError("an entry of no node")
        t.node[t.entry[e].owner].labels += 1
        insert_entry(&t, <uint32_t>e)


def run_rows(state, config, plan, batch, results, size_t begin, end_and_mode):
    """Predict, and learn from, the rows ``[begin, end)`` of a batch in order; as ``run_rows`` of ``gd.pyx``.

    Every row that is learned may need a new entry for each node on its way.
    """
    cdef Tree tree
    cdef Call call = open_call(plan, batch, results, begin, end_and_mode)
    cdef int status
    open_tree(&tree, state, config)
    check_fit(state, &call)
    open_path(&tree.q, config)
    with nogil:
        status = process_in_order(&tree, prepare, process_example, not tree.q.m.vw_compat, &call)
    close_path(&tree.q)
    state.trace_size = tree.trace.size
    return status, call.row
