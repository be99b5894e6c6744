from collections.abc import Sequence

from queues.node import Node
from queues.store import Memory, Store


class Rows:
    """A store in memory."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, bytes], bytes] = {}

    async def get_many(self, stage: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        return {key: self.rows[stage, key] for key in keys if (stage, key) in self.rows}

    async def append_many(self, stage: str, rows: Sequence[tuple[bytes, bytes]]) -> None:
        self.rows.update({(stage, key): value for key, value in rows})


async def test_by_default_every_result_is_kept_and_stays_fresh() -> None:
    store: Store = Rows()
    memory = Memory(store, str.encode, bytes.decode)
    calls: list[str] = []

    async def work(item: str) -> str:
        calls.append(item)
        return item.upper()

    for _ in range(2):
        node: Node[str, str] = Node("stage", work, key=str.encode, workers=1, memory=memory)
        assert await node("a") == "A"
    assert calls == ["a"]
    assert await store.get_many("stage", [b"a", b"b"]) == {b"a": b"A"}
    assert await store.get_many("other", [b"a"]) == {}
