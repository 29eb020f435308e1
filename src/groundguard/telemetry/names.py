"""Every name that leaves the process, in one place.

Three vocabularies: the GenAI conventions of OpenTelemetry (`gen_ai.*`), those of OpenInference (`openinference.*`,
`input.*`, `output.*`, `llm.*`, `retrieval.*`, `evaluations.*`), and our own (`groundguard.*`, and the metrics `rag.*`).
"""

from __future__ import annotations

INSTRUMENTATION = "groundguard"

# Spans.
SPAN_QUERY = "invoke_workflow groundguard"
SPAN_STAGES = {
    "retrieval": "retrieval groundguard",
    "generation": "groundguard generate",
    "judge": "groundguard check",
}
SPAN_CHAT = "chat"  # then the model's name
SPAN_ASK = "groundguard ask"  # then the function's name

# Attributes of the GenAI and OpenInference conventions.
KIND = "openinference.span.kind"
OPERATION = "gen_ai.operation.name"
WORKFLOW = "gen_ai.workflow.name"
CONVERSATION = "gen_ai.conversation.id"
SESSION = "session.id"
USER = "user.id"
ERROR_TYPE = "error.type"

PROVIDER = "gen_ai.provider.name"
REQUEST_MODEL = "gen_ai.request.model"
RESPONSE_MODEL = "gen_ai.response.model"
FINISH_REASONS = "gen_ai.response.finish_reasons"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
TOKEN_TYPE = "gen_ai.token.type"  # noqa: S105  # no secret
SETTINGS = {
    "temperature": "gen_ai.request.temperature",
    "top_p": "gen_ai.request.top_p",
    "max_tokens": "gen_ai.request.max_tokens",
    "max_completion_tokens": "gen_ai.request.max_tokens",
    "seed": "gen_ai.request.seed",
}
LLM_MODEL = "llm.model_name"
LLM_PROVIDER = "llm.provider"
LLM_INPUT_TOKENS = "llm.token_count.prompt"
LLM_OUTPUT_TOKENS = "llm.token_count.completion"
LLM_TOTAL_TOKENS = "llm.token_count.total"

SYSTEM_INSTRUCTIONS = "gen_ai.system_instructions"
INPUT_MESSAGES = "gen_ai.input.messages"
OUTPUT_MESSAGES = "gen_ai.output.messages"
LLM_INPUT_MESSAGE = "llm.input_messages.{index}.message.{part}"
LLM_OUTPUT_MESSAGE = "llm.output_messages.{index}.message.{part}"
INPUT_VALUE, INPUT_MIME = "input.value", "input.mime_type"
OUTPUT_VALUE, OUTPUT_MIME = "output.value", "output.mime_type"
PLAIN, JSON = "text/plain", "application/json"
QUERY_TEXT = "gen_ai.retrieval.query.text"
DOCUMENTS = "gen_ai.retrieval.documents"
DOCUMENT = "retrieval.documents.{index}.document.{part}"

EVALUATION = "evaluations.0.evaluation.{part}"
EVALUATION_NAME = "gen_ai.evaluation.name"
EVALUATION_SCORE = "gen_ai.evaluation.score.value"
EVALUATION_LABEL = "gen_ai.evaluation.score.label"
EVALUATION_EXPLANATION = "gen_ai.evaluation.explanation"
GROUNDEDNESS = "groundedness"

STAGE_ATTRIBUTES = {
    "query": {KIND: "CHAIN", OPERATION: "invoke_workflow", WORKFLOW: INSTRUMENTATION},
    "retrieval": {KIND: "RETRIEVER", OPERATION: "retrieval"},
    "generation": {KIND: "CHAIN"},
    "judge": {KIND: "GUARDRAIL", "groundguard.role": "judge"},
    "chat": {KIND: "LLM", OPERATION: "chat", "groundguard.role": "judge"},
    "ask": {KIND: "CHAIN", "groundguard.role": "judge"},
}

# Attributes of our own.
ROLE = "groundguard.role"
JUDGING = "judge"
STATUS = "groundguard.status"
REASON = "groundguard.reason"
POLICY = "groundguard.policy"
VERSION = "groundguard.version"
VERDICT = "groundguard.verdict"
SCORE = "groundguard.score"
JUDGE = "groundguard.judge"
FINGERPRINT = "groundguard.judge.fingerprint"
JUDGE_CALLS = "groundguard.judge.calls"
PROMPT_VERSION = "groundguard.prompt.version"
PROMPT_DIGEST = "groundguard.prompt.digest"
CLAIMS = "groundguard.claims.total"
CLAIMS_UNSUPPORTED = "groundguard.claims.unsupported"
CLAIMS_UNKNOWN = "groundguard.claims.unknown"
VOTES_YES = "groundguard.votes.yes"
VOTES_NO = "groundguard.votes.no"
EVIDENCE_COUNT = "groundguard.evidence.count"
EVIDENCE_DIGEST = "groundguard.evidence.digest"
EVIDENCE_FROM = "groundguard.evidence.from"
RAW = "groundguard.verdict.raw"
RETRIES = "groundguard.retries"
GIVEN_UP = "groundguard.given_up"
CUT = "groundguard.content.cut"
CUT_LENGTH = "groundguard.content.characters"

# Events of a span.
ATTEMPT_FAILED = "groundguard.attempt_failed"
ATTEMPT = "groundguard.attempt"

# Log events.
EVENT_EVALUATION = "gen_ai.evaluation.result"
EVENT_CHAT = "gen_ai.client.inference.operation.details"

# Metrics: counters.
QUERIES = "rag.queries"
JUDGE_FAILURES = "rag.faithfulness.judge_failures"
COUNTERS = {
    QUERIES: ("{query}", "Guarded queries by status"),
    JUDGE_FAILURES: ("{query}", "Responses whose judge could not say, by reason"),
}

# Metrics: histograms, with the buckets of the GenAI conventions.
QUERY_DURATION = "rag.query.duration"
RETRIEVAL_DURATION = "rag.retrieval.duration"
GENERATION_DURATION = "rag.generation.duration"
JUDGE_DURATION = "rag.faithfulness.judge.duration"
CHAT_DURATION = "gen_ai.client.operation.duration"
CHAT_TOKENS = "gen_ai.client.token.usage"
SECONDS_BUCKETS = tuple(0.01 * 2**power for power in range(14))
TOKENS_BUCKETS = tuple(float(4**power) for power in range(14))
HISTOGRAMS = {
    QUERY_DURATION: ("s", "The whole query, by status", SECONDS_BUCKETS),
    RETRIEVAL_DURATION: ("s", "The guard's own retriever", SECONDS_BUCKETS),
    GENERATION_DURATION: ("s", "The generator, or the wrapped chain", SECONDS_BUCKETS),
    JUDGE_DURATION: ("s", "The judgement, all its calls and waits", SECONDS_BUCKETS),
    CHAT_DURATION: ("s", "GenAI operation duration", SECONDS_BUCKETS),
    CHAT_TOKENS: ("{token}", "Number of input and output tokens used", TOKENS_BUCKETS),
}
STATUS_LABEL, REASON_LABEL = "status", "reason"
OTHER = "_OTHER"

# The log.
LOGGER = "groundguard"
EVENT = "groundguard.response"

# The environment.
CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
HIDE = "OPENINFERENCE_HIDE_"
