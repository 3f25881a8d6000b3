"""The definitions of the catalogue's formats, written from their sources a second time."""
