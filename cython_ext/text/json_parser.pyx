"""Parser of lines of JSON, each an object: its numbers and texts are features, its objects and lists are namespaces."""

from libc.math cimport NAN
from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t
from libc.stdlib cimport free
from libc.string cimport memset

from text.batch_builder cimport ANONYMOUS_CHAR, TAGGED, BatchBuilder
from text.cell_numbers cimport ABSENT, read_cell_number
from text.json_members cimport AS_IT_IS, FIRST_SPACE, IGNORED, Member, ObjectReader, hash_key, plain, read_members
from text.json_tokens cimport ARRAY, LITERAL, NOTHING, OBJECT, STRING, Value, read_json, read_key, skip_space
from text.line_loop cimport fill_blank, open_builder, open_reader, parse_lines
from text.lower_words cimport lower_words
from text.namespace_parser cimport NamespaceBlock, Reader, close_segment, open_segment, record_issue
from text.number_parser cimport POWERS, fill_powers
from text.table_rows cimport (
    BASE, LABEL, NUMBER, TAG, TOKENS, WEIGHT, WORDS, emit_number, emit_text, emit_word, hash_written, is_word, keep,
    keep_class, leave_out_blanks, reserve, word_length,
)
from base.status cimport (
    BAD_CELL, BAD_IMPORTANCE, BAD_LABEL_NAME, BAD_LABEL_NUMBER, BAD_NESTING, BAD_TAG, FULL, NO_MEMORY, OK,
)

cdef float POWERS_OF_TEN[POWERS]
fill_powers(POWERS_OF_TEN)


cdef inline int read_role(const Member *member, float absent, float *out) noexcept nogil:
    cdef int status = ABSENT
    if member.value.kind >= OBJECT:
        return BAD_CELL
    if member.value.kind != NOTHING:
        status = read_cell_number(member.value.start, member.value.end, out)
    if status == ABSENT:
        out[0] = absent
        return OK
    return status


cdef inline int keep_word(ObjectReader *objects, const Value *value, bint label, uint32_t *start, uint32_t *end) noexcept nogil:
    """The word of a label or a tag, behind the block's text; nothing where it is empty.

    ``_`` stands for the blanks in a class.
    """
    cdef const char *text
    cdef const char *stop
    cdef size_t length
    cdef bint name = label and not objects.reader.label_lists
    cdef int status
    if value.kind == NOTHING:
        return OK
    if value.kind >= OBJECT:
        return BAD_LABEL_NAME if label else BAD_TAG
    status = plain(objects, value, &text, &length)
    if status != OK:
        return status
    stop = text + length
    if name:
        leave_out_blanks(&text, &stop)
        length = <size_t>(stop - text)
    if not (name or is_word(text, stop, label)) or (label and length and text[0] == 39):
        return BAD_LABEL_NAME if label else BAD_TAG
    start[0] = keep_class(&objects.scratch, text, length) if name else keep(&objects.scratch, text, length)
    end[0] = start[0] + <uint32_t>length
    return OK


cdef inline int read_span(ObjectReader *objects, const Member *label, const Member *tag, BatchBuilder *out,
                          const char **at) noexcept nogil:
    cdef size_t row = out.rows
    cdef uint32_t start = 0, end = 0
    cdef int status = OK
    out.flags[row] = 0
    out.tag_start[row] = out.tag_end[row] = 0
    if objects.reader.named_labels:
        if label != NULL:
            at[0] = label.value.start
            status = keep_word(objects, &label.value, True, &start, &end)
        out.label[row] = NAN if end == start else 1
        out.tag_start[row], out.tag_end[row] = start, end
    if tag != NULL and status == OK and tag.value.end != tag.value.start and tag.value.kind != NOTHING:
        at[0] = tag.value.start
        if end != start:
            keep(&objects.scratch, b" '", 2)
        status = keep_word(objects, &tag.value, False, &start, out.tag_end + row)
        if end == 0:
            out.tag_start[row] = start
        out.flags[row] = TAGGED
    return status


cdef inline int read_roles(ObjectReader *objects, size_t count, BatchBuilder *out, const char **at) noexcept nogil:
    cdef const Member *role[4]
    cdef const Member *member
    cdef size_t row = out.rows, i
    cdef int status = OK
    role[0] = role[1] = role[2] = role[3] = NULL
    for i in range(count):
        member = objects.members + i
        if member.place >= 0 and member.place < IGNORED:
            role[member.place] = member
    out.label[row], out.importance[row], out.initial_prediction[row] = NAN, 1, 0
    if role[LABEL] != NULL and not objects.reader.named_labels:
        at[0] = role[LABEL].value.start
        if read_role(role[LABEL], NAN, out.label + row) != OK:
            return BAD_LABEL_NUMBER
    if role[WEIGHT] != NULL:
        at[0] = role[WEIGHT].value.start
        status = read_role(role[WEIGHT], 1, out.importance + row)
        if status == OK and out.importance[row] < 0:
            return BAD_IMPORTANCE
    if role[BASE] != NULL and status == OK:
        at[0] = role[BASE].value.start
        status = read_role(role[BASE], 0, out.initial_prediction + row)
    return read_span(objects, role[LABEL], role[TAG], out, at) if status == OK else status


cdef inline int emit_words(ObjectReader *objects, const char *p, size_t size, uint8_t type, uint32_t seed,
                           BatchBuilder *out) noexcept nogil:
    """The words of a text, for which ``plain`` has reserved memory."""
    cdef const char *end
    cdef size_t length
    if type == TOKENS:
        lower_words(p, size, objects.lower, objects.scratch.plain)
        p = objects.scratch.plain
    end = p + size
    while p < end:
        length = word_length(p, end)
        if length:
            if out.features == out.max_features:
                return FULL
            if emit_word(out, &objects.scratch, &objects.reader, p, length, seed) != OK:
                return NO_MEMORY
        p += length + 1
    return OK


cdef inline int emit_list(ObjectReader *objects, const Value *value, uint8_t type, uint32_t seed, BatchBuilder *out,
                          const char **at) noexcept nogil:
    """The texts of a list, each a feature of the namespace; of TOKENS their words are."""
    cdef Value item = value[0]
    cdef const char *p = skip_space(value.start + 1, value.end)
    cdef const char *text
    cdef size_t length
    cdef int status
    while p[0] != 93:
        at[0] = p
        p = skip_space(read_json(p, value.end, &item), value.end)
        if item.kind != STRING:
            return BAD_NESTING
        status = plain(objects, &item, &text, &length)
        if status != OK:
            return status
        if type == TOKENS:
            status = emit_words(objects, text, length, type, seed, out)
            if status != OK:
                return status
        elif out.features == out.max_features:
            return FULL
        elif emit_word(out, &objects.scratch, &objects.reader, text, length, seed) != OK:
            return NO_MEMORY
        if p[0] == 44:
            p = skip_space(p + 1, value.end)
    return OK


cdef inline int emit_scalar(ObjectReader *objects, const Value *key, const Value *value, uint8_t type, uint32_t hash, uint32_t seed,
                            BatchBuilder *out) noexcept nogil:
    """The feature of a text, a number or a truth value; ``hash`` is the key's, ``seed`` the namespace's."""
    cdef uint32_t name[2]
    cdef uint32_t unused = 0
    cdef const char *text
    cdef size_t length
    cdef float number = 0
    cdef int status
    if value.kind == NOTHING:
        return OK
    if out.features == out.max_features:
        return FULL
    if type == NUMBER or (type == AS_IT_IS and value.kind == LITERAL):
        status = BAD_CELL if value.escaped else read_cell_number(value.start, value.end, &number)
        if status != OK or number == 0:
            return OK if status == ABSENT else status
    name[0] = name[1] = 0
    if out.name != NULL and type != WORDS and type != TOKENS:
        status = hash_key(objects, key, 0, name, &unused)
        if status != OK:
            return status
    if number != 0:
        emit_number(out, hash, number, name)
        return OK
    status = plain(objects, value, &text, &length)
    if status != OK:
        return status
    if type == WORDS or type == TOKENS:
        return emit_words(objects, text, length, type, seed, out)
    return emit_text(out, &objects.scratch, &objects.reader, text, length, hash, name)


cdef inline int emit_object(ObjectReader *objects, const Value *value, uint32_t seed, BatchBuilder *out,
                            const char **at) noexcept nogil:
    """The members of an object, all in one namespace."""
    cdef Value key = value[0]
    cdef Value item = value[0]
    cdef const char *p = skip_space(value.start + 1, value.end)
    cdef uint32_t hash = 0
    cdef int status
    while p[0] != 125:
        at[0] = p = read_key(p, value.end, &key)
        p = skip_space(read_json(p, value.end, &item), value.end)
        if item.kind == OBJECT:
            return BAD_NESTING
        if item.kind == ARRAY:
            status = emit_list(objects, &item, AS_IT_IS, seed, out, at)
        else:
            status = hash_key(objects, &key, seed, NULL, &hash)
            if status == OK:
                status = emit_scalar(objects, &key, &item, AS_IT_IS, hash, seed, out)
        if status != OK:
            return status
        if p[0] == 44:
            p = skip_space(p + 1, value.end)
    return OK


cdef inline int emit_member(ObjectReader *objects, const Member *member, uint32_t seed, BatchBuilder *out,
                            const char **at) noexcept nogil:
    at[0] = member.value.start
    if member.value.kind == OBJECT:
        return emit_object(objects, &member.value, seed, out, at)
    if member.value.kind == ARRAY:
        return emit_list(objects, &member.value, member.type, seed, out, at)
    return emit_scalar(objects, &member.key, &member.value, member.type, member.hash, seed, out)


cdef inline bint is_own(const Member *member) noexcept nogil:
    """Whether it is a namespace of its own: an object or a list that --columns does not name."""
    return member.value.kind >= OBJECT and member.place >= FIRST_SPACE and not member.named


cdef inline int read_spaces(ObjectReader *objects, size_t count, BatchBuilder *out, const char **at) noexcept nogil:
    """The namespaces that columns are put into, in their order."""
    cdef NamespaceBlock block
    cdef const Member *member
    cdef size_t space, i
    cdef int status
    block.name = block.name_end = objects.reader.text
    for space in range(objects.spaces):
        if out.segments == out.max_segments:
            return FULL
        open_segment(out, objects.space_char[space], objects.space_hash[space], &block, &objects.reader)
        if out.namespace_name != NULL:
            out.namespace_name[2 * out.segments] = objects.space_name[2 * space]
            out.namespace_name[2 * out.segments + 1] = objects.space_name[2 * space + 1]
        for i in range(count):
            member = objects.members + i
            if member.place == <int32_t>(FIRST_SPACE + space) and not is_own(member):
                status = emit_member(objects, member, objects.space_hash[space], out, at)
                if status != OK:
                    return status
        close_segment(out)
    return OK


cdef inline int read_own_spaces(ObjectReader *objects, size_t count, BatchBuilder *out, const char **at) noexcept nogil:
    """Objects and lists that are namespaces of their key's name."""
    cdef NamespaceBlock block
    cdef const Member *member
    cdef const char *text
    cdef uint32_t name[2]
    cdef uint32_t hash
    cdef size_t length, i
    cdef uint8_t char
    cdef int status
    block.name = block.name_end = objects.reader.text
    for i in range(count):
        member = objects.members + i
        if not is_own(member):
            continue
        if out.segments == out.max_segments:
            return FULL
        status = plain(objects, &member.key, &text, &length)
        if status != OK:
            return status
        char, hash = ANONYMOUS_CHAR, objects.reader.anonymous_hash
        name[0] = name[1] = <uint32_t>(objects.scratch.block_size + objects.scratch.used)
        if length:
            hash = hash_written(&objects.scratch, text, length, objects.reader.seed, objects.reader.hash_all, False,
                                objects.reader.powers, name if out.name != NULL else NULL)
            char = <uint8_t>objects.scratch.text[0]
        open_segment(out, char, hash, &block, &objects.reader)
        if out.namespace_name != NULL:
            out.namespace_name[2 * out.segments], out.namespace_name[2 * out.segments + 1] = name[0], name[1]
        status = emit_member(objects, member, hash, out, at)
        if status != OK:
            return status
        close_segment(out)
    return OK


cdef inline int parse_line(const Reader *reader, const char *p, BatchBuilder *out) noexcept nogil:
    """A line of white space makes a blank row."""
    cdef ObjectReader *objects = <ObjectReader *>reader
    cdef const char *at
    cdef size_t used = objects.scratch.used, count = 0
    cdef int status
    at = p = skip_space(p, reader.end)
    if p == reader.end:
        fill_blank(out)
        return OK
    status = read_members(objects, p, reader.end, &count, &at)
    if status == OK:
        status = read_roles(objects, count, out, &at)
    if status == OK:
        status = read_spaces(objects, count, out, &at)
    if status == OK:
        status = read_own_spaces(objects, count, out, &at)
    if status != OK and status != FULL and status != NO_MEMORY:
        objects.scratch.used = used
        record_issue(out, reader, at, at, status)
    return status


cdef int parse_objects(ObjectReader *objects, size_t size, BatchBuilder *out) noexcept nogil:
    cdef int status = NO_MEMORY
    if reserve(&objects.scratch, 1024) == OK:
        status = parse_lines(&objects.reader, size, parse_line, out)
    free(objects.members)
    free(objects.scratch.text)
    free(objects.scratch.plain)
    return status


def parse(const unsigned char[::1] text, size_t size, format, workspace, layout, uint8_t[::1] met):
    """Parse ``text[:size]``, whole lines followed by at least 64 readable bytes, into a workspace.

    As ``vwlite._native.csv_parser.parse``; ``layout`` is a ``vwlite.data.json_table.JsonTable``.
    ``met``, uint8[names + 1]: 1 is written where a line has the member, the last for all others.
    """
    cdef ObjectReader objects
    cdef BatchBuilder out = open_builder(workspace)
    cdef const uint8_t[::1] names = layout.name_text, type = layout.type, space_char = layout.space_char
    cdef const uint16_t[::1] lower = layout.lower
    cdef const int32_t[::1] start = layout.start, place = layout.place
    cdef const uint32_t[::1] space_hash = layout.space_hash
    cdef uint32_t[:, ::1] space_name = layout.space_name + size
    cdef uint8_t[::1] more = workspace.begin_text(layout.text, 3 * size + 64)
    cdef int status
    memset(&objects, 0, sizeof(ObjectReader))
    objects.reader = open_reader(text, size, format, POWERS_OF_TEN)
    objects.names, objects.spaces = layout.names, layout.spaces
    objects.text, objects.start, objects.place, objects.type = &names[0], &start[0], &place[0], &type[0]
    objects.lower, objects.met = &lower[0], &met[0]
    objects.space_char, objects.space_hash, objects.space_name = &space_char[0], &space_hash[0], &space_name[0, 0]
    objects.scratch.more, objects.scratch.room, objects.scratch.block_size = <char *>&more[0], more.shape[0], size
    objects.scratch.used = workspace.used
    with nogil:
        status = parse_objects(&objects, size, &out)
    workspace.used = objects.scratch.used
    return status, out.rows, out.segments, out.features, out.lines, out.bad
