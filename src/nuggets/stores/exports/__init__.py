"""The documented files, `<name>.nugget.json` and `graph/graph.json`, as exports of the database,
and the edits that people and other programs make to them."""
