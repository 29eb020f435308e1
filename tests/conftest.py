import pytest
from hypothesis import settings

from groundguard.errors import forget_warnings

settings.register_profile("ci", deadline=None, max_examples=60, database=None)
settings.load_profile("ci")


@pytest.fixture(autouse=True)
def _fresh_warnings():
    forget_warnings()
