"""Entity resolution: the names a chat uses become the names that the ledger knows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ledger_cli.memory.acceptable import fault_of
from ledger_cli.memory.extraction import FoundEntity, KnownEntity
from ledger_cli.memory.sameness import SAME_ENTITY, Vectors
from ledger_cli.memory.saying import said
from ledger_cli.model import canonical_name, entity_key


@dataclass
class Names:
    """The names of a chat, each with the name it goes by in the ledger.

    `kinds` are the kinds to state, by name: of entities that are new, or had none. `notes` say what was taken for what,
    and why.
    """

    kinds: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    _names: dict[str, str | None] = field(default_factory=dict)

    def of(self, name: str) -> str | None:
        """What a name goes by; None where it is no name."""
        key = entity_key(name)
        if key not in self._names:
            self._names[key] = None if fault_of("about", name) else canonical_name(name)
        return self._names[key]


def resolve(found: Iterable[FoundEntity], known: Mapping[str, KnownEntity], vectors: Vectors) -> Names:
    """Resolve the entities found, one after the other: the exact key, else the nearest of the same kind, else new.

    `known` is by key. A new entity is one that the later ones may be taken for. Raises LedgerError where the vectors
    cannot be had.
    """
    names = Names()
    found = list(found)
    of_kind: dict[str, list[str]] = {}
    for one in known.values():
        if one.kind is not None:
            of_kind.setdefault(one.kind, []).append(one.name)
    strangers = [e for e in found if entity_key(e.name) not in known and e.kind]
    for kind in sorted({e.kind for e in strangers if e.kind}):
        new = [e.name for e in strangers if e.kind == kind]
        vectors.learn(new, [*of_kind.get(canonical_name(kind), ()), *map(canonical_name, new)])
    for entity in found:
        _add(names, entity, known, of_kind, vectors)
    names._names.update({key: one.name for key, one in known.items() if key not in names._names})
    return names


def _add(
    names: Names,
    entity: FoundEntity,
    known: Mapping[str, KnownEntity],
    of_kind: dict[str, list[str]],
    vectors: Vectors,
) -> None:
    key, kind = entity_key(entity.name), canonical_name(entity.kind or "")
    if why := fault_of("about", entity.name):
        names.notes.append(f"entity {said(entity.name)} is left out: {why}")
        return
    if kind and (why := fault_of("kind", kind)):
        names.notes.append(f"the kind of {said(entity.name)} is left out: {why}")
        kind = ""
    if key in names._names:
        stated = names.kinds.get(names._names[key] or "")
        if kind and stated is not None and stated != kind:
            names.notes.append(f"{said(entity.name)} is a {said(stated)} here; it is also called a {said(kind)}")
        return
    if (own := known.get(key)) is not None:
        names._names[key] = own.name
        if own.kind is None and kind:
            names.kinds[own.name] = kind
        elif kind and own.kind != kind:
            names.notes.append(f"{said(own.name)} stays a {said(own.kind or '')}; it is called a {said(kind)} here")
        return
    near = [(vectors.cosine(entity.name, name), name) for name in of_kind.get(kind, ())] if kind else []
    best = max(near, key=lambda one: (one[0], one[1]), default=(0.0, ""))
    if best[0] >= SAME_ENTITY:
        names._names[key] = best[1]
        names.notes.append(
            f"{said(entity.name)} is taken for {said(best[1])}: the nearest {said(kind)} (cosine {best[0]:.2f}, "
            f"at least {SAME_ENTITY})"
        )
        return
    name = canonical_name(entity.name)
    names._names[key] = name
    if kind:
        names.kinds[name] = kind
        of_kind.setdefault(kind, []).append(name)
