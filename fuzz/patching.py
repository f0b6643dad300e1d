"""Inputs that are changes to a valid file: a mutation gets past the magic bytes and the sizes.

A patch is a row of changes: where (2 bytes), how many bytes go (1), how many come (1), these. An
input that ends inside a change is padded with zeros; no bytes at all change nothing.
"""

_HEAD = 4
MOST_CHANGES = 16


def patched(content: bytes, patch: bytes) -> bytes:
    """The content with the patch's changes applied, one after the other."""
    for _ in range(MOST_CHANGES):
        if not patch:
            break
        head, patch = patch[:_HEAD].ljust(_HEAD, b"\0"), patch[_HEAD:]
        at = int.from_bytes(head[:2], "big") % (len(content) + 1)
        new, patch = patch[: head[3]], patch[head[3] :]
        content = content[:at] + new + content[at + head[2] :]
    return content


def change(at: int, removed: int, new: bytes) -> bytes:
    """One change as bytes."""
    return at.to_bytes(2, "big") + bytes((removed, len(new))) + new
