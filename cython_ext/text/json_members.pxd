"""The members of the object on a line of JSON, and where each goes."""

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t
from libc.stdlib cimport realloc
from libc.string cimport memcmp, memset

from text.json_tokens cimport Value, read_json, read_key, skip_space, unescape_json
from text.namespace_parser cimport Reader
from text.table_rows cimport TAG, TOKENS, Scratch, hash_written, reserve
from base.status cimport BAD_JSON, NO_MEMORY, OK


cdef enum:
    AS_IT_IS = TOKENS + 1   # beside the types of columns: of none
    IGNORED = TAG + 1       # where a key goes: a role, nowhere, or the namespace FIRST_SPACE and so on
    FIRST_SPACE = 5


cdef struct Member:
    Value key
    Value value
    const char *known       # of a row before: the key for which this is right
    size_t length
    int32_t place           # where the key goes
    uint8_t type
    bint named              # in --columns
    uint32_t hash           # of the key in its namespace


cdef struct ObjectReader:
    Reader reader              # first: the loop over lines hands on its address
    Scratch scratch
    Member *members            # of the current line
    size_t room
    size_t names, spaces
    const uint8_t *text        # of the names of columns, ordered by length and bytes, and of namespaces
    const int32_t *start       # (names + 1,) where names begin in it
    const int32_t *place       # (names + 1,) where they go; the last is of all others
    const uint8_t *type        # (names + 1,)
    const uint16_t *lower      # (65536,) of TOKENS, see lower_words.pxd
    const uint8_t *space_char  # (spaces,)
    const uint32_t *space_hash
    uint32_t *space_name       # (spaces, 2) where names stand in the text, if they are kept
    uint8_t *met               # (names + 1,) set to 1 where a line has such a member


cdef inline int plain(ObjectReader *objects, const Value *value, const char **start, size_t *length) noexcept nogil:
    """The text of a string or a literal."""
    cdef Py_ssize_t size
    start[0], length[0] = value.start, <size_t>(value.end - value.start)
    if reserve(&objects.scratch, length[0]) != OK:
        return NO_MEMORY
    if value.escaped:
        size = unescape_json(value, objects.scratch.plain)
        if size < 0:
            return BAD_JSON
        start[0], length[0] = objects.scratch.plain, <size_t>size
    return OK


cdef inline int hash_key(ObjectReader *objects, const Value *key, uint32_t seed, uint32_t *span, uint32_t *hash) noexcept nogil:
    """The hash of a name; unless ``span`` is NULL it is kept."""
    cdef const char *start
    cdef size_t length
    cdef int status = plain(objects, key, &start, &length)
    if status == OK:
        hash[0] = hash_written(&objects.scratch, start, length, seed, objects.reader.hash_all, False, objects.reader.powers, span)
    return status


cdef inline int find_place(ObjectReader *objects, Member *member) noexcept nogil:
    """Where the key goes, and its hash there."""
    cdef const char *start
    cdef size_t length, size, i, low = 0, high = objects.names
    cdef int status = plain(objects, &member.key, &start, &length)
    cdef int order
    if status != OK:
        return status
    while low < high:
        i = (low + high) // 2
        size = <size_t>(objects.start[i + 1] - objects.start[i])
        order = memcmp(start, objects.text + objects.start[i], length) if length == size else 1 if length > size else -1
        if order == 0:
            break
        low, high = (i + 1, high) if order > 0 else (low, i)
    else:
        i = objects.names
    objects.met[i] = 1
    member.place, member.type, member.named, member.hash = objects.place[i], objects.type[i], i < objects.names, 0
    if member.place >= FIRST_SPACE:
        status = hash_key(objects, &member.key, objects.space_hash[member.place - FIRST_SPACE], NULL, &member.hash)
    member.known, member.length = member.key.start, <size_t>(member.key.end - member.key.start)
    return status


cdef inline int read_members(ObjectReader *objects, const char *p, const char *end, size_t *count, const char **at) noexcept nogil:
    """The members of the object at ``p``."""
    cdef Member *member
    cdef const char *stop
    cdef void *larger
    cdef size_t length
    cdef int status
    count[0] = 0
    at[0] = p
    if p[0] != 123:
        return BAD_JSON
    p = skip_space(p + 1, end)
    if p < end and p[0] == 125:
        p += 1
    else:
        while True:
            if count[0] == objects.room:
                larger = realloc(objects.members, (2 * objects.room + 64) * sizeof(Member))
                if larger == NULL:
                    return NO_MEMORY
                objects.members = <Member *>larger
                memset(objects.members + objects.room, 0, (objects.room + 64) * sizeof(Member))
                objects.room = 2 * objects.room + 64
            member = objects.members + count[0]
            at[0] = p
            stop = read_key(p, end, &member.key)
            if stop == NULL:
                return BAD_JSON
            at[0] = stop
            p = read_json(stop, end, &member.value)
            if p == NULL:
                return BAD_JSON
            length = <size_t>(member.key.end - member.key.start)
            if member.known == NULL or length != member.length or memcmp(member.known, member.key.start, length) != 0:
                status = find_place(objects, member)
                if status != OK:
                    member.known = NULL
                    return status
            count[0] += 1
            p = skip_space(p, end)
            at[0] = p
            if p >= end or (p[0] != 44 and p[0] != 125):
                return BAD_JSON
            p = skip_space(p + 1, end)
            if at[0][0] == 125:
                break
    at[0] = p
    return OK if skip_space(p, end) == end else BAD_JSON
