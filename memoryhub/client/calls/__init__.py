"""Every verb of the REST API as a function that makes its call; named like its operation, and like its service."""
