"""Every name that leaves the process, in one place."""

INSTRUMENTATION = "groundguard"

# Spans.
SPAN_QUERY = "invoke_workflow groundguard"
SPAN_STAGES = {
    "retrieval": "retrieval groundguard",
    "generation": "groundguard generate",
    "judge": "groundguard check",
}

# Attributes of the GenAI and OpenInference conventions.
KIND = "openinference.span.kind"
OPERATION = "gen_ai.operation.name"
ERROR_TYPE = "error.type"
STAGE_ATTRIBUTES = {
    "query": {KIND: "CHAIN", OPERATION: "invoke_workflow"},
    "retrieval": {KIND: "RETRIEVER", OPERATION: "retrieval"},
    "generation": {KIND: "CHAIN"},
    "judge": {KIND: "GUARDRAIL"},
}

# Attributes of our own.
STATUS = "groundguard.status"
REASON = "groundguard.reason"
VERSION = "groundguard.version"
VERDICT = "groundguard.verdict"
SCORE = "groundguard.score"
JUDGE = "groundguard.judge"
JUDGE_CALLS = "groundguard.judge.calls"
EVIDENCE_COUNT = "groundguard.evidence.count"
EVIDENCE_DIGEST = "groundguard.evidence.digest"
EVIDENCE_FROM = "groundguard.evidence.from"
GIVEN_UP = "groundguard.given_up"

# Metrics.
QUERIES = "rag.queries"
JUDGE_FAILURES = "rag.faithfulness.judge_failures"

# The log.
LOGGER = "groundguard"
EVENT = "groundguard.response"
