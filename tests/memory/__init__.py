"""Tests of tracert.memory."""
