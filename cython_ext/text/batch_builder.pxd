"""The output of a parser: pointers into the arrays of a workspace (shapes as in ``vwlite/data/batch.py``)."""

from libc.stdint cimport uint8_t, uint32_t

from text.murmur3 cimport HashQueue


cdef struct BatchBuilder:
    # one entry per row
    float *label               # NaN = unlabelled
    float *importance
    float *initial_prediction
    uint8_t *flags             # BLANK | TAGGED | SAVE
    uint32_t *line             # line number within the block
    uint32_t *tag_start        # byte offsets into the block
    uint32_t *tag_end
    uint32_t *row_namespace    # (rows + 1,) first segment of each row
    # one entry per segment: the features of one namespace block of a row
    uint8_t *namespace_char    # first byte of the namespace's name
    uint32_t *namespace_hash   # of the whole name
    uint32_t *namespace_start  # (segments + 1,) first feature of each segment
    uint32_t *namespace_name   # (segments, 2) byte offsets of the name's start and end; NULL unless names are kept
    # one entry per feature
    uint32_t *hash
    HashQueue queue            # names of features whose entries in hash are not computed yet
    float *value
    uint32_t *name             # (features, 4) byte offsets of the start and end of the name, then of the text value; or NULL
    uint8_t *name_kind         # (features, 2) NAMED to SPELLING, and the detail of an affix; or NULL
    # one entry per parse issue
    uint32_t *bad_line
    uint32_t *bad_at           # byte offset of the issue
    uint32_t *bad_from         # byte offset of the line's first bar; of the word, where the issue is in a label
    uint8_t *bad_code
    # entries used so far; `bad` counts on where the arrays of issues are full
    size_t rows, segments, features, bad, lines
    # capacities of the arrays
    size_t max_rows, max_segments, max_features, max_bad


cdef enum:             # flags of a row
    BLANK = 1          # a blank line
    TAGGED = 2         # it has a tag
    SAVE = 4           # a command to save the model
    SHARED = 8         # a shared line: its features are added to every line of its group
    INNER = 16         # a line of a group that is not the group's last


cdef enum:             # values of namespace_char for segments without a namespace name
    ANONYMOUS_CHAR = 32
    AFFIX_CHAR = 132
    SPELLING_CHAR = 133


cdef enum:             # how a feature was named
    NAMED = 0
    ANONYMOUS = 1      # without a name: numbered within its namespace block
    TEXT_VALUE = 2     # name:text
    AFFIX = 3          # a prefix or suffix of the name
    SPELLING = 4       # the classes of the name's characters
