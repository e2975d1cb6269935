"""What is remembered: written, found, kept clean."""
