"""What passes between the API process and the engine process."""
