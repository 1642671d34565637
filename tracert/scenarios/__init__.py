"""Workloads that provoke a fault."""
