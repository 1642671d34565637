"""An LLM serving runtime with a black box, and the forensics that read it."""
