"""What the guard does with a status. Policies are values; all but `Return` act on whatever isn't answered.

`Return`, `Raise` and `Replace` settle what is delivered. `Regenerate` and `Prune` first have another text judged, and
then hand on to the policy `then`.
"""

from groundguard.policy.base import NOT_ANSWERED, Policy, Revision, as_policy
from groundguard.policy.feedback import Feedback
from groundguard.policy.prune import Prune
from groundguard.policy.regenerate import Regenerate
from groundguard.policy.settling import Raise, Replace, Return

__all__ = [
    "NOT_ANSWERED",
    "Feedback",
    "Policy",
    "Prune",
    "Raise",
    "Regenerate",
    "Replace",
    "Return",
    "Revision",
    "as_policy",
]
