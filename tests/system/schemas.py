"""A published JSON Schema that documents are held to: checked itself once, for that takes twenty times as long as a document."""

from __future__ import annotations

from typing import Any

from jsonschema import Draft202012Validator

from tests.system.command import Json


class Schema:
    """A schema as the command prints it, or what it says of one of its objects."""

    def __init__(self, document: Json) -> None:
        Draft202012Validator.check_schema(document)
        self._document = document
        self._validator: Any = Draft202012Validator(document)  # its types are only half known

    def validate(self, document: Json) -> None:
        """Raise where the document is none of this schema."""
        self._validator.validate(document)

    def of(self, name: str) -> Schema:
        """Return the schema of the objects of that name."""
        part = object.__new__(Schema)
        part._document = {"$defs": self._document["$defs"], "$ref": f"#/$defs/{name}"}
        part._validator = self._validator.evolve(schema=part._document)
        return part
