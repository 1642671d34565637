"""What holds for every test."""

import os

from hypothesis import settings

# Continuous integration tries the same examples every time: what it refuses, it refuses again.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("here", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "here")
