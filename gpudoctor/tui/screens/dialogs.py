"""What stands above a view for a moment: a page to read, a question, a choice, a line to type."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Resize
from textual.screen import ModalScreen
from textual.widgets import Input

from gpudoctor.tui.views.lines import Line, Span, fit, wrap
from gpudoctor.tui.widgets.panel import Panel

FAR = 1 << 30  # lines; drawing brings it back to the last page
Answer = TypeVar("Answer")
CLOSE = Binding("escape", "close", "close")


class Dialog(ModalScreen[Answer]):
    """A dialog that is forgotten when it is closed."""

    def on_unmount(self) -> None:
        """Let go of what was painted, see `Panel.on_unmount`."""
        self.refresh()


class Page(Dialog[None]):
    """Text to read and scroll."""

    BINDINGS: ClassVar[list[BindingType]] = [
        CLOSE,
        Binding("q,x,enter,question_mark,g", "close", "close", show=False),
        Binding("down,j", "scroll_page(1)", "down"),
        Binding("up,k", "scroll_page(-1)", "up"),
        Binding("pagedown,space", "scroll_page(10)", "page down"),
        Binding("pageup", "scroll_page(-10)", "page up"),
    ]

    def __init__(self, title: str, text: Callable[[int], Sequence[Line]], *, at_end: bool = False) -> None:
        super().__init__()
        self._title, self._text, self._scroll = title, text, FAR if at_end else 0

    def compose(self) -> ComposeResult:
        """Make the box."""
        yield Panel(classes="box page")

    def on_mount(self) -> None:
        """Put the title on the border."""
        panel = self.query_one(Panel)
        panel.border_title = self._title
        panel.border_subtitle = "Esc closes"
        self.call_after_refresh(self._draw)

    def on_resize(self, event: Resize) -> None:
        """Wrap for the new width."""
        del event
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        panel = self.query_one(Panel)
        width, height = panel.size
        lines = list(self._text(width))
        self._scroll = max(0, min(self._scroll, len(lines) - height))
        shown = lines[self._scroll : self._scroll + height]
        below = len(lines) - self._scroll - len(shown)
        if below > 0 and shown:
            shown[-1] = (Span(fit(f" {below + 1} more lines: down, PgDn", width), "dim"),)
        panel.show(shown)

    def action_scroll_page(self, step: int) -> None:
        """Scroll."""
        self._scroll = max(0, self._scroll + step)
        self._draw()

    def on_mouse_scroll_down(self) -> None:
        """Scroll down."""
        self.action_scroll_page(1)

    def on_mouse_scroll_up(self) -> None:
        """Scroll up."""
        self.action_scroll_page(-1)

    def action_close(self) -> None:
        """Go back."""
        self.dismiss(None)


class Confirm(Dialog[bool]):
    """A question that only `y` answers with yes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "yes"),
        Binding("n,escape,enter,q", "answer(False)", "no"),
    ]

    def __init__(self, question: str, consequence: str) -> None:
        super().__init__()
        self._question, self._consequence = question, consequence

    def compose(self) -> ComposeResult:
        """Make the box."""
        yield Panel(classes="box small")

    def on_mount(self) -> None:
        """Say what is asked."""
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        panel = self.query_one(Panel)
        width = panel.size.width
        lines: list[Line] = [(Span(line, "strong"),) for line in wrap(self._question, width)]
        lines += [(Span(line),) for line in wrap(self._consequence, width)]
        answers = (
            Span("y", "key", "screen.answer(True)"),
            Span(" yes   "),
            Span("n", "key", "screen.answer(False)"),
            Span(" no", "strong"),
            Span("  (Enter and Esc: no)", "dim"),
        )
        panel.styles.height = len(lines) + 4
        panel.show([*lines, (), answers])

    def action_answer(self, sure: bool) -> None:
        """Answer."""
        self.dismiss(sure)


class Choose(Dialog["str | None"]):
    """One of a few words."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", "close"),
        Binding("down,j", "move(1)", "next"),
        Binding("up,k", "move(-1)", "last"),
        Binding("enter", "take", "take it"),
    ]

    def __init__(self, question: str, choices: Sequence[str] | Mapping[str, str]) -> None:
        """Make it; of a mapping the keys are chosen from, and the values say what they are."""
        super().__init__()
        self._question, self._choices, self._at = question, tuple(choices), 0
        self._notes: Mapping[str, str] = choices if isinstance(choices, Mapping) else {}
        self._column = max(map(len, self._choices), default=0)

    def compose(self) -> ComposeResult:
        """Make the box."""
        yield Panel(classes="box small")

    def on_mount(self) -> None:
        """Show the choices."""
        panel = self.query_one(Panel)
        panel.border_title = self._question
        panel.border_subtitle = "Enter takes, Esc closes"
        panel.styles.height = len(self._choices) + 2
        self._draw()

    def _draw(self) -> None:
        self.query_one(Panel).show(
            [
                (
                    Span(
                        f"{'>' if at == self._at else ' '} {each if not self._notes else each.ljust(self._column)} ",
                        "chosen" if at == self._at else "",
                        f"screen.pick({at})",
                    ),
                    Span(f" {self._notes.get(each, '')}", "dim", f"screen.pick({at})"),
                )
                for at, each in enumerate(self._choices)
            ]
        )

    def action_move(self, step: int) -> None:
        """Move."""
        self._at = (self._at + step) % len(self._choices)
        self._draw()

    def action_pick(self, at: int) -> None:
        """Take the one that was clicked."""
        self.dismiss(self._choices[at])

    def action_take(self) -> None:
        """Take the one under the cursor."""
        self.dismiss(self._choices[self._at])

    def action_close(self) -> None:
        """Take none."""
        self.dismiss(None)


class _Box(Vertical):
    """A box with other widgets in it."""

    def on_unmount(self) -> None:
        """Let go of what was painted, see `Panel.on_unmount`."""
        self.refresh()


class _Line(Input):
    """A line to type."""

    def on_unmount(self) -> None:
        """Let go of what was painted, see `Panel.on_unmount`."""
        self.refresh()


class Ask(Dialog["str | None"]):
    """A line to type; Enter takes it, Esc leaves things as they were."""

    BINDINGS: ClassVar[list[BindingType]] = [CLOSE]

    def __init__(self, question: str, text: str = "") -> None:
        super().__init__()
        self._question, self._given = question, text

    def compose(self) -> ComposeResult:
        """Make the box."""
        with _Box(classes="box small") as box:
            box.border_title = self._question
            yield _Line(value=self._given, placeholder="pid, user or part of the command; empty shows all")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take the line."""
        self.dismiss(event.value.strip())

    def action_close(self) -> None:
        """Leave things as they were."""
        self.dismiss(None)
