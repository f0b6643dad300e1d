"""Raw against release: how much a release is worth.

This package sees both, so its numbers are exact facts about people and protected by nothing. All
that it writes is marked INTERNAL (`internal`), and a bundle that holds such a file is refused.
`docs/measures.md` defines every measure.
"""
