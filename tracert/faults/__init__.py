"""Planted bugs: each wraps public methods of an assembled engine."""
