"""The way to a model: its endpoint, the server of our own, and the record of its responses."""
