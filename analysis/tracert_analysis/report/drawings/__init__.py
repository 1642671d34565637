"""Drawings of a report: each as lines of characters, and as a figure of shapes."""
