"""Launching a search on many machines: a coordinator here, cluster nodes there, one file for each way to start them."""
