"""Three sets of colours: dark, light, and one of high contrast. Signs and words say the same without any of them."""

from __future__ import annotations

from textual.app import App
from textual.theme import Theme

NAMES = ("dark", "light", "contrast")

THEMES = (
    Theme(
        name="dark", dark=True, primary="#5fb3d9", secondary="#b48ead", accent="#e5c07b", success="#7fbf7f",
        warning="#e0a84c", error="#f07178", background="#14171c", surface="#1b1f26", panel="#232833",
        foreground="#d5dae3", variables={"track": "#3a4250", "dim": "#8b94a5", "head": "#232833"},
    ),
    Theme(
        name="light", dark=False, primary="#1f6f9f", secondary="#7a3e87", accent="#8a5a00", success="#23702f",
        warning="#955800", error="#b3202c", background="#fbfbf8", surface="#f1f1ec", panel="#e4e5df",
        foreground="#22262d", variables={"track": "#c4c8cc", "dim": "#5d6470", "head": "#e4e5df"},
    ),
    Theme(
        name="contrast", dark=True, primary="#00ffff", secondary="#ff9dff", accent="#ffff00", success="#00ff5f",
        warning="#ffd700", error="#ff6e6e", background="#000000", surface="#000000", panel="#1c1c1c",
        foreground="#ffffff", variables={"track": "#808080", "dim": "#d0d0d0", "head": "#303030"},
    ),
)  # fmt: skip


def register(app: App[int], name: str) -> None:
    """Make the themes known and use one."""
    for theme in THEMES:
        app.register_theme(theme)
    app.theme = name


def following(app: App[int]) -> None:
    """Use the next theme."""
    app.theme = NAMES[(NAMES.index(app.theme) + 1) % len(NAMES)] if app.theme in NAMES else NAMES[0]
