"""The checked-in documents that an agent sees anyway."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from noforgetti.service.documents import documents

if TYPE_CHECKING:
    from pathlib import Path


def test_the_instruction_files_of_hosts_and_contributors_are_read(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("agents")
    (tmp_path / "README.md").write_text("readme")
    (tmp_path / ".github").mkdir()
    (tmp_path / ".github" / "copilot-instructions.md").write_text("copilot")
    (tmp_path / "OTHER.md").write_text("other")

    assert documents(str(tmp_path)) == (
        ("AGENTS.md", "agents"),
        (".github/copilot-instructions.md", "copilot"),
        ("README.md", "readme"),
    )


def test_a_project_without_documents_or_without_a_folder_has_none(tmp_path: Path) -> None:
    assert documents(str(tmp_path)) == documents(str(tmp_path / "gone")) == ()


def test_no_link_leads_out_of_the_project(tmp_path: Path) -> None:
    project, outside = tmp_path / "project", tmp_path / "secret.md"
    project.mkdir()
    outside.write_text("outside")
    (project / "AGENTS.md").symlink_to(outside)
    (project / "README.md").symlink_to("../secret.md")
    (project / "docs.md").write_text("inside")
    (project / "CLAUDE.md").symlink_to("docs.md")

    assert documents(str(project)) == (("CLAUDE.md", "inside"),)


def test_a_project_reached_by_a_link_has_its_documents(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "AGENTS.md").write_text("agents")
    (tmp_path / "link").symlink_to(project)

    assert documents(str(tmp_path / "link")) == (("AGENTS.md", "agents"),)


def test_what_is_no_readable_file_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").mkdir()
    os.mkfifo(tmp_path / "CLAUDE.md")
    (tmp_path / "GEMINI.md").symlink_to("GEMINI.md")
    (tmp_path / "README.md").write_bytes(b"caf\xe9")

    assert documents(str(tmp_path)) == (("README.md", "caf\N{REPLACEMENT CHARACTER}"),)


def test_a_huge_document_is_read_up_to_a_bound(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("x" * 1_000_000)

    assert len(documents(str(tmp_path))[0][1]) == 131_072
