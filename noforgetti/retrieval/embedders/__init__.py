"""Providers of embeddings. Each meets `retrieval.base.Embedder`, is loaded when made, fails with `EmbeddingError`.

What must be loaded (numpy aside) is imported when an embedder is made, never when its module is: which one is used is
decided by settings, and a command that embeds nothing pays nothing.
"""
