"""One file per language: a table of spellings and a template."""
