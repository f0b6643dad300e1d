"""A bar with the time left; imported only when there is a terminal to show it on."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from math import ceil
from typing import Final, Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn
from rich.text import Text

_TELLS: Final = 0.02  # the share from which on it tells something about the rest


class TimeLeft(ProgressColumn):
    """What the rest takes if it goes on as it did so far; nothing before it tells something.

    Rich's own column looks at the last half minute only, and a long step (a level of a large
    tree) may tell nothing for longer than that.
    """

    def render(self, task: Task) -> Text:
        """The time until it is due, or dashes if it is late."""
        due, elapsed = task.fields["due"], task.elapsed
        if due is None or elapsed is None:
            return Text("")
        left = ceil(due - elapsed)
        words = "-:--:--" if left < 0 else str(timedelta(seconds=left))
        return Text(f"left {words}", style="progress.remaining")


class Tell(Protocol):
    """Hears how much is done, and of a step with stages which one is under way."""

    def __call__(self, done: float, stage: str = "") -> None:
        """So much is done."""
        ...


@contextmanager
def shown_bar(console: Console, description: str, total: float | None) -> Iterator[Tell]:
    """See `pathveil.cli.console.progress`."""
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TimeLeft(),
        TextColumn("{task.fields[stage]}"),
        console=console,
        transient=True,
    )
    with bar:
        # Without a total the bar moves to and fro.
        task = bar.add_task(description, total=None, due=None, stage="")
        most = 0.0

        def tell(done: float, stage: str = "") -> None:
            nonlocal most
            bar.update(task, stage=stage)
            elapsed = bar.tasks[0].elapsed
            # Who begins anew is not told of: a lost worker, or the next of Spark's own stages.
            if total is None or elapsed is None or done <= most:
                return
            most = done
            due = elapsed * total / done if done >= _TELLS * total else None
            bar.update(task, total=total, completed=done, due=due)

        yield tell
