"""What Python does with the sums of ``learners/class_means.pxd``."""

from learners.class_means cimport ClassMeans, bring_up, mean_weight, open_class_means, sums_now


def read_means(source, size_t width, size_t begin, float[::1] out):
    """Fill ``out``, float32[rows * width], with the means of a ``ClassMeans`` from row ``begin``."""
    cdef ClassMeans means = open_class_means(source, source.last.shape[0], source.number.shape[0])
    cdef size_t row, c, rows = out.shape[0] // width
    if (begin + rows) * width > <size_t>source.last.shape[0]:
        raise ValueError("rows beyond the table")
    for row in range(begin, begin + rows):
        for c in range(width):
            out[(row - begin) * width + c] = mean_weight(&means, sums_now(&means, row, width), row * width + c, c)


def bring_up_rows(source, size_t width):
    """Move all sums of a ``ClassMeans`` on to the present mean, as a model has them."""
    cdef ClassMeans means = open_class_means(source, source.last.shape[0], source.number.shape[0])
    cdef size_t row
    for row in range(<size_t>source.number.shape[0]):
        if means.number[row] != 0 and means.number[row] != means.counts.number:
            bring_up(&means, row, width)
