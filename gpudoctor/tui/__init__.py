"""The dashboard: `gpudoctor monitor`. Textual is imported only here, and only by `app`, `screens` and `widgets`."""
