"""Parser of the part of a line from the first bar on: namespaces and features, which are hashed as they are read."""

from libc.math cimport isfinite, isnan
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memchr

from base.byte_scan cimport delimiters, first_bit
from text.murmur3 cimport hash_name
from text.number_parser cimport is_number_form, read_number
from text.batch_builder cimport (
    AFFIX, AFFIX_CHAR, ANONYMOUS, ANONYMOUS_CHAR, NAMED, SPELLING, SPELLING_CHAR, TEXT_VALUE, BatchBuilder,
)
from base.status cimport (
    AFTER_FEATURE,
    BAD_FEATURE,
    BAD_NAMESPACE_START,
    BAD_NAMESPACE_VALUE,
    BAD_VALUE,
    FULL,
    NAN_FEATURE_VALUE,
    NAN_NAMESPACE_VALUE,
    NO_MEMORY,
    NOT_FINITE,
    OK,
)


cdef struct Reader:
    const char *text          # start of the block
    const char *end           # end of the current line, its line end excluded
    const float *powers       # (256,) powers of ten, see text/number_parser.pxd
    const uint64_t *affix     # (256,) packed affix specifications by namespace character
    const uint8_t *spelling   # (256,) 1 where spelling features are wanted
    const uint8_t *redefine   # (256,) namespace character -> the character it counts as (--redefine)
    uint32_t seed             # --hash_seed
    bint hash_all             # --hash all
    bint skip_malformed       # a line with an issue makes no row; otherwise the parser goes on as vw does
    bint makes_features       # whether any namespace has affix or spelling features
    bint named_labels         # labels are names
    bint label_lists          # labels are lists of words
    bint batched_hash         # the processor can hash several names at a time
    bint fast_path            # text/vw_parser.pyx may read simple blocks, as names are not kept
    uint32_t anonymous_hash   # of the anonymous namespace
    uint32_t letter_hash[256] # of names of one byte


cdef struct NamespaceBlock:   # the namespace block being read
    uint32_t hash             # of its name
    float value               # factor on the values of the block's features
    uint8_t char              # first byte of its name, ANONYMOUS_CHAR when it has none
    const char *name
    const char *name_end


cdef inline size_t name_length(const char *p) noexcept nogil:
    """Bytes up to the next space, tab, colon, bar or line end."""
    cdef size_t length = 0
    cdef uint32_t mask = delimiters(p)
    while mask == 0:
        length += 16
        mask = delimiters(p + length)
    return length + <size_t>first_bit(mask)


cdef inline bint ends_block(char c) noexcept nogil:
    return c == 124 or c == 13 or c == 10


cdef inline bint is_blank(char c) noexcept nogil:
    return c == 32 or c == 9


cdef inline void record_issue(BatchBuilder *out, const Reader *reader, const char *at, const char *bar, int code) noexcept nogil:
    """Record an issue of the current line. Issues beyond ``max_bad`` are only counted."""
    if out.bad < out.max_bad:
        out.bad_line[out.bad] = <uint32_t>out.lines
        out.bad_at[out.bad] = <uint32_t>(at - reader.text)
        out.bad_from[out.bad] = <uint32_t>(bar - reader.text)
        out.bad_code[out.bad] = <uint8_t>code
    out.bad += 1


cdef inline void open_segment(BatchBuilder *out, uint8_t char, uint32_t hash, const NamespaceBlock *block,
                              const Reader *reader) noexcept nogil:
    out.namespace_char[out.segments] = char
    out.namespace_hash[out.segments] = hash
    out.namespace_start[out.segments] = <uint32_t>out.features
    if out.namespace_name != NULL:
        out.namespace_name[2 * out.segments] = <uint32_t>(block.name - reader.text)
        out.namespace_name[2 * out.segments + 1] = <uint32_t>(block.name_end - reader.text)


cdef inline void close_segment(BatchBuilder *out) noexcept nogil:
    """Keep the opened segment if it has a feature."""
    if out.features > out.namespace_start[out.segments]:
        out.segments += 1


cdef inline void emit(BatchBuilder *out, uint32_t hash, float value) noexcept nogil:
    out.hash[out.features] = hash
    out.value[out.features] = value
    out.features += 1


cdef inline void record_name(BatchBuilder *out, const Reader *reader, const char *name, size_t length,
                             int name_kind) noexcept nogil:
    """Record the name of the feature that is emitted next; its text value is empty."""
    cdef uint32_t *entry = out.name + 4 * out.features
    entry[0] = <uint32_t>(name - reader.text)
    entry[1] = <uint32_t>(name + length - reader.text)
    entry[2] = entry[3] = 0
    out.name_kind[2 * out.features] = <uint8_t>name_kind
    out.name_kind[2 * out.features + 1] = 0


cdef inline void make_affixes(const Reader *reader, const NamespaceBlock *block, const char *name, size_t length, float value,
                              BatchBuilder *out) noexcept nogil:
    """One feature per affix specification of the namespace, packed four bits each: ``2 * length + is_prefix``."""
    cdef uint64_t packed = reader.affix[reader.redefine[block.char]]
    cdef uint32_t hash, detail
    cdef size_t affix
    cdef const char *start
    while packed:
        detail = <uint32_t>(packed & 15)
        affix = detail >> 1
        affix = length if length < affix else affix
        start = name if detail & 1 else name + length - affix
        hash = hash_name(start, affix, block.hash, reader.hash_all) * (13903957 + detail * 27942141)
        if out.name != NULL:
            record_name(out, reader, start, affix, AFFIX)
            out.name_kind[2 * out.features + 1] = <uint8_t>detail
        emit(out, hash, value)
        packed >>= 4


cdef inline uint8_t character_class(uint8_t c) noexcept nogil:
    """The class of a byte: digit ``0``, lower case ``a``, upper case ``A``, full stop, anything else ``#``.

    Without branches, so that the compiler makes vectors of it.
    """
    cdef uint8_t found = 46 if c == 46 else 35
    found = 48 if <uint8_t>(c - 48) < 10 else found
    found = 97 if <uint8_t>(c - 97) < 26 else found
    return 65 if <uint8_t>(c - 65) < 26 else found


cdef inline int make_spelling(const Reader *reader, const NamespaceBlock *block, const char *name, size_t length, float value,
                              BatchBuilder *out) noexcept nogil:
    """The classes of the name's characters as a name. Reads up to 15 bytes past the name's end."""
    cdef char buffer[288]
    cdef char *shape = buffer
    cdef size_t i, j
    if length > 256:
        shape = <char *>malloc(length + 32)
        if shape == NULL:
            return NO_MEMORY
    for i in range(0, length, 16):
        for j in range(16):
            shape[i + j] = <char>character_class(<uint8_t>name[i + j])
    if out.name != NULL:
        record_name(out, reader, name, length, SPELLING)
    emit(out, hash_name(shape, length, block.hash, False), value)
    if shape != buffer:
        free(shape)
    return OK


cdef inline int emit_or_derive(const Reader *reader, const NamespaceBlock *block, const char *name, size_t length, uint32_t hash,
                               float value, int wanted, BatchBuilder *out) noexcept nogil:
    """Emit the feature just read (NAMED), or the features made from its name (AFFIX, SPELLING)."""
    if wanted == NAMED:
        emit(out, hash, value)
    elif wanted == AFFIX:
        if length:
            make_affixes(reader, block, name, length, value, out)
    else:
        return make_spelling(reader, block, name, length, value, out)
    return OK


cdef inline uint32_t hash_feature(const Reader *reader, const NamespaceBlock *block, const char *name, size_t length,
                                  uint32_t *anonymous) noexcept nogil:
    """The hash of a name; anonymous features are numbered within their block."""
    if length:
        return hash_name(name, length, block.hash, reader.hash_all)
    anonymous[0] += 1
    return block.hash + anonymous[0] - 1


cdef inline const char *read_text_value(const Reader *reader, const NamespaceBlock *block, const char *name, size_t length,
                                        const char *p, uint32_t *anonymous, BatchBuilder *out, uint32_t *hash) noexcept nogil:
    """``name:text``: the hash of the text, seeded with the name's. The text runs to the next white space."""
    cdef size_t text_length = 0
    while p != reader.end and (is_blank(p[0]) or p[0] == 13):
        p += 1
    while p + text_length != reader.end and not is_blank(p[text_length]) and p[text_length] != 13:
        text_length += 1
    if text_length:
        hash[0] = hash_name(name, length, block.hash, reader.hash_all)
        hash[0] = hash_name(p, text_length, hash[0], reader.hash_all)
    else:
        hash[0] = hash_feature(reader, block, name, length, anonymous)
    if out.name != NULL:
        record_name(out, reader, name, length, TEXT_VALUE if text_length else (NAMED if length else ANONYMOUS))
        out.name[4 * out.features + 2] = <uint32_t>(p - reader.text)
        out.name[4 * out.features + 3] = <uint32_t>(p + text_length - reader.text)
    return p + text_length


cdef inline int report_issue(const Reader *reader, const char *at, const char *bar, int code, BatchBuilder *out) noexcept nogil:
    """Record an issue. Returns its code, which ends the parsing of the line, where malformed lines are skipped; else OK."""
    record_issue(out, reader, at, bar, code)
    return code if reader.skip_malformed else OK


cdef inline const char *read_value(const Reader *reader, const NamespaceBlock *block, const char *name, size_t length,
                                   const char *p, const char *bar, BatchBuilder *out, uint32_t *hash, float *value,
                                   uint32_t *anonymous, int *status) noexcept nogil:
    """Read what follows a feature's colon: a number, or a text, which becomes part of the hash."""
    cdef float number = 0
    cdef const char *stop = read_number(p, reader.end, reader.powers, &number)
    if stop == p:
        value[0] = 1
        stop = read_text_value(reader, block, name, length, p, anonymous, out, hash)
        if reader.skip_malformed and p != stop and memchr(p, 124, <size_t>(stop - p)) != NULL:
            status[0] = report_issue(reader, p, bar, BAD_FEATURE, out)
        return stop
    if isnan(number):
        status[0] = report_issue(reader, p, bar, NAN_FEATURE_VALUE, out)
        number = 0
    value[0] = block.value * number
    if reader.skip_malformed and status[0] == OK:
        if not isfinite(value[0]):
            status[0] = report_issue(reader, p, bar, NOT_FINITE, out)
        elif not is_number_form(p, stop):
            status[0] = report_issue(reader, p, bar, BAD_VALUE, out)
    hash[0] = hash_feature(reader, block, name, length, anonymous)
    if out.name != NULL:
        record_name(out, reader, name, length, NAMED if length else ANONYMOUS)
    return stop


cdef inline const char *read_features(const Reader *reader, const NamespaceBlock *block, const char *p, const char *bar,
                                      int wanted, BatchBuilder *out, int *status) noexcept nogil:
    """``{ (space|tab) feature }``: emit the features of a block; returns where reading stopped."""
    cdef const char *name
    cdef size_t length
    cdef uint32_t hash = 0, anonymous = 0
    cdef float value
    while is_blank(p[0]) and status[0] == OK:
        p += 1
        if is_blank(p[0]) or ends_block(p[0]):
            continue
        if out.max_features - out.features < 16:
            status[0] = FULL
            return p
        name = p
        length = name_length(p)
        p += length
        if p[0] != 58:
            value = block.value
            if wanted == NAMED:
                hash = hash_name(name, length, block.hash, reader.hash_all)
            if out.name != NULL:
                record_name(out, reader, name, length, NAMED)
        else:
            p = read_value(reader, block, name, length, p + 1, bar, out, &hash, &value, &anonymous, status)
        if value != 0 and status[0] == OK:
            status[0] = emit_or_derive(reader, block, name, length, hash, value, wanted, out)
    return p


cdef inline int make_features(const Reader *reader, const NamespaceBlock *block, const char *p, const char *bar, int wanted,
                              BatchBuilder *out) noexcept nogil:
    """Read the block at ``p`` once for its affix or spelling features, which form a segment of their own."""
    cdef int status = OK
    open_segment(out, AFFIX_CHAR if wanted == AFFIX else SPELLING_CHAR, 0, block, reader)
    read_features(reader, block, p, bar, wanted, out, &status)
    close_segment(out)
    return status if status == FULL or status == NO_MEMORY else OK


cdef inline bint first_is_anonymous(const Reader *reader, const char *p) noexcept nogil:
    """Whether the first feature of the block whose value is not 0 is anonymous."""
    cdef size_t length
    cdef float number
    cdef const char *stop
    while is_blank(p[0]):
        p += 1
        length = name_length(p)
        p += length
        if p[0] != 58:
            if length:
                return False
            continue
        number = 1
        stop = read_number(p + 1, reader.end, reader.powers, &number)
        if stop == p + 1 or (number != 0 and not isnan(number)):
            return length == 0
        p = stop
    return False


cdef inline int make_affixes_and_spellings(const Reader *reader, const NamespaceBlock *block, const char *p, const char *bar,
                                           uint8_t character,
                                           BatchBuilder *out) noexcept nogil:
    """Make affix features, then spelling features. As in vw the order is reversed where the block's first feature is anonymous
    and so has no affix.
    """
    cdef int status = OK, step
    cdef bint spelling_first = first_is_anonymous(reader, p)
    for step in range(2):
        if step == <int>spelling_first:
            if status == OK and reader.affix[character]:
                status = make_features(reader, block, p, bar, AFFIX, out)
        elif status == OK and reader.spelling[character]:
            status = make_features(reader, block, p, bar, SPELLING, out)
    return status


cdef inline const char *read_namespace_name(const Reader *reader, const char *p, const char *bar, NamespaceBlock *block,
                                            BatchBuilder *out, int *status) noexcept nogil:
    """``[name [":" value]]`` after a bar; an anonymous block leaves ``p`` where it is."""
    cdef const char *stop
    block.value = 1
    block.name = p
    block.char = ANONYMOUS_CHAR
    block.hash = reader.anonymous_hash
    if not (is_blank(p[0]) or ends_block(p[0])):
        p += name_length(p)
        block.char = <uint8_t>block.name[0]
        block.hash = hash_name(block.name, <size_t>(p - block.name), reader.seed, reader.hash_all)
    block.name_end = p
    if p[0] != 58:
        return p
    p += 1
    stop = read_number(p, reader.end, reader.powers, &block.value)
    if stop == p:
        block.value = 0
    if stop == reader.end or (reader.skip_malformed and (stop == p or (isfinite(block.value) and not is_number_form(p, stop)))):
        status[0] = report_issue(reader, p, bar, BAD_NAMESPACE_VALUE, out)
    if status[0] == OK and isnan(block.value):
        status[0] = report_issue(reader, p, bar, NAN_NAMESPACE_VALUE, out)
        block.value = 1
    elif status[0] == OK and reader.skip_malformed and not isfinite(block.value):
        status[0] = report_issue(reader, p, bar, NOT_FINITE, out)
    return stop


cdef inline int read_block(const Reader *reader, const char **at, const char *bar, BatchBuilder *out) noexcept nogil:
    """Read one namespace block from ``at``, behind its bar; moves ``at`` to where reading stopped."""
    cdef NamespaceBlock block
    cdef int status = OK
    cdef const char *p = at[0]
    if out.max_segments - out.segments < 4:
        return FULL
    if p[0] == 58:
        return report_issue(reader, p, bar, BAD_NAMESPACE_START, out)
    p = read_namespace_name(reader, p, bar, &block, out, &status)
    at[0] = p
    if status != OK:
        return status
    open_segment(out, block.char, block.hash, &block, reader)
    at[0] = p = read_features(reader, &block, p, bar, NAMED, out, &status)
    close_segment(out)
    if status == OK and not ends_block(p[0]):
        return report_issue(reader, p, bar, AFTER_FEATURE, out)
    return status


cdef inline int make_block_features(const Reader *reader, const char *p, const char *bar, BatchBuilder *out) noexcept nogil:
    """Make the affix and spelling features of the block from ``p``, behind its bar. They stand before the block's own features.

    Issues are not recorded: the block is read again for its own features.
    """
    cdef NamespaceBlock block
    cdef size_t issues = out.bad
    cdef int status = OK
    if out.max_segments - out.segments < 4:
        return FULL
    if p[0] == 58:
        return OK
    p = read_namespace_name(reader, p, bar, &block, out, &status)
    if status == OK:
        status = make_affixes_and_spellings(reader, &block, p, bar, reader.redefine[block.char], out)
    out.bad = issues
    return status if status == FULL or status == NO_MEMORY else OK
