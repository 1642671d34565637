"""Tests of `tracert.models`."""
