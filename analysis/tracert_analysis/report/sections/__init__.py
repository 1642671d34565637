"""What stands in each section of a report for people. Renderers lay it out; nothing here knows SQL."""
