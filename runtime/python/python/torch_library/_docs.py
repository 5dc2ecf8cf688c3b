"""What the declarations of operators say, which the package has in a file beside this one."""

_docs = None


def of(name):
    """The text for an operator, `aten::add.Tensor`, or for all of its overloads, `aten::add`."""
    global _docs
    if _docs is None:
        import json
        from pathlib import Path

        path = Path(__file__).with_name("docs.json")
        _docs = json.loads(path.read_text("utf-8")) if path.exists() else {}
    if name in _docs:
        return _docs[name]
    return "\n\n".join(text for key, text in _docs.items() if key.startswith(name + "."))
