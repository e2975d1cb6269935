"""What other memory programs store, read into the lines of an import: one pure reader for each."""
