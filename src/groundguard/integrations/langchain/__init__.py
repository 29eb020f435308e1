"""LangChain: a guarded chain that is a Runnable itself, and what its retrievers report."""

from groundguard.integrations.langchain.retrievers import observed_retrievers
from groundguard.integrations.langchain.runnable import GuardedRunnable, guard_runnable

__all__ = ["GuardedRunnable", "guard_runnable", "observed_retrievers"]
