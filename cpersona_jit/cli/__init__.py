"""The ``cpersona-jit`` command."""
