"""From a program to a file of a language."""
