"""Adapters: one module an adapter; its name is the name in an agent's file."""
