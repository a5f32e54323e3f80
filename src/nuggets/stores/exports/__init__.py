"""The documented files `<name>.nugget.json` and `graph/graph.json`.

They are exports of the database; external edits of them are imported.
"""
