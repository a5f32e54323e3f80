"""The shelf for agents, over the Model Context Protocol: tools, resources, prompts."""
