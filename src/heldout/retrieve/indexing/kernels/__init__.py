"""The compiled loops of the index builder.

A term is a range of bytes. Arrays come in small named tuples, always of the same types, so that
each loop is compiled once.
"""
