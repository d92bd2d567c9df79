"""What has not changed is not judged again: verdicts are kept with the digest of all that they depend on."""
