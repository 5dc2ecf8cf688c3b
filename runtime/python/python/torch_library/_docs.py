"""The documentation of operators, which the package has in a file next to this one."""

_docs = None


def of(name):
    """The documentation of an overload (`aten::add.Tensor`), or of all overloads of an operator (`aten::add`)."""
    global _docs
    if _docs is None:
        import json
        from pathlib import Path

        path = Path(__file__).with_name("docs.json")
        _docs = json.loads(path.read_text("utf-8")) if path.exists() else {}
    if name in _docs:
        return _docs[name]
    return "\n\n".join(text for key, text in _docs.items() if key.startswith(name + "."))
