"""Status codes: what a hot loop returns instead of raising. The sentences stand in ``vwlite/data/parse_errors.py``."""


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
    # of a line that is neither a row nor malformed
    COMMENT = 99
    # of a whole call
    FULL = 100
    NO_MEMORY = 101
    UNSTABLE = 102      # a prediction or an update is not a finite number
    TOO_MANY = 103      # a row makes more features than are handled
    STOPPED = 104       # a signal asks the run to stop; all that was begun has been done
    TORN = 105          # ... in the midst of a group of lines, some of which have been learned
