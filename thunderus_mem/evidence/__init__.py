"""Where a memory comes from and whether it is still true."""
