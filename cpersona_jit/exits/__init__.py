"""What leaves recall: quotes of rows, and memories put together from them."""
