"""What a command line names: manifests, and instances of protocols."""
