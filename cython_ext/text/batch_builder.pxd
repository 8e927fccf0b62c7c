"""What a parser fills: raw pointers into the arrays of a workspace (shapes as in ``vwlite/data/batch.py``)."""

from libc.stdint cimport int32_t, uint8_t, uint32_t

from text.batched_hash cimport Names


cdef struct BatchBuilder:
    # one entry per row
    float *label          # NaN = unlabelled
    float *importance
    float *base           # initial prediction
    uint8_t *flags        # BLANK | TAGGED | SAVE
    uint32_t *line        # line number within the block
    uint32_t *tag_start   # byte offsets into the block
    uint32_t *tag_end
    uint32_t *row_namespace     # (rows + 1,)
    # one entry per segment
    uint8_t *namespace_char
    uint32_t *namespace_hash
    uint32_t *namespace_start   # (segments + 1,)
    uint32_t *namespace_name    # (2, segments) first and last byte of the namespace's name; NULL without names
    # one entry per feature
    uint32_t *hash
    Names names           # of features whose hashes are still to come
    float *value
    uint32_t *name        # (features, 4) start, end, text value's start, end; NULL without names
    uint8_t *kind         # (features, 2) kind and detail; NULL without names
    # one entry per malformed line or remark
    uint32_t *bad_line
    uint32_t *bad_at      # byte offset of the trouble
    uint32_t *bad_from    # byte offset of the line's first bar (of the word, in a label)
    uint8_t *bad_code
    # how many there are, and room for
    size_t rows, segments, features, bad, lines
    size_t max_rows, max_segments, max_features, max_bad


cdef enum:
    BLANK = 1
    TAGGED = 2
    SAVE = 4
    SHARED = 8         # a line whose features every line of its group has
    INNER = 16         # a line of a group, but not the last


cdef enum:             # namespace characters that no name can have
    ANONYMOUS_CHAR = 32
    AFFIX_CHAR = 132
    SPELLING_CHAR = 133


cdef enum:
    NAMED = 0
    ANONYMOUS = 1
    TEXT_VALUE = 2
    AFFIX = 3
    SPELLING = 4
