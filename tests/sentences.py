"""Sentences and what becomes of them, whoever writes: the same for a tool, the command line and automatic review."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Case:
    """`text` is written beside `before` (a leading `!` pins one); it must end as `outcome`, refused by `rule`."""

    text: str
    outcome: str = "added"
    rule: str = ""
    before: tuple[str, ...] = ()


CASES = (
    # One-off permissions.
    Case("You can merge this PR.", "refused", "grant"),
    Case("Go ahead.", "refused", "grant"),
    Case("Skip the smoke tests just this once.", "refused", "grant"),
    Case("Feel free to merge it this time.", "refused", "grant"),
    Case("It is ok to merge.", "refused", "grant"),
    Case("Permission granted, push it.", "refused", "grant"),
    Case("Approved, ship it.", "refused", "grant"),
    Case("You can run tests with `uv run pytest`."),
    Case("Users can merge PRs after two approvals."),
    Case("Agents may push to feature branches."),
    Case("You can always run the formatter without asking."),
    # Instructions for the task at hand.
    Case("When done, I want an html report.", "refused", "task-scope"),
    Case("When bumping to 1.4.0, drop the vendor dir.", "refused", "task-scope"),
    Case("For this report, use landscape pages.", "refused", "task-scope"),
    Case("Poll every 30min (changed from 1h).", "refused", "task-scope"),
    Case("When done, commit and push everything."),
    Case("When bumping versions, update the changelog."),
    Case("For reports, use ISO dates."),
    # What is contradicted is the user's to decide.
    Case("Never publish to npm.", "refused", "contradiction", ("Always publish to npm.",)),
    Case("Always push to main.", "refused", "contradiction", ("Never push to main.",)),
    Case("Do push to main.", "refused", "contradiction", ("Do not push to main.",)),
    Case("Answer in English.", "added", "", ("Never answer in German.",)),
    Case("Never deploy on Fridays.", "refused", "contradiction", ("!Deploy on Fridays.",)),
    Case("Never publish with a dead token.", "added", "", ("Always publish to npm.",)),
    Case("Always publish to npm.", "added", "", ("Never publish with a dead token.",)),
    Case("Always stop the server after the test.", "added", "", ("Say OK when the test procedure says 'never stop'.",)),
    # What is said again makes what is there stronger.
    Case("Always publish to npm.", "duplicate", "", ("Always publish to npm.",)),
    Case("always publish to npm", "reinforced", "", ("Always publish to npm.",)),
    Case("Generated files must not be committed.", "reinforced", "", ("Never commit generated files.",)),
    Case("Use sed for daily note insertion.", "added", "", ("Use sed for daily notes.",)),
    Case("Use pnpm, version 9 or later.", "added", "", ("Use pnpm.",)),
    Case("Tests run with unittest.", "added", "", ("Tests run with pytest.",)),
    # Plain facts that careless patterns would refuse.
    Case("The project uses pnpm."),
    Case("Commit style is conventional commits."),
    Case("The model must be loaded before the tokenizer."),
)
