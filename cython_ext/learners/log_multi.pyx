"""A tree of classes that grows with the examples, as Vowpal Wabbit's ``--log_multi``.

Every inner node learns to send an example to one of two sides: a class goes where its margins so far lie, below or
above the average of all that came by (Choromanska and Langford 2015). A leaf's answer is the class it met most.
"""

from libc.math cimport isnan
from libc.stdint cimport int64_t, uint32_t, uint64_t

from learners.gd_update cimport count_time, prefetch_slots
from features.namespace_groups cimport Rows
from learners.example_loop cimport check_fit, process_in_order
from losses.links cimport apply_link
from learners.class_update cimport Many, move_slots, open_sets, predict_class, teach_anew, tell_first
from features.plan cimport Plan
from features.row_buffer cimport Scratch
from base.status cimport NO_MEMORY, OK
from learners.audit_trace cimport Trace, counted_features, note, open_trace
from features.kernel_views cimport Results, open_plan, open_results, open_rows

cdef enum:
    PREDICTORS = 0         # positions in ``used``: inner nodes made so far
    ENTRIES = 1            # of the list of entries
    DEEPEST = 2            # inner nodes on the longest way from the root to a leaf, or more

cdef uint32_t NONE = 0xffffffff


cdef struct Node:          # columns named in vwlite/learners/log_multi.py
    uint32_t parent
    uint32_t left
    uint32_t right
    uint32_t predictor     # of an inner node, its set of weights
    uint32_t inner
    uint32_t least         # examples that came to the leaf below where fewest did
    uint32_t most          # of a leaf, examples of the label it met most
    uint32_t answer        # that label
    uint32_t examples      # of an inner node, those it has learned
    uint32_t labels        # how many entries it has


cdef struct Entry:         # a label that came to a node
    uint32_t owner         # the node; NONE where that began anew
    uint32_t label
    uint32_t count
    uint32_t examples      # as those of the node


cdef struct Tree:
    Many q
    Trace trace
    Node *node
    double *margin         # (nodes,) sum of an inner node's raw predictions
    Entry *entry
    double *entry_margin   # (room,) the part of it that was the label's
    uint32_t *next         # (room,) the next entry in the same bucket
    uint32_t *bucket
    uint32_t last_bucket   # their number less 1, a power of two less 1
    size_t room            # for entries
    uint32_t predictors    # that there can be
    uint32_t resistance
    int64_t *used


cdef inline uint32_t bucket_of(const Tree *t, uint32_t owner, uint32_t label) noexcept nogil:
    cdef uint64_t mixed = (<uint64_t>owner << 32 | label) * <uint64_t>0x9E3779B97F4A7C15
    return <uint32_t>(mixed >> 32) & t.last_bucket


cdef inline void chain(Tree *t, uint32_t e) noexcept nogil:
    cdef uint32_t bucket = bucket_of(t, t.entry[e].owner, t.entry[e].label)
    t.next[e] = t.bucket[bucket]
    t.bucket[bucket] = e


cdef inline uint32_t entry_of(Tree *t, uint32_t owner, uint32_t label) noexcept nogil:
    """The node's entry for a label, made if need be; NONE where there is no room."""
    cdef uint32_t e = t.bucket[bucket_of(t, owner, label)]
    while e != NONE and (t.entry[e].owner != owner or t.entry[e].label != label):
        e = t.next[e]
    if e != NONE or <size_t>t.used[ENTRIES] >= t.room:
        return e
    e = <uint32_t>t.used[ENTRIES]
    t.used[ENTRIES] += 1
    t.entry[e] = Entry(owner, label, 0, 0)
    t.entry_margin[e] = 0
    t.node[owner].labels += 1
    chain(t, e)
    return e


cdef inline float mean(double sum, uint32_t count) noexcept nogil:
    return <float>sum / <float>count if count else 0


cdef inline void raise_least(Tree *t, uint32_t number) noexcept nogil:
    """Tell the nodes above that ``least`` has changed."""
    cdef uint32_t before
    cdef Node *node
    while number:
        before = number
        number = t.node[number].parent
        node = &t.node[number]
        if node.least == t.node[before].least:
            break
        node.least = min(t.node[node.left].least, t.node[node.right].least)


cdef inline uint32_t least_leaf(const Tree *t) noexcept nogil:
    cdef uint32_t number = 0
    cdef const Node *node = t.node
    while node.inner:
        number = node.left if t.node[node.left].least < t.node[node.right].least else node.right
        node = &t.node[number]
    return number


cdef inline void begin_anew(Tree *t, uint32_t number) noexcept nogil:
    """A leaf that has met nothing; its place in the tree is left as it is."""
    cdef Node *node = &t.node[number]
    cdef int64_t e
    if node.labels:
        for e in range(t.used[ENTRIES]):
            if t.entry[e].owner == number:
                t.entry[e].owner = NONE
    t.margin[number] = 0
    t.node[number] = Node(node.parent, 0, 0, 0, 0, node.least, 0, 1, 0, 0)


cdef inline void take_out(Tree *t, uint32_t number) noexcept nogil:
    """A leaf and the node above it; the leaf's sibling takes their place."""
    cdef Node *parent = &t.node[t.node[number].parent]
    cdef uint32_t place = t.node[number].parent
    cdef uint32_t above = parent.parent if place else 0  # whatever a model says of the root
    cdef uint32_t sibling = parent.left if parent.right == number else parent.right
    if t.node[above].left == place:
        t.node[above].left = sibling
    else:
        t.node[above].right = sibling
    t.node[sibling].parent = above
    raise_least(t, sibling)


cdef inline bint make_children(Tree *t, uint32_t number) noexcept nogil:
    """With new nodes or, where there are no more, those of the leaf that fewest examples come to."""
    cdef Node *node = &t.node[number]
    cdef uint32_t left, right
    if t.used[PREDICTORS] < t.predictors:
        node.predictor = <uint32_t>t.used[PREDICTORS]
        left = 2 * node.predictor + 1
        right = left + 1
        t.used[PREDICTORS] += 1
    else:
        left = least_leaf(t)
        right = t.node[left].parent
        if left == number or (right == 0 and t.q.m.strict):  # vw cuts the tree off at its root
            return False
        node.predictor = t.node[right].predictor
        take_out(t, left)
    begin_anew(t, left)
    begin_anew(t, right)
    node.left, node.right, node.inner = left, right, 1
    t.node[left].parent = t.node[right].parent = number
    t.node[left].answer = t.node[right].answer = node.answer
    t.node[left].least = node.least / 2
    t.node[right].least = node.least - node.least / 2
    raise_least(t, left)
    return True


cdef inline bint meet(Tree *t, uint32_t number, Entry *entry) noexcept nogil:
    """A leaf or an inner node meets a label once more; whether it is an inner node now."""
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
    """By the prediction just made."""
    return not apply_link(t.q.m.link, t.q.score[predictor]) < 0


cdef inline int train_node(Tree *t, const Rows *rows, size_t row, Scratch *s, uint32_t number, uint32_t e) noexcept nogil:
    """Away from the average where the label's examples so far lie; then the margin counts."""
    cdef Node *node = &t.node[number]
    cdef Entry *entry = &t.entry[e]
    cdef uint32_t c = node.predictor
    cdef float average = mean(t.margin[number], node.examples), own = mean(t.entry_margin[e], entry.examples)
    cdef int status
    status = teach_anew(&t.q, rows, row, s, c, -1 if average > own else 1, rows.importance[row], t.q.raw, t.q.score)
    note(&t.trace, c, False, t.q.score[c])
    status |= predict_class(&t.q, s, c, rows.base[row], t.q.raw, t.q.score)
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
        e = entry_of(t, number, label)
        if e == NONE:
            return NO_MEMORY
        if not meet(t, number, &t.entry[e]):
            break
        status |= train_node(t, rows, row, s, number, e)
        number = t.node[number].right if goes_right(t, t.node[number].predictor) else t.node[number].left
        depth += 1
    t.node[number].least += 1
    raise_least(t, number)
    if depth > t.used[DEEPEST]:
        t.used[DEEPEST] = depth
    return status


cdef inline int answer(Tree *t, const Rows *rows, size_t row, Scratch *s, uint32_t *found) noexcept nogil:
    cdef uint32_t number = 0, c
    cdef int status = OK
    while t.node[number].inner:
        c = t.node[number].predictor
        status |= predict_class(&t.q, s, c, rows.base[row], t.q.raw, t.q.score)
        note(&t.trace, c, False, t.q.score[c])
        number = t.node[number].right if goes_right(t, c) else t.node[number].left
    found[0] = t.node[number].answer
    return status


cdef int process_example(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil:
    cdef Tree *t = <Tree *>learner
    cdef float y = rows.label[row], weight = rows.importance[row]
    cdef bint labeled = not isnan(y), held = out.held != NULL and out.held[row]
    cdef uint32_t found = 0
    cdef size_t asked = t.trace.asked
    cdef int status = answer(t, rows, row, s, &found)
    out.prediction[row] = found
    out.raw[row] = 0
    out.loss[row] = weight if labeled and weight > 0 and out.prediction[row] != y else 0
    if learning and labeled and not held and not (t.q.m.strict and (status != OK or not weight > 0)):
        if t.q.m.strict:
            tell_first(&t.q, y)
        status |= train(t, rows, row, s, <uint32_t>y if 0 <= y < 4294967296.0 else 0)
    out.features[row] = counted_features(&t.trace, asked, s, t.q.m.strict)
    count_time(&t.q.m, weight, labeled, held)
    return status


cdef void prepare(void *learner, Scratch *s) noexcept nogil:
    cdef Tree *t = <Tree *>learner
    move_slots(&t.q, s)
    prefetch_slots(&t.q.m, s)


cdef int open_tree(Tree *t, state, config) except -1:
    """From a ``vwlite.learners.log_multi.LogMulti``, whose nodes have been checked, and its ``KernelConfig``."""
    cdef uint32_t[:, ::1] nodes = state.nodes, entries = state.entries
    cdef double[::1] margins = state.margins, entry_margins = state.entry_margins
    cdef uint32_t[::1] next = state.next, buckets = state.buckets
    cdef int64_t[::1] used = state.used
    open_sets(&t.q, state, config)
    open_trace(&t.trace, state)
    t.predictors, t.resistance, t.room = config.predictors, config.resistance, entries.shape[0]
    t.last_bucket = <uint32_t>buckets.shape[0] - 1
    if nodes.shape[1] * 4 != sizeof(Node) or entries.shape[1] * 4 != sizeof(Entry) or used.shape[0] != 3 or \
            <size_t>nodes.shape[0] != 2 * <size_t>t.predictors + 1 or margins.shape[0] != nodes.shape[0]:
        raise ValueError("the nodes do not fit the classes")
    if t.predictors > t.q.models or not 0 <= used[PREDICTORS] <= t.predictors:
        raise ValueError("more inner nodes than sets of weights")
    if entry_margins.shape[0] != <Py_ssize_t>t.room or next.shape[0] != <Py_ssize_t>t.room or t.room == 0 or \
            not 0 <= used[ENTRIES] <= <int64_t>t.room or buckets.shape[0] == 0 or buckets.shape[0] & t.last_bucket:
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
        chain(&t, <uint32_t>e)


def run_rows(state, config, plan, batch, results, size_t begin, end_and_mode):
    """Predict, and learn from, the rows ``[begin, end)`` of a batch in order; as ``run_rows`` of ``gd.pyx``.

    Every row that is learned may need a new entry for each node on its way.
    """
    cdef size_t end = end_and_mode[0]
    cdef bint learning = end_and_mode[1]
    cdef Tree tree
    cdef Rows rows = open_rows(batch)
    cdef Plan native_plan = open_plan(plan)
    cdef Results out = open_results(results)
    cdef int status
    open_tree(&tree, state, config)
    check_fit(state, &native_plan, &rows, end, learning)
    with nogil:
        status = process_in_order(&tree, prepare, process_example, tree.q.m.strict, &rows, &native_plan, &out, &begin, end, learning)
    state.trace_size = tree.trace.size
    return status, begin
