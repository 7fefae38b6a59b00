"""What the exits return for the questions of benchmarks: evidence and answers against payload."""
