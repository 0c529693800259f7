"""What is said between a chat agent and its model: code blocks one way, failures the other."""
