"""The shelf over HTTP: one table of operations, the OpenAPI document made from it, live events."""
