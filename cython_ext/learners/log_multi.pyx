"""A tree of classes that grows with the examples, as Vowpal Wabbit's ``--log_multi``.

Every inner node learns to send an example to one of two sides: a class goes where its margins so far lie, below or
above the average of all that came by (Choromanska and Langford 2015). A leaf's answer is the class it met most.
"""

from libc.math cimport isnan
from libc.stdint cimport int64_t, uint32_t

from learners.gd_update cimport count_time, prefetch_slots
from features.namespace_groups cimport Rows
from learners.example_loop cimport Call, check_fit, open_call, process_in_order
from losses.loss_types cimport apply_link
from learners.class_update cimport (
    PerClass, begin_row, close_path, end_row, infer_first_class, move_slots, open_path, open_weight_sets, predict_and_update,
    predict_once
)
from learners.label_tree_nodes cimport (
    DEEPEST, ENTRIES, MOST_NODES, NONE, PREDICTORS, Entry, Node, Tree, count_label, find_entry, find_or_add_entry, insert_entry,
    mean, propagate_fewest
)
from learners.path_lanes cimport LANES, begin_lanes, close_lanes, end_lanes, learn_lanes, open_lanes, prefetch_lanes, take_lane
from features.row_buffer cimport Scratch
from base.status cimport NO_MEMORY, OK
from learners.audit_trace cimport counted_features, note, open_trace
from features.kernel_views cimport Results

cdef inline bint goes_right(const Tree *t, uint32_t predictor) noexcept nogil:
    """Whether an example goes to the right child, by the prediction just made."""
    return not apply_link(t.q.m.link, t.q.score[predictor]) < 0


cdef inline int train_node(Tree *t, const Rows *rows, size_t row, Scratch *s, uint32_t number, uint32_t e) noexcept nogil:
    """Train the node to send the label to the side of the average on which its examples lie so far; then add the new margin."""
    cdef Node *node = &t.node[number]
    cdef Entry *entry = &t.entry[e]
    cdef uint32_t c = node.predictor
    cdef float average = mean(t.margin[number], node.examples), label_mean = mean(t.entry_margin[e], entry.examples)
    cdef int status = OK
    cdef float sign = -1 if average > label_mean else 1
    if not take_lane(&t.lanes, &t.q, row, c, sign):
        status = predict_and_update(&t.q, rows, row, s, c, sign, rows.importance[row], t.q.raw, t.q.score)
    note(&t.trace, c, False, t.q.score[c])
    status |= predict_once(&t.q, rows, row, s, c, t.q.raw, t.q.score)
    note(&t.trace, c, True, t.q.score[c])
    t.margin[number] += t.q.raw[c]
    t.entry_margin[e] += t.q.raw[c]
    node.examples += 1
    entry.examples += 1
    return status


# These four are not inline, so that the compiler inlines the sums that every row takes.
cdef void find_way(Tree *t, uint32_t label) noexcept nogil:
    """The inner nodes that the label's last example passed by."""
    cdef uint32_t number = t.leaf[label & t.last_leaf], k
    cdef uint32_t *way = t.way
    t.nodes = t.begun = 0
    if not t.node[number].inner:
        if number == 0:
            return
        number = t.node[number].parent
    while t.nodes < MOST_NODES:
        way[t.nodes] = number
        t.nodes += 1
        if number == 0:
            break
        number = t.node[number].parent
    if number:
        t.nodes = 0
    for k in range(t.nodes / 2):
        way[k], way[t.nodes - 1 - k] = way[t.nodes - 1 - k], way[k]


cdef void begin_nodes(Tree *t, const Rows *rows, size_t row, Scratch *s) noexcept nogil:
    """Predict by the next nodes of the way."""
    cdef uint32_t sets[LANES]
    cdef uint32_t k, count = min(t.nodes - t.begun, <uint32_t>LANES)
    for k in range(count):
        t.node_of[k] = t.way[t.begun + k]
        sets[k] = t.node[t.node_of[k]].predictor
    t.begun += count
    end_lanes(&t.lanes, &t.q)
    begin_lanes(&t.lanes, &t.q, s, row, rows.initial_prediction[row], sets, count)


cdef void prefetch_next(Tree *t, const Rows *rows, size_t row, const Scratch *s) noexcept nogil:
    """Prefetch what the next row will probably be learned by."""
    cdef uint32_t sets[LANES]
    cdef uint32_t k, count
    if row + 1 < rows.size and 0 <= rows.label[row + 1] < 4294967296.0:
        find_way(t, <uint32_t>rows.label[row + 1])
        count = min(t.nodes, <uint32_t>LANES)
        for k in range(count):
            sets[k] = t.node[t.way[k]].predictor
        prefetch_lanes(&t.lanes, &t.q, s, row, sets, count)


cdef void learn_nodes(Tree *t, const Rows *rows, size_t row, Scratch *s, uint32_t label) noexcept nogil:
    """Learn by these nodes, in lanes, what ``train_node`` will have them learn."""
    cdef float sign[LANES]
    cdef uint32_t k, e, number
    for k in range(t.lanes.count):
        number = t.node_of[k]
        e = find_entry(t, number, label)
        sign[k] = -1 if mean(t.margin[number], t.node[number].examples) > \
            (mean(t.entry_margin[e], t.entry[e].examples) if e != NONE else 0) else 1
    learn_lanes(&t.lanes, &t.q, s, rows.initial_prediction[row], sign, rows.importance[row])


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
        if t.begun < t.nodes and depth == t.begun and number == t.way[depth]:
            begin_nodes(t, rows, row, s)
            learn_nodes(t, rows, row, s, label)
        status |= train_node(t, rows, row, s, number, e)
        number = t.node[number].right if goes_right(t, t.node[number].predictor) else t.node[number].left
        depth += 1
    t.leaf[label & t.last_leaf] = number
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
    t.nodes = t.begun = 0
    if t.lanes.on and learning and labeled and not held and weight > 0 and 0 <= y < 4294967296.0:
        prefetch_next(t, rows, row, s)
        find_way(t, <uint32_t>y)
        begin_nodes(t, rows, row, s)
    status = answer(t, rows, row, s, &found)
    out.prediction[row] = found
    out.raw[row] = 0
    out.loss[row] = weight if labeled and weight > 0 and out.prediction[row] != y else 0
    if learning and labeled and not held and (t.q.m.vw_compat or (status == OK and weight > 0)):
        if not t.q.m.vw_compat:
            infer_first_class(&t.q, y)
        learn_nodes(t, rows, row, s, <uint32_t>y if 0 <= y < 4294967296.0 else 0)
        status |= train(t, rows, row, s, <uint32_t>y if 0 <= y < 4294967296.0 else 0)
    end_lanes(&t.lanes, &t.q)
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
    cdef uint32_t[::1] next = state.next, buckets = state.buckets, leaves = state.leaves
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
    if leaves.shape[0] == 0 or leaves.shape[0] & (leaves.shape[0] - 1):
        raise ValueError("the leaves of labels do not fit")
    t.leaf, t.last_leaf = &leaves[0], <uint32_t>leaves.shape[0] - 1
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
    open_lanes(&tree.lanes, &tree.q)
    with nogil:
        status = process_in_order(&tree, prepare, process_example, not tree.q.m.vw_compat, &call)
    close_lanes(&tree.lanes)
    close_path(&tree.q)
    state.trace_size = tree.trace.size
    return status, call.row
