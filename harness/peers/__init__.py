"""The engine beside what a user would pick instead: same rows, vectors, queries, same run."""
