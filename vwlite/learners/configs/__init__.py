"""Options of learners, one file a learner: plain data, so that ``--help`` shows them without NumPy and kernels."""
