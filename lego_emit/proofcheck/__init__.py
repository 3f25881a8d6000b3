"""The independent checker of certificates: it reads an emitted text back and proves what its
certificate states, from the text and the layout alone.

It shares no code with what makes the text: the layout's definition comes from lego_emit.algebra
(the paper's figures, called with its own terms), and nothing else of the generator is imported.
"""
