"""What the server tells an agent: its instructions and the description of each tool."""

from __future__ import annotations

INSTRUCTIONS = """\
Long-term memory that outlives this conversation. Call `recall` before you answer anything that may
depend on earlier sessions (people, preferences, decisions, promises, dates, identifiers). Call
`store` when you learn something worth knowing next time. A row of `recall` shows the start of a
long memory; `get_contents` returns the whole text. English and Japanese both work."""

STORE = """\
Remember one thing beyond this conversation.

Store one self-contained fact, decision, preference, promise or message per call. Write names, not
"he" or "that", and dates, not "tomorrow", so that it still makes sense when it is found alone. Give
`source.name` (who said it) and `timestamp` (when) whenever you know them: both help to find it and
to judge it later. When a fact changes, store the new one with its date; the old one stays.

`result` is one of
- `stored`: kept; `ref` names it. `warnings` may name something that was not as it should be.
- `skipped`: it was there already; `ref` names the memory that holds it, `reason` says why.
- `rejected`: nothing was kept; `reason` and `detail` say what to change."""

RECALL = """\
Search this agent's long-term memory and return the memories that best match `query`, best first
(`order` is always `best_first`).

Use it before answering anything that may depend on earlier sessions. Ask one question per call, in
plain words; call again with other words when the answer is not there.

A row has `ref`, `content`, `source`, `timestamp` (when it was said, as it was given) and `id`.
{preview}
The best matches are returned even when nothing matches well, so read them critically: a row may be
about something else, or may have been overtaken by a later one (compare `timestamp`).
When you know when it was, say so in `time_cue`: rows of that time come first, and no row is
shut out. `period`, when present, is the time that was searched first (`from`, `to`, and the
`words` of the query that named it). A row with `admission` was added after the `limit` best ones,
for what one kind of evidence alone found (`reservation`) or for the period (`time_cue`).
`degraded`, when present, names what this search had to do without; then rows may be missing."""

CUT_PREVIEW = """\
`content` is cut to its first {chars} characters. Only a cut row carries `content_truncated: true`
and `content_len`, its full length: pass its `ref` to `get_contents` before you rely on details."""

WHOLE_PREVIEW = "`content` is always the whole text."

GET_CONTENTS = """\
Return the whole text of memories by `ref`, at most 20 in one call.

Use it for rows of `recall` that carry `content_truncated: true`, or for refs noted down earlier. A
part of a long memory can be asked for by a character span; exactly that part is returned, or it is
listed in `unresolved` with the reason.

Rows come in the order asked for. Refs that do not exist, are malformed, or lie outside what
`agent_id`, `project_id` and `channel` may see are listed in `missing`; they never fail the rest."""


def recall_description(preview_chars: int) -> str:
    """Describe ``recall`` as it behaves with this preview size; 0 = content is never cut."""
    preview = CUT_PREVIEW.format(chars=preview_chars) if preview_chars else WHOLE_PREVIEW
    return RECALL.format(preview=preview)
