"""What makes two verdicts the same: the cache key of the stage `judge`."""

from cache.digests import digest
from fetchers.page import Page
from judges.records.by_rules import RULES_VERSION
from judges.records.record import Record
from judges.records.spec import JudgeSpec


def verdict_key(spec: JudgeSpec, record: Record, page: Page, *judge: object) -> bytes:
    """The key of the verdict on a record: a digest of everything that can change it.

    `judge` are the identity, the effort and the prompt version of a model; empty for `rules`. The
    version of the rules and of the comparison of excerpts is always part of the key, because their
    results bind a model too. The names of run, rollout and task are not part of it.
    """
    return digest(
        *judge,
        RULES_VERSION,
        spec.digest,
        record.url,
        record.item,
        record.answer,
        record.excerpts,
        page.state,
        page.reason,
        page.final_url,
        page.text,
    )
