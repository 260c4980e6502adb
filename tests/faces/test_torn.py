"""A power cut in the past left torn objects: no command may wait for ever on one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from faces.conftest import CommandLine


@pytest.mark.parametrize("left", [0, 1, 20, 60])
@pytest.mark.timeout(20)
def test_no_command_hangs_on_a_torn_commit(nf: CommandLine, left: int) -> None:
    commits = [nf.json("add", f"Fact number {number}.")["commit"] for number in range(4)]
    torn = commits[1]
    nf("fork", "spike")
    nf("--branch", "spike", "add", "On the spike.")
    path = nf.repository / "objects" / torn[:2] / torn[2:]
    path.chmod(0o600)
    path.write_bytes(path.read_bytes()[:left])
    (nf.repository / "objects.log").unlink()

    for words in (
        ["status"],
        ["show"],
        ["show", "--at", torn[:10]],
        ["show", "--at", torn],
        ["undo", torn[:10]],
        ["undo", commits[0]],
        ["undo", commits[3]],
        ["log"],
        ["blame"],
        ["diff", torn, "HEAD"],
        ["doctor"],
        ["add", "Written after."],
        ["doctor", "--fix"],
    ):
        assert nf.process(*words).status in (0, 1), words
    assert "Written after." in [one["text"] for one in nf.json("show")["entries"]]
