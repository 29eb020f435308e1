"""The embedded default: documents, chunks, a BM25 retriever, a generator that quotes. No key, no network."""

from groundguard.quickstart.chunks import split
from groundguard.quickstart.documents import SAMPLES, Document, read_documents
from groundguard.quickstart.generator import ExtractiveGenerator, ModelGenerator
from groundguard.quickstart.retriever import BM25Retriever

__all__ = [
    "SAMPLES",
    "BM25Retriever",
    "Document",
    "ExtractiveGenerator",
    "ModelGenerator",
    "read_documents",
    "split",
]
