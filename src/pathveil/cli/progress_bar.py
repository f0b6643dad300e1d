"""A bar with the time left; imported only when there is a terminal to show it on."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from math import ceil

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn
from rich.text import Text


class TimeLeft(ProgressColumn):
    """What the rest takes if it goes on as it did so far; nothing before something is done.

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


@contextmanager
def shown_bar(
    console: Console, description: str, total: float | None
) -> Iterator[Callable[[float], None]]:
    """See `pathveil.cli.console.progress`."""
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TimeLeft(),
        console=console,
        transient=True,
    )
    with bar:
        # Without a total the bar moves to and fro.
        task = bar.add_task(description, total=None, due=None)

        def tell(done: float) -> None:
            elapsed = bar.tasks[0].elapsed
            if total is not None and done > 0 and elapsed is not None:
                bar.update(task, total=total, completed=done, due=elapsed * total / done)

        yield tell
