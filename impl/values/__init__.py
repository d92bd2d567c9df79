"""What several roles hand to each other: messages, versions, levels, and the ports that they share."""
