"""Claude Code's memory folders, in the shapes that public repositories have them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from noforgetti.importers.claude_code import find, read
from noforgetti.model.entry import Category, Importance

from .sources import items, left, put, said

TOPIC = """\
---
name: always-answer-watchers
description: When a hook warns, fix it before going on
metadata:
  node_type: memory
  type: feedback
  originSessionId: 46375cdc-821a
  modified: 2026-08-06T16:42:40.669Z
---

Answer what watchers say.

**Why:** ignored warnings pile up.
"""


def test_a_topic_file_is_one_memory(tmp_path: Path) -> None:
    put(tmp_path, "feedback_watchers.md", TOPIC)

    (item,) = items(read(tmp_path))

    assert (item.name, item.category, item.session, item.created) == (
        "feedback_watchers.md",
        Category.LESSON,
        "46375cdc-821a",
        "2026-08-06T16:42:40Z",
    )
    assert item.text == (
        "When a hook warns, fix it before going on\n\nAnswer what watchers say.\n\n**Why:** ignored warnings pile up."
    )


TYPES = [
    ("user", Category.PREFERENCE),
    ("feedback", Category.LESSON),
    ("project", Category.DECISION),
    ("reference", Category.PATTERN),
    ("report", Category.LESSON),
]


@pytest.mark.parametrize(("sort", "category"), TYPES)
def test_the_type_says_what_sort_of_fact_it_is(tmp_path: Path, sort: str, category: Category) -> None:
    put(tmp_path, "x.md", f"---\nname: x\ntype: {sort}\n---\nA fact of the project.\n")

    assert said(read(tmp_path)) == [(category, "A fact of the project.")]


def test_the_name_of_a_file_says_it_where_no_type_does(tmp_path: Path) -> None:
    put(tmp_path, "user_style.md", "---\nname: style\n---\nShort answers.\n")

    assert said(read(tmp_path)) == [("preference", "Short answers.")]


def test_of_a_long_topic_the_description_goes_before_the_body(tmp_path: Path) -> None:
    put(tmp_path, "x.md", f"---\nname: x\ndescription: In short.\ntype: project\n---\n{'word ' * 400}\n")

    first, second = items(read(tmp_path))

    assert (first.name, first.text, first.importance) == ("x.md", "In short.", Importance.NORMAL)
    assert (second.name, second.importance, len(second.text)) == ("x.md#body", Importance.LOW, 1999)


def test_a_line_of_the_index_that_leads_to_a_file_is_no_memory(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "---\nname: a\ntype: project\n---\nThe memory itself.\n")
    put(
        tmp_path,
        "MEMORY.md",
        "# Memory\n"
        "- [A](a.md) — what it is about\n"
        "- ~~[A again](a.md)~~ — retired\n"
        "- [Gone](gone.md) — port 8443 is the staging port of the shop\n"
        "- [Gone too](lost.md)\n"
        "- [Manual](https://example.org/manual.md) explains the deployment of all services\n",
    )

    source = read(tmp_path)

    assert said(source) == [
        ("lesson", "Gone: port 8443 is the staging port of the shop"),
        ("lesson", "[Manual](https://example.org/manual.md) explains the deployment of all services"),
        ("decision", "The memory itself."),
    ]
    assert items(source)[0].notes == ("its file `gone.md` is missing",)
    assert left(source) == [("MEMORY.md:5", "leads to `lost.md`, which is missing")]


LIST = """\
# Memory of the shop
*Last consolidated: 2026-05-21*

## Lessons Learned
- Save all files before the log is written, never afterwards

## Build
- 100 tiles
- [feedback] The user wants complete phases, checked by lint at their end
- [testing] Tests must not read from data/, which nobody checks in
- `innovation/` is the main package of the tracker:
  - `card.py` holds the class of a card

  and this belongs to it as well
- ~~The old port is 8443, as it was in the first year~~
- (none yet)
- [x] Move the tests to the new runner and drop the old one

```sh
pnpm check
```

| step | command |
|------|---------|
| 1    | build   |

| Date | Title |
|------|-------|

<!-- kept by hand -->

## 2026-01-31
- Built the importer for folders of notes
- 2026-02-03: visited the warehouse and talked to the people there
People there:
- Ito

## 偏好
- 回复使用中文，代码注释也使用中文，不要使用英文书写注释说明内容

**Key people:**
- Nakata
- Ichiriki
"""


TRACKER = """\
`innovation/` is the main package of the tracker:
- `card.py` holds the class of a card

and this belongs to it as well"""


def test_a_list_is_one_memory_a_bullet_with_what_hangs_below_it(tmp_path: Path) -> None:
    put(tmp_path, "MEMORY.md", LIST)

    source = read(tmp_path)

    assert said(source) == [
        ("lesson", "Save all files before the log is written, never afterwards"),
        ("lesson", "Build: 100 tiles"),
        ("lesson", "The user wants complete phases, checked by lint at their end"),
        ("lesson", "Tests must not read from data/, which nobody checks in"),
        ("lesson", TRACKER),
        ("lesson", "The old port is 8443, as it was in the first year"),
        ("done", "Move the tests to the new runner and drop the old one"),
        ("lesson", "Build:\n```sh\npnpm check\n```"),
        ("lesson", "Build:\n| step | command |\n|------|---------|\n| 1    | build   |"),
        ("lesson", "Built the importer for folders of notes"),
        ("lesson", "2026-02-03: visited the warehouse and talked to the people there"),
        ("lesson", "People there:\n- Ito"),
        ("preference", "回复使用中文，代码注释也使用中文，不要使用英文书写注释说明内容"),
        ("preference", "**Key people:**\n- Nakata\n- Ichiriki"),
    ]
    assert left(source) == [
        ("MEMORY.md:2", "is about the file, not a memory"),
        ("MEMORY.md:16", "holds a place only"),
        ("MEMORY.md:30", "is a comment"),
    ]


def test_what_a_list_says_beside_its_text_is_kept(tmp_path: Path) -> None:
    put(tmp_path, "MEMORY.md", LIST)

    found = {one.text[:12]: one for one in items(read(tmp_path))}

    assert found["Tests must n"].tags == ("testing", "build")
    assert found["The old port"].archived
    assert found["The old port"].notes == ("it was struck out",)
    assert found["Built the im"].created == "2026-01-31T00:00:00Z"
    assert found["2026-02-03: "].created == "2026-02-03T00:00:00Z"
    assert found["Build: 100 t"].group == "MEMORY.md#Memory of the shop#Build"


def test_a_long_list_below_a_lead_in_stays_one_memory_a_bullet(tmp_path: Path) -> None:
    put(tmp_path, "MEMORY.md", "Ports in use:\n" + "".join(f"- {n}: {'x' * 100}\n" for n in range(10)))

    assert [text for _, text in said(read(tmp_path))] == [f"Ports in use: {n}: {'x' * 100}" for n in range(10)]


def test_names_stay_when_the_list_around_an_item_changes(tmp_path: Path) -> None:
    put(tmp_path, "MEMORY.md", "- Keep the tests quick and the fixtures small everywhere\n")
    before = items(read(tmp_path))
    put(
        tmp_path,
        "MEMORY.md",
        "# New\n- Another fact came before it in the meantime, in this file\n\n"
        "* Keep the tests quick and the fixtures small everywhere\n"
        "* Keep the tests quick and the fixtures small everywhere\n",
    )
    after = items(read(tmp_path))

    assert [one.name for one in after][1:] == [before[0].name, f"{before[0].name}~2"]


def test_the_date_of_a_daily_file_is_in_its_name(tmp_path: Path) -> None:
    put(tmp_path, "logs/2026-03-09.md", "- Released the first version of the shop to everybody\n")

    assert [one.created for one in items(read(tmp_path))] == ["2026-03-09T00:00:00Z"]


def test_what_is_no_markdown_and_what_leads_elsewhere_is_left_over(tmp_path: Path) -> None:
    secret = put(tmp_path, "elsewhere/id", "PRIVATE")
    folder = tmp_path / "memory"
    put(folder, "MEMORY.md", "- A fact of the project that stands in its index\n")
    put(folder, "state.json", "{}")
    put(folder, ".git/config", "")
    (folder / "link.md").symlink_to(secret)
    (folder / "loop.md").symlink_to("loop.md")

    source = read(folder)

    assert len(items(source)) == 1
    assert left(source) == [
        (".git", "is a hidden folder"),
        ("link.md", "is a symbolic link; import the file it leads to by itself"),
        ("loop.md", "is a symbolic link; import the file it leads to by itself"),
        ("state.json", "is no .md or .markdown file"),
    ]


def test_a_line_that_cannot_be_read_takes_no_other_with_it(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbf- The first fact of a file with a byte order mark\r\n- bad \xff\r\n- torn \0\0\r\n"
    put(tmp_path, "MEMORY.md", data + "- Der dritte Eintrag hat Umlaute: äöü, und sie bleiben".encode())

    source = read(tmp_path)

    assert said(source) == [
        ("lesson", "The first fact of a file with a byte order mark"),
        ("lesson", "Der dritte Eintrag hat Umlaute: äöü, und sie bleiben"),
    ]
    assert left(source) == [
        ("MEMORY.md:2", "is not UTF-8 at byte 7"),
        ("MEMORY.md:3", "holds NUL bytes: the file is damaged here"),
    ]


def test_front_matter_without_an_end_is_text(tmp_path: Path) -> None:
    put(tmp_path, "x.md", "---\nname: torn\n\n- A fact that stands below the torn front matter of it\n")

    assert said(read(tmp_path)) == [
        ("lesson", "name: torn"),
        ("lesson", "A fact that stands below the torn front matter of it"),
    ]


def test_the_memory_is_found_where_claude_code_keeps_it(tmp_path: Path) -> None:
    home, project = tmp_path / "home", str(tmp_path / "my.shop")
    inside = put(Path(project), ".claude/memory/MEMORY.md", "- x").parent
    environ = {"HOME": str(home)}
    assert find(project, environ) == inside

    munged = "".join(one if one.isalnum() and one.isascii() else "-" for one in project)
    kept = put(home, f".claude/projects/{munged}/memory/MEMORY.md", "- y").parent
    assert find(project, environ) == kept
    assert find(project, {"HOME": "/nowhere", "CLAUDE_CONFIG_DIR": str(home / ".claude")}) == kept
    assert find(str(tmp_path / "other"), environ) is None


@pytest.mark.parametrize("path", [".claude", ".claude/projects/-p", ".claude/projects/-p/memory"])
def test_folders_around_the_memory_lead_to_it(tmp_path: Path, path: str) -> None:
    put(tmp_path, ".claude/projects/-p/memory/MEMORY.md", "- A fact of the project that Claude Code has kept\n")

    assert len(items(read(tmp_path / path, project="/p"))) == 1


def test_one_file_can_be_read_by_itself(tmp_path: Path) -> None:
    path = put(tmp_path, "notes.md", "- A fact in a file that somebody named by hand\n")

    assert said(read(path)) == [("lesson", "A fact in a file that somebody named by hand")]


def test_what_is_too_long_for_one_entry_is_cut_between_its_parts_and_keeps_its_head(tmp_path: Path) -> None:
    nested = "".join(f"  - module {n} {'x' * 200}\n" for n in range(6))
    rows = "".join(f"| {n} | {'y' * 200} |\n" for n in range(6))
    put(tmp_path, "MEMORY.md", f"- The modules\n{nested}\n## Steps\n| step | what |\n|--|--|\n{rows}")

    found = [text for _, text in said(read(tmp_path))]

    assert all(len(text) <= 800 + len("Steps:\n") for text in found)
    assert [text.split("\n")[0] for text in found] == ["The modules", "The modules", "Steps:", "Steps:"]
    assert [text.count("\n- module") for text in found] == [3, 3, 0, 0]
    assert [text.count("y |") for text in found] == [0, 0, 3, 3]


CATEGORY_PLACES = [
    ("debugging-lessons.md", "- Always look at the log of the container before its code\n", "lesson"),
    ("decisions.md", "- The shop talks to the bank by files, not by its interface\n", "decision"),
    ("notes.md", "# Naming conventions\n- Tables have plural names, and columns have short ones\n", "pattern"),
    ("notes.md", "# Shop\n# Mistakes\n- The cache was cleared before the release was out\n", "mistake"),
    ("notes.md", "# Shop\n## Project structure\n- The main package is in src, its tests beside it\n", "pattern"),
]


@pytest.mark.parametrize(("name", "text", "category"), CATEGORY_PLACES)
def test_headings_and_then_the_name_of_a_file_say_the_category(
    tmp_path: Path, name: str, text: str, category: str
) -> None:
    put(tmp_path, name, text)

    assert [one for one, _ in said(read(tmp_path))] == [category]


LINKS = [
    ("my notes.md", "[x](my%20notes.md)"),
    ("my notes.md", "[x](<my notes.md>) — a hook"),
    ("cafe\u0301.md", "[x](caf\u00e9.md)"),
    ("topics/a.md", "[x](./topics/a.md#part) — a hook"),
    ("a.md", "**[x](a.md)**: a hook"),
]


@pytest.mark.parametrize(("name", "link"), LINKS)
def test_a_link_finds_its_file_however_it_is_spelled(tmp_path: Path, name: str, link: str) -> None:
    put(tmp_path, name, "---\nname: x\n---\nThe memory.\n")
    put(tmp_path, "MEMORY.md", f"- {link}\n")

    source = read(tmp_path)

    assert (said(source), left(source)) == ([("lesson", "The memory.")], [])


def test_a_name_that_is_no_text_is_escaped(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9\n.md")).write_text("- A fact in a file whose name no terminal can print\n")

    assert [one.name.partition("#")[0] for one in items(read(tmp_path))] == ["caf\\udce9\\n.md"]


def test_what_front_matter_says_beside_is_noted_and_a_rule_is_none(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "---\nname: x\nstatus: active\nrelated: [b.md, c.md]\n---\nThe memory.\n")
    put(
        tmp_path,
        "b.md",
        "---\n# Shop\n- A fact that stands between two rules of its document\n---\n- And one below them both\n",
    )

    source = read(tmp_path)

    assert items(source)[0].notes == ("name: x", "status: active", "related: b.md, c.md")
    assert said(source)[1:] == [
        ("lesson", "A fact that stands between two rules of its document"),
        ("lesson", "And one below them both"),
    ]
