"""frontmatter."""
