"""What the server tells an agent: its instructions and the description of each tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cpersona_jit.server.settings import ServerSettings

INSTRUCTIONS = """\
Long-term memory that outlives this conversation. Call `recall` before you answer anything that may
depend on earlier sessions (people, preferences, decisions, promises, dates, identifiers). Call
`store` when you learn something worth knowing next time. A row of `recall` shows the start of a
long memory; `get_contents` returns the whole text. `reconstruct` puts rows that belong together
into one item and says which of them supersedes which. English and Japanese both work."""

STORE = """\
Remember one thing beyond this conversation.

Store one self-contained fact, decision, preference, promise or message per call. Write names, not
"he" or "that", and dates, not "tomorrow", so that it still makes sense when it is found alone. Give
`source.name` (who said it) and `timestamp` (when) whenever you know them: both help to find it and
to judge it later. When a fact changes, store the new one with its date; the old one stays, and
`metadata: {"supersedes": "mem:12"}` (the old one's `ref`) lets `reconstruct` say which holds. Use
`update` only for a row that was wrong.

`result` is one of
- `stored`: kept; `ref` names it. `warnings` may name something that was not as it should be;
  `nodes`, in how many parts a very long text was embedded.
- `skipped`: it was there already; `ref` names the memory that holds it, `reason` says why.
- `rejected`: nothing was kept; `reason` and `detail` say what to change."""

ARCHIVE_EPISODE = """\
Keep the summary of a span of time, for example of a finished conversation or of a week's work.

Write what was decided, promised and learned, with names and dates. `recall` finds it beside
memories; its `ref` begins with `ep:`. Memories of the same project and channel whose time falls
between `start` and `end` count as its parts. Store single facts with `store` all the same.

`result` is `stored`, `skipped` or `rejected`, as in `store`."""

UPDATE = """\
Replace the text of one memory or episode that was wrong; its time, speaker and `ref` stay.

The text that it had is never found again, but kept: `get_contents` with `history: true` lists it.
When something changed in the world, use `store` instead, with the new date.

`result` is
- `stored`: replaced;
- `skipped`: it says this already (`unchanged`), or another row does (`ref` names that one);
- `rejected`: nothing was changed; `not_found` for a `ref` that does not exist here, and for that of
  an earlier text (`detail` names the row that holds the current one)."""

RECALL = """\
Search this agent's long-term memory and return the memories that best match `query`, best first
(`order` is always `best_first`).

Use it before answering anything that may depend on earlier sessions. Ask one question per call, in
plain words; call again with other words when the answer is not there.

A row has `ref`, `content`, `source`, `timestamp` (when it was said, as it was given), `id` and
`confidence` (0 to 1; it compares the rows of one answer only).
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

EXCERPT = """
A cut row also has `excerpt`, the passages that match the query best in the order of the text (at
most {chars} characters; ' … ' where text was left out), and `excerpt_basis`: `blocks`, `lexical`
(chosen by shared words only) or `start` (no part stands out)."""

FULL_CONTENT = """
With `full_content: true` texts are whole, most relevant first, up to {chars} characters together;
`full_content_budget_chars` says that some were cut after all."""

WHOLE_PREVIEW = "`content` is always the whole text."

RECALL_WITH_CONTEXT = """\
Search this agent's long-term memory as `recall` does, and return the memories and the conversation
that you pass in as one list, oldest first (`order` is always `chronological`; the memories are
chosen as in `recall`, which lists them `best_first`).

Use it to read memories and the current conversation as one course of events. Memories that say
what an entry of the conversation says are left out. Entries come back with `role`, without `ref`,
and always cut like previews: you have their whole texts. Undated memories come first; an entry
without a time stands behind the one before it.

Rows of memories are those of `recall`: `ref`, `content`, `source`, `timestamp`, `id` and
`confidence`, which compares them inside one answer only.
{preview}
`period`, `admission` and `degraded` mean what they mean there."""

RECONSTRUCT = """\
Search this agent's long-term memory and return memories instead of rows: each item is put together
from the stored rows that belong together (versions of one message, an episode and what happened in
it, turns said in one breath, what a row refers to), and every claim names its row.

Use it when the answer may be spread over several rows, may have changed, or stands deep in a long
text. Use `recall` for a list of rows. {count}

An item has `content`, the passages of its best row (`head_ref`) that match the query (' … ' where
text was left out, `ranges` say where they stand); `excerpts` of its other claims; and `claims`,
newest first: `ref`, `as_of` (when it was said), `why` (what brought it in; none: it was found
itself) and `roles`: this claim `role` that `ref`, for example supersedes. Trust the claim that no
other one supersedes, also against `content`: the best row may be a superseded one.
`conflicts` lists claims that contradict each other.
`independence_reason` says what binds the item (none: a single row was found).
`expand` is a ready `refs` argument for `get_contents`: the next part to read. `excerpts_omitted`
claims are not quoted, `claims_omitted` not listed. Everything is quoted word for word.

`shortfall_reason` says why there are fewer items than asked for, `bounds` which limit left rows
out (`omitted`) or was only reached (`reached`), `effective_budget` that quotes were left out.
Nothing here says that an item suffices, that all of the memory was searched, or that
contradictions were looked for."""

GET_CONTENTS = """\
Return the whole text of memories by `ref`, at most 20 in one call.

Use it for rows of `recall` that carry `content_truncated: true`, or for refs noted down earlier. A
part of a long memory can be asked for by a character span or by its node (the parts of a text that
is longer than the embedder's window); exactly that part is returned, or it is listed in
`unresolved` with the reason. `history: true` adds the earlier texts of memories that were updated,
newest first (`history_omitted` counts those for which there was no room).
The ref of an earlier text returns that text, and `superseded_by` names the current memory.

Rows come in the order asked for. Refs that do not exist, are malformed, or lie outside what
`agent_id`, `project_id` and `channel` may see are listed in `missing`; they never fail the rest."""


def recall_description(settings: ServerSettings) -> str:
    """Describe ``recall`` as it behaves with these settings."""
    return RECALL.format(preview=_preview(settings))


def recall_with_context_description(settings: ServerSettings) -> str:
    """Describe ``recall_with_context`` likewise."""
    return RECALL_WITH_CONTEXT.format(preview=_preview(settings))


def reconstruct_description(settings: ServerSettings) -> str:
    """Describe ``reconstruct`` as it behaves with these settings."""
    policy = settings.reconstruct
    count = f"`count` items are returned at most (default {policy.default_count}, up to"
    count += f" {policy.max_count})."
    if policy.forced_count is not None:
        count = f"At most {policy.forced_count} items are returned, whatever `count` says."
    if policy.forced_budget is not None:
        count += f"\nQuotes have {policy.forced_budget} characters, whatever `budget` says."
    else:
        count += f"\n`budget` bounds the characters of all quotes (default {policy.default_budget},"
        count += f" up to {policy.max_budget}, at least one quote)."
    return RECONSTRUCT.format(count=count)


def _preview(settings: ServerSettings) -> str:
    if not settings.preview_chars:
        return WHOLE_PREVIEW
    told = CUT_PREVIEW.format(chars=settings.preview_chars)
    told += EXCERPT.format(chars=settings.excerpt_chars)
    return told + FULL_CONTENT.format(chars=settings.full_content_chars)
