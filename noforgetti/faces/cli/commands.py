"""The commands around entries, branches and history."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from noforgetti.faces import text
from noforgetti.faces.cli import completing
from noforgetti.faces.cli.main import _CATEGORIES, Session, cli, pass_session, plain
from noforgetti.model.entry import Category, Importance, Scope

if TYPE_CHECKING:
    from collections.abc import Callable

    from noforgetti.service.memory import Memory
    from noforgetti.service.undo import Undone
    from noforgetti.service.writes import Traits, Written


@cli.command()
@pass_session
def status(session: Session) -> None:
    """Where the memory is, how full it is, how review is doing."""
    from noforgetti.service.views import status_view

    session.print(status_view(session.memory, session.branch), text.status)


@cli.command()
@click.option(
    "--at",
    "revision",
    metavar="REV",
    help="A commit, `HEAD~2`, a branch, or a time such as 2026-11-30.",
    shell_complete=completing.revisions,
)
@click.argument("old", metavar="[ENTRY]", required=False, shell_complete=completing.entries)
@pass_session
def show(session: Session, revision: str | None, old: str | None) -> None:
    """The entries of the branch, by topic."""
    from noforgetti.service.views import show_view

    memory = session.memory
    if revision is None:
        now = memory.snapshot(session.branch)
    else:
        from noforgetti.service.history import resolve

        now = (
            memory.store.snapshot(resolve(memory, session.branch, revision))
            if memory.exists
            else memory.snapshot(session.branch)
        )
    doc = show_view(session.branch, now)
    if old is not None:
        _only(session, doc, old)
        return
    if revision is None:
        from noforgetti.service.rendered import keep
        from noforgetti.service.scoped import terminal
        from noforgetti.service.views import shown_view

        doc = shown_view(memory, session.branch, now, session=terminal())
        keep(memory, doc)
    session.print(doc, text.show)


def _only(session: Session, doc: dict[str, object], old: str) -> None:
    entries = doc["entries"]
    assert isinstance(entries, list)
    found = [one for one in entries if one["id"] == old] or [one for one in entries if str(one["id"]).startswith(old)]
    if len(found) != 1:
        reason = f"{'No entry has' if not found else 'More than one entry has'} an id that begins with `{old}`."
        session.refuse(
            {
                "outcome": "refused",
                "reason": reason,
                "hint": "list the ids with `noforgetti show`",
                "rule": "unknown-entry",
            }
        )
        return
    session.print({**doc, "entries": found, "damaged": []}, text.entry)


@cli.command("list")
@pass_session
def list_(session: Session) -> None:
    """The entries as numbered lines, as the agent's tool lists them."""
    from noforgetti.service.views import show_view

    session.print(show_view(session.branch, session.memory.snapshot(session.branch)), plain(text.entry_list))


def _traits(command: click.Command) -> click.Command:
    for option in (
        click.Option(["--category"], type=click.Choice(_CATEGORIES), help="What sort of fact it is."),
        click.Option(["--importance"], type=click.Choice(["high", "normal", "low"]), help="The cost of forgetting it."),
        click.Option(["--pin/--unpin", "pinned"], default=None, help="Keep automatic review away from it."),
        click.Option(["--key"], help="A short name of the fact, such as pref.commit_style."),
        click.Option(["--tag", "tags"], multiple=True, help="What it is about, such as testing; may be repeated."),
        click.Option(
            ["--scope"],
            type=click.Choice([one.value for one in Scope]),
            help="How far it reaches: this project, the user in every project, one task, or this session.",
        ),
        click.Option(["--task"], default="", metavar="NAME", help="The task of an entry of scope task."),
        click.Option(["--session"], default="", metavar="ID", help="The session; that of this terminal if left out."),
    ):
        command.params.append(option)
    return command


_override = click.option(
    "--override", is_flag=True, help="You confirm that the rule changed: what the text contradicts is superseded."
)


@_traits
@cli.command()
@click.argument("words", metavar="TEXT")
@_override
@click.option("--force", is_flag=True, help="Store it although an entry says nearly the same.")
@pass_session
def add(
    session: Session,
    /,
    words: str,
    *,
    override: bool,
    force: bool,
    **traits: Any,
) -> None:
    """Add one fact. `-` reads it from standard input. A --key that is there already gets the new text."""
    from noforgetti.service import writes

    done = writes.add(
        session.memory,
        session.branch,
        _words(words),
        _read_traits(**traits),
        session=_session_of(**traits),
        override=override,
        force=force,
    )
    _written(session, done)


@_traits
@cli.command()
@click.argument("old", shell_complete=completing.entries)
@click.argument("words", metavar="NEW")
@_override
@pass_session
def replace(
    session: Session,
    /,
    old: str,
    words: str,
    *,
    override: bool,
    **traits: Any,
) -> None:
    """Replace the whole text of one entry; OLD is an id, a key or a unique piece of its text."""
    from noforgetti.service import writes

    done = writes.reword(session.memory, session.branch, old, _words(words), _read_traits(**traits), override=override)
    _written(session, done)


@cli.command()
@click.argument("old", shell_complete=completing.entries)
@pass_session
def remove(session: Session, old: str) -> None:
    """Remove one entry; OLD is an id or a unique piece of its text. History keeps it."""
    from noforgetti.service import writes

    _written(session, writes.remove(session.memory, session.branch, old))


def _read_traits(
    category: str | None,
    importance: str | None,
    pinned: bool | None,
    key: str | None,
    tags: tuple[str, ...],
    scope: str | None,
    task: str,
    session: str,
) -> Traits:
    del session  # not the entry's, but the writer's
    from noforgetti.service import writes

    return writes.Traits(
        Category(category) if category else None,
        Importance(importance) if importance else None,
        pinned,
        key,
        tags or None,
        scope=Scope(scope) if scope else None,
        task=task,
    )


def _session_of(scope: str | None, session: str, **_: Any) -> str:
    """The session a command writes in: what it names, else the terminal's where the entry is for a session only."""
    if session or scope != Scope.SESSION:
        return session
    from noforgetti.service import scoped

    return scoped.terminal()


def _words(words: str) -> str:
    return sys.stdin.buffer.read(4_000_000).decode("utf-8", "surrogateescape") if words == "-" else words


def _written(session: Session, written: Written) -> None:
    from noforgetti.service.views import written_view

    doc = written_view(written)
    if written.outcome == "refused":
        session.refuse(doc)
    else:
        session.print(doc, text.written)


@cli.command()
@pass_session
def branches(session: Session) -> None:
    """The memory branches; `*` marks the selected one."""
    from noforgetti.service.branches import listed
    from noforgetti.service.views import branches_view

    session.print(branches_view(listed(session.memory, session.branch)), text.branches)


@cli.command()
@click.argument("name")
@click.option(
    "--at",
    "revision",
    metavar="REV",
    help="Fork from this commit instead of the branch's head.",
    shell_complete=completing.revisions,
)
@pass_session
def fork(session: Session, name: str, revision: str | None) -> None:
    """Create memory branch NAME from the selected one. It shares history and costs nothing."""
    from noforgetti.service import branches as service
    from noforgetti.service.views import forked_view

    at = None
    if revision is not None:
        from noforgetti.service.history import resolve

        at = resolve(session.memory, session.branch, revision)
    made = service.fork(session.memory, session.branch, name, at=at)
    doc = forked_view(session.branch, made)
    session.print(
        doc,
        lambda d, _: (
            f"Forked `{d['branch']}` from `{d['from']}` at {d['head'][:12]}; `noforgetti use {d['branch']}` selects it."
        ),
    )


@cli.command()
@click.argument("name", shell_complete=completing.branches)
@pass_session
def use(session: Session, name: str) -> None:
    """Select memory branch NAME for the command line. A Pi session selects its own with `/memory use`."""
    from noforgetti.service import branches as service

    chosen = service.use(session.memory, name)
    session.memory.select(chosen)
    session.print({"outcome": "selected", "branch": chosen}, lambda d, _: f"Selected memory branch `{d['branch']}`.")


@cli.group()
def branch() -> None:
    """More about branches."""


@branch.command("delete")
@click.argument("name", shell_complete=completing.branches)
@pass_session
def branch_delete(session: Session, name: str) -> None:
    """Delete memory branch NAME."""
    from noforgetti.service import branches as service

    was = service.delete(session.memory, name)
    doc = {"outcome": "deleted", "branch": name, "head": was}
    session.print(
        doc,
        lambda d, _: f"Deleted `{d['branch']}`; `noforgetti fork {d['branch']} --at {d['head'][:12]}` brings it back.",
    )


@cli.command()
@click.argument("entry", required=False, shell_complete=completing.entries)
@click.option("-n", "limit", type=click.IntRange(min=1), help="At most this many commits.")
@pass_session
def log(session: Session, entry: str | None, limit: int | None) -> None:
    """The branch's commits in the terms of entries, newest first; with ENTRY those that touched it."""
    from noforgetti.service.history import log as service
    from noforgetti.service.views import logged_view

    commits = [logged_view(one) for one in service(session.memory, session.branch, limit=limit or 0, entry=entry or "")]
    if entry and not commits:
        reason = f"No commit of branch `{session.branch}` touched an entry `{entry}`."
        session.refuse(
            {"outcome": "refused", "reason": reason, "hint": "give a whole id; `noforgetti show` lists them"}
        )
        return
    session.print({"branch": session.branch, "commits": commits}, text.log)


@cli.command()
@click.argument("one", metavar="A", shell_complete=completing.revisions)
@click.argument("other", metavar="[B]", default="HEAD", shell_complete=completing.revisions)
@pass_session
def diff(session: Session, one: str, other: str) -> None:
    """Which entries differ between two commits or branches."""
    from noforgetti.service.history import between, resolve
    from noforgetti.service.views import diff_view

    memory = session.memory
    first, second = resolve(memory, session.branch, one), resolve(memory, session.branch, other)
    session.print(diff_view(first, second, between(memory, first, second)), text.operations)


@cli.command()
@click.argument("entry", required=False, shell_complete=completing.entries)
@pass_session
def blame(session: Session, entry: str | None) -> None:
    """Which commit gave each entry its present form."""
    from noforgetti.service.history import blame as service
    from noforgetti.service.views import blame_view

    memory = session.memory
    if entry is not None:
        from noforgetti.model.entry import Stored
        from noforgetti.policy import addressing

        meant = addressing.find(memory.snapshot(session.branch), entry)
        entry = meant.entry.id if isinstance(meant, Stored) else entry
    rows = [blame_view(one, commit) for one, commit in service(memory, session.branch, entry or "")]
    if entry and not rows:
        session.refuse(
            {
                "outcome": "refused",
                "reason": f"No entry has the id `{entry}`.",
                "hint": "list the ids with `noforgetti show`",
            }
        )
        return
    session.print({"branch": session.branch, "blame": rows}, text.origin if entry else text.blame)


@cli.command()
@click.argument("revision", metavar="[REV]", required=False, shell_complete=completing.commits)
@click.option("--dry-run", is_flag=True, help="Show what would happen and write nothing.")
@pass_session
def undo(session: Session, revision: str | None, dry_run: bool) -> None:
    """Take back the newest automatic review, or the commit REV. Halts when a later change touched the same entry."""
    from noforgetti.service.undo import undo as service

    _undone(session, service, revision, dry_run=dry_run)


@cli.command()
@click.argument("revision", metavar="[REV]", required=False, shell_complete=completing.commits)
@click.option("--dry-run", is_flag=True, help="Show what would happen and write nothing.")
@pass_session
def redo(session: Session, revision: str | None, dry_run: bool) -> None:
    """Bring back what the newest undo took."""
    from noforgetti.service.undo import redo as service

    _undone(session, service, revision, dry_run=dry_run)


def _undone(session: Session, service: Callable[..., Undone], revision: str | None, *, dry_run: bool) -> None:
    from noforgetti.service.history import resolve
    from noforgetti.service.views import undone_view

    memory, branch_ = session.memory, session.branch
    target = resolve(memory, branch_, revision) if revision is not None else None
    result = service(memory, branch_, target, dry_run=dry_run)
    doc = undone_view(result)
    if result.outcome == "halted":
        reason = text.undone(doc)
        hint = (
            doc["hint"] or f"compare with `noforgetti show --at {(doc.get('undoes') or doc.get('redoes') or '')[:12]}`"
        )
        session.refuse({**doc, "reason": reason, "hint": hint, "dry_run": dry_run})
        return
    session.print({**doc, "dry_run": dry_run}, text.undone, dry_run=dry_run)


@cli.command()
@click.argument("source", metavar="BRANCH", shell_complete=completing.branches)
@click.option("--ours", "side", flag_value="ours", help="Where both changed an entry, keep the selected branch's.")
@click.option("--theirs", "side", flag_value="theirs", help="Where both changed an entry, take BRANCH's.")
@click.option("--dry-run", is_flag=True, help="Show what would happen and write nothing.")
@pass_session
def merge(session: Session, source: str, side: str | None, dry_run: bool) -> None:
    """Merge memory branch BRANCH into the selected one, entry by entry."""
    from noforgetti.policy.merge import Side
    from noforgetti.service.merging import merge_branch
    from noforgetti.service.views import merged_view

    prefer = Side(side) if side else None
    doc = merged_view(merge_branch(session.memory, session.branch, source, prefer=prefer, dry_run=dry_run))
    if doc["outcome"] == "halted":
        session.refuse({**doc, "reason": text.merged(doc)})
    else:
        session.print(doc, text.merged)


@cli.command()
@pass_session
def edit(session: Session) -> None:
    """Open the branch as one document in $EDITOR; what you change becomes one commit."""
    from noforgetti.errors import NoForgettiError
    from noforgetti.service import editing
    from noforgetti.service.views import edited_view

    memory, branch_ = session.memory, session.branch
    base = memory.snapshot(branch_)
    before = editing.document(branch_, base)
    after = click.edit(before, extension=".md", require_save=True)
    if after is None or not after.strip():  # an emptied file calls it off, as in git
        session.print(
            {"outcome": "nothing", "branch": branch_, "commit": None}, lambda *_: "Not saved: nothing was changed."
        )
        return
    try:
        doc = edited_view(editing.save(memory, branch_, base, after))
    except NoForgettiError as error:
        error.hint = f"your text is kept in `{_kept(memory, after)}`; {error.hint}"
        raise
    if doc["outcome"] == "refused":
        doc["hint"] = f"your text is kept in `{_kept(memory, after)}`; {doc['hint']}"
        session.refuse(doc)
    else:
        session.print(doc, text.edited)


def _kept(memory: Memory, document: str) -> str:
    """Where an edit that could not be saved is kept, so that no typing is lost."""
    folder = Path(memory.places.state_of(memory.name))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / "unsaved-edit.md"
    path.write_text(document, encoding="utf-8", errors="surrogateescape")
    return str(path)
