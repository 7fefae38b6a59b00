"""What runs in cpersona's own virtual environment: the standard library, NumPy and cpersona."""
