"""Programs that noforgetti serves: what their configuration says of us, and how it is written and taken back."""
