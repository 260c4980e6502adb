"""Other products' memories as values. Readers only: what becomes of them is `service.importing`'s to say."""
