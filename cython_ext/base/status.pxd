"""Status codes, which loops without the GIL return instead of raising. The messages of malformed lines are in
``vwlite/data/text_format.py``.
"""


cdef enum:
    OK = 0
    # why a line is malformed, in the order the parser can meet them
    BAD_LABEL_WORDS = 1
    BAD_LABEL_NUMBER = 2
    BAD_IMPORTANCE = 3
    NO_BAR = 4
    BAD_NAMESPACE_START = 5
    BAD_NAMESPACE_VALUE = 6
    NAN_NAMESPACE_VALUE = 7
    AFTER_FEATURE = 8
    AFTER_NAMESPACES = 9
    NAN_FEATURE_VALUE = 10
    NOT_FINITE = 11
    BAD_FEATURE = 12
    BAD_INDEX = 13
    EXPECTED_COLON = 14
    BAD_VALUE = 15
    BAD_FIELDS = 16
    OPEN_QUOTE = 17
    AFTER_QUOTE = 18
    BAD_CELL = 19
    BAD_TAG = 20
    BAD_LABEL_NAME = 21
    BAD_JSON = 22
    BAD_NESTING = 23
    BAD_EVENT = 24
    # a line that holds only a comment: it makes no row and is not malformed
    COMMENT = 99
    # results of a whole call
    FULL = 100          # the output arrays are too small
    NO_MEMORY = 101
    UNSTABLE = 102      # a prediction or an update is not a finite number
    TOO_MANY = 103      # a row makes more terms than MAX_TERMS of features/row_buffer.pxd
    STOPPED = 104       # a signal asked the run to stop; the example or group in progress was finished
    STOPPED_IN_GROUP = 105  # ... and some lines of a group have been learned, the rest have not
