"""`import`: other products' memories, brought in."""

from __future__ import annotations

import os

import click

from noforgetti.faces import imported
from noforgetti.faces.cli import completing
from noforgetti.faces.cli.main import Session, cli, pass_session
from noforgetti.importers.base import FORMATS, Format


@cli.command("import")
@click.argument("source", required=False, type=click.Choice([one.name for one in FORMATS]), metavar="[SOURCE]")
@click.argument("path", required=False, default="", shell_complete=completing.files)
@click.option("--dry-run", is_flag=True, help="Only say what would come, and what would not and why.")
@click.option("--prune", is_flag=True, help="Remove entries of an earlier import that the source holds no longer.")
@click.option("--restore", is_flag=True, help="Bring back what was removed here since an earlier import.")
@pass_session
def import_(session: Session, source: str | None, path: str, dry_run: bool, prune: bool, restore: bool) -> None:
    """Bring in the memory of another product. Without SOURCE lists what can be imported and what lies here.

    The source is only read. Each item becomes an entry, or the report says why not. Importing again updates what
    changed in the source and doubles nothing; what was changed or removed here since stays so.
    """
    from noforgetti.service import importing
    from noforgetti.service.import_views import imported_view

    memory = session.memory
    if source is None:
        root = memory.project.root
        found = [{"source": one.name, "title": one.title, "path": _lies(one, root)} for one in FORMATS]
        session.print({"formats": found}, imported.formats)
        return
    if source == "noforgetti" and path and _bundle(session, path, dry_run=dry_run):
        return
    read, at = importing.read(source, path, memory, os.environ)
    wish = importing.Wish(dry_run=dry_run, prune=prune, restore=restore)
    doc = imported_view(importing.bring(memory, session.branch, read, str(at), wish))
    session.print(doc, imported.imported, planned=dry_run, selected="" if memory.is_wide else session.branch)


def _lies(format_: Format, root: str) -> str:
    """Where a memory of the format lies. A place that is closed to us has none to offer."""
    try:
        return str(format_.find(root, os.environ) or "")
    except OSError:
        return ""


def _bundle(session: Session, path: str, *, dry_run: bool) -> bool:
    """Bring in a git bundle, if the file is one."""
    from noforgetti.service import bundles

    if not bundles.is_bundle(path):
        return False
    plan = bundles.restore(session.memory, path, dry_run=dry_run)
    session.print(bundles.restored_view(plan, path, dry_run=dry_run), imported.restored)
    return True
