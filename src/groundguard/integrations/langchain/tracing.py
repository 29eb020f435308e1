"""One traced run around a stream, as LangChain's own Runnables make one.

LangChain's helper for this adds up the pieces to tell its handlers a final output. Pieces and a response have no sum,
and with some pieces, such as whole messages, the attempt fails: so here the response alone is the output of the run.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import ExitStack, aclosing, closing, contextmanager
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import (
    ensure_config,
    get_async_callback_manager_for_config,
    get_callback_manager_for_config,
    patch_config,
    var_child_runnable_config,
)

from groundguard.contextual import holding


def traced(
    name: str, given: Any, config: RunnableConfig | None, begin: Callable[[RunnableConfig], Generator[Any]]
) -> Generator[Any]:
    """Yield what `begin` yields, as one run whose output is the last item.

    Args:
        name: Of the run, unless the config has another.
        given: The input.
        config: The caller's.
        begin: Gets the config for what runs inside.
    """
    own = ensure_config(config)
    run = get_callback_manager_for_config(own).on_chain_start(None, given, **_named(own, name))
    item: Any = None
    try:
        with ExitStack() as stack:
            items = stack.enter_context(closing(begin(patch_config(own, callbacks=run.get_child()))))
            tap = _tap(run, "tap_output_iter")
            for item in items if tap is None else stack.enter_context(closing(tap(run.run_id, items))):
                yield item
    except BaseException as error:
        run.on_chain_error(error)
        raise
    run.on_chain_end(item)


async def atraced(
    name: str, given: Any, config: RunnableConfig | None, begin: Callable[[RunnableConfig], AsyncGenerator[Any]]
) -> AsyncGenerator[Any]:
    """`traced` on the running event loop."""
    own = ensure_config(config)
    run = await get_async_callback_manager_for_config(own).on_chain_start(None, given, **_named(own, name))
    item: Any = None
    try:
        async with aclosing(begin(patch_config(own, callbacks=run.get_child()))) as items:
            tap = _tap(run, "tap_output_aiter")
            async with aclosing(items if tap is None else tap(run.run_id, items)) as tapped:
                async for item in tapped:
                    yield item
    except BaseException as error:
        await run.on_chain_error(error)
        raise
    await run.on_chain_end(item)


def _named(config: RunnableConfig, name: str) -> dict[str, Any]:
    return {"name": config.get("run_name") or name, "run_id": config.pop("run_id", None)}


def _tap(run: Any, method: str) -> Any:
    """How `astream_events` and `astream_log` hear the items; None if neither listens."""
    return next((getattr(handler, method) for handler in run.handlers if hasattr(handler, method)), None)


@contextmanager
def configured(config: RunnableConfig) -> Generator[None]:
    """Let Runnables that are called without a config take this one, as they do below any Runnable."""
    with holding(var_child_runnable_config, config):
        yield
