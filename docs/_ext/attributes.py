"""Gives the list of a class's attributes its usual title; Sphinx's is 'Variables'."""

from sphinx.domains.python import PyObject


def setup(app):
    for field in PyObject.doc_field_types:
        if field.name == 'variable':
            field.label = 'Attributes'
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
