"""A local web page over a release: it sees bundles only.

::

    opening ──► indexed_release ──► answering (overview, counting, …) ──► routes ──► web ──► server
                (indexes, once)     (one file for each view)              (the API)

`routes` is the one list of the API: the web application, the OpenAPI description and the tests
are made from it. The pages are plain files in ``static``.
"""
