"""Which tools an agent is offered: a few, because their descriptions fill every conversation, or
all with `nuggets mcp --tools all`."""

from nuggets.interfaces.mcp import maintenance_tools, read_tools, write_tools

ONLY_IF_ALL = ("list_notes", "merge_notes", "undo", "promote")

_TOOLS = (
    *read_tools.TOOLS,
    *maintenance_tools.SESSION_TOOLS,
    *write_tools.TOOLS,
    *maintenance_tools.TOOLS,
)
FEW_TOOLS = tuple(tool for tool in _TOOLS if tool.name not in ONLY_IF_ALL)
ALL_TOOLS = (*FEW_TOOLS, *(tool for tool in _TOOLS if tool.name in ONLY_IF_ALL))
