"""The parallel schemes, one file each, and what they share: workers and stoppers."""
