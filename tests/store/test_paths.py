r"""Spellings of one place agree, spellings of different places do not."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noforgetti.errors import Kind
from noforgetti.store.paths import NoPlace, System, native, place, same_place, unusable

W, L, P, M, C = System.WINDOWS, System.WSL, System.POSIX, System.MSYS, System.CYGWIN
DRIVE = "c:/users/a b/p"

ON_EVERY_SYSTEM = [
    r"C:\Users\A B\p",
    r"c:\users\a b\P",
    "c:/Users/A B/p",
    "C:\\\\Users\\\\A B\\\\p",
    r"C:\Users\A B\p" + "\\",
    "C:/Users/A B/p/",
    r"C:\Users\.\x\..\A B\\p",
    r"\\?\C:\Users\A B\p",
    r"\\.\C:\Users\A B\p",
    "\\\\\\\\?\\\\C:\\\\Users\\\\A B\\\\p",
    "file:///C:/Users/A%20B/p",
    "file:///c%3A/Users/A%20B/p/",
    "file://localhost/C:/Users/A%20B/p",
    "file:/C:/Users/A%20B/p",
    "file://C:/Users/A%20B/p",
    "FILE:///C:/Users/A B/p#line",
    r"\\wsl$\Ubuntu\mnt\c\Users\A B\p",
]
ON_ONE_SYSTEM = [
    ("/mnt/c/Users/A B/p", L),
    ("/mnt/C/Users/A B/p/", L),
    ("file:///mnt/c/Users/A%20B/p", L),
    ("/c/Users/A B/p", M),
    ("/C/Users/A B/p/", M),
    ("/cygdrive/c/Users/A B/p", C),
    ("/c/Users/A B/p", W),
    ("/mnt/c/Users/A B/p", W),
    ("/cygdrive/c/Users/A B/p", W),
    ("/C:/Users/A B/p", W),
    ("//?/C:/Users/A B/p", W),
]


@pytest.mark.parametrize(("text", "system"), [*itertools.product(ON_EVERY_SYSTEM, System), *ON_ONE_SYSTEM])
def test_all_spellings_of_a_folder_on_a_drive_have_one_form(text: str, system: System) -> None:
    assert place(text, system=system) == DRIVE


@pytest.mark.parametrize(
    "text",
    [
        r"\\server\share\p",
        r"\\SERVER\Share\P" + "\\",
        "\\\\\\\\server\\\\share\\\\p",
        r"\\?\UNC\server\share\p",
        "file://server/share/p",
        "file:////server/share/p",
        r"\\server\share\x\..\p",
    ],
)
@pytest.mark.parametrize("system", System)
def test_all_spellings_of_a_folder_on_a_server_have_one_form(text: str, system: System) -> None:
    assert place(text, system=system) == "//server/share/p"


@pytest.mark.parametrize("system", [W, M, C])
def test_two_slashes_are_a_server_only_where_the_system_says_so(system: System) -> None:
    assert place("//server/share/p", system=system) == "//server/share/p"
    assert {place("//server/share/p", system=other) for other in (P, L)} == {"/server/share/p"}


@pytest.mark.parametrize(
    "text",
    [r"\\wsl$\Ubuntu\home\a\p", r"\\wsl.localhost\ubuntu\home\a\p", "file://wsl.localhost/Ubuntu/home/a/p"],
)
def test_the_way_from_windows_into_a_distribution_has_one_form(text: str) -> None:
    assert {place(text, system=system) for system in System} == {"//wsl.localhost/ubuntu/home/a/p"}
    assert place(text, system=L, distribution="Debian") == "//wsl.localhost/ubuntu/home/a/p"
    assert place(text, system=L, distribution="Ubuntu") == place("/home/a/p", system=L) == "/home/a/p"


def test_forward_slashes_into_a_distribution_are_known_inside_it() -> None:
    assert place("//wsl$/Ubuntu/home/a", system=L, distribution="Ubuntu") == "/home/a"


@pytest.mark.parametrize(
    "text",
    [
        "/home/a/p",
        "/home/a/p/",
        "//home//a/./p",
        "file:///home/a/p",
        "file://localhost/home/a/p",
        "file:/home/a/p",
    ],
)
def test_all_spellings_of_a_posix_folder_have_one_form(text: str) -> None:
    assert place(text) == "/home/a/p"


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("C:\\", "c:/"),
        ("c:/..", "c:/"),
        ("file:///C:", "c:/"),
        ("/", "/"),
        ("file:///", "/"),
        (r"\\server\share", "//server/share"),
        (r"\\server\share\..\..", "//server/share"),
        (r"\\?\Volume{1b3b-0}\p", "//?/volume{1b3b-0}/p"),
    ],
)
def test_the_tops_of_volumes_have_a_form(text: str, form: str) -> None:
    assert place(text) == form


DIFFERENT = [
    ("/home/a/p", "/home/a/P", P),
    ("/home/a/p", "/home/a/p ", P),
    ("/home/a\\b", "/home/a/b", P),
    ("/home/link/../p", "/home/p", P),
    ("/mnt/c/p", "C:\\p", P),
    ("/c/p", "C:\\p", P),
    ("/mnt/cc/p", "C:\\c\\p", L),
    ("/mnt/c/p", "/c/p", L),
    ("/home/a", "/HOME/a", L),
    (r"\\wsl$\Ubuntu\home\a", r"\\wsl$\Ubuntu\home\A", W),
    (r"\\wsl$\Ubuntu\home", r"\\wsl$\Debian\home", W),
    (r"C:\p", r"D:\p", W),
    (r"C:\p", r"\\C\p", W),
    (r"C:\straße", r"C:\strasse", W),
    ("C:\\\u017fo", r"C:\so", W),
    ("C:\\\u0131", r"C:\i", W),
    ("C:\\\u212a", r"C:\k", W),
    (r"\\?\C:\p.", r"C:\p", W),
    (r"C:\p...\x", r"C:\p\x", W),
    ("C:\\p \\", r"C:\p", W),
    ("/mnt/c/p.", "/mnt/c/p", L),
    ("file:///home/a%2520b", "file:///home/a%20b", P),
]


@pytest.mark.parametrize(("one", "other", "system"), DIFFERENT)
def test_different_places_stay_apart(one: str, other: str, system: System) -> None:
    assert not same_place(one, other, system=system)
    assert place(one, system=system) != place(other, system=system)


@pytest.mark.parametrize("text", [r"C:\p.", r"C:\p. .", "C:\\p  ", "c:/P..."])
def test_final_dots_and_spaces_go_where_windows_drops_them(text: str) -> None:
    assert place(text, system=W) == "c:/p"


@pytest.mark.parametrize("system", System)
@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "p",
        "..",
        "a/b",
        r"a\b",
        "C:",
        "C:p",
        "~",
        r"\p",
        r"\\server",
        "\\\\",
        "file:",
        "file:p",
        "file:///a%2Fb",
        "a\0",
        "/\0",
    ],
)
def test_a_text_that_is_not_absolute_names_no_place(text: str, system: System) -> None:
    with pytest.raises(NoPlace) as caught:
        place(text, system=system)

    assert (caught.value.kind, caught.value.reason) == (Kind.USER, "no-place")
    assert caught.value.message.isprintable()
    assert not same_place(text, text, system=system)


def test_on_windows_a_rooted_path_without_a_drive_names_no_place() -> None:
    with pytest.raises(NoPlace, match="names no drive"):
        place("/home/a/p", system=W)


# The spelling for file calls


@pytest.mark.parametrize(
    ("text", "system", "expected"),
    [
        ("c:/Users/A B/p/", W, r"C:\Users\A B\p"),
        ("/c/Users", W, r"C:\Users"),
        ("C:/", W, "C:\\"),
        ("//server/share/p", W, r"\\server\share\p"),
        (r"\\wsl$\Ubuntu\home\a", W, r"\\wsl.localhost\Ubuntu\home\a"),
        (r"\\?\C:\p.", W, r"\\?\C:\p."),
        (r"\\?\UNC\server\share\p.", W, r"\\?\UNC\server\share\p."),
        (r"\\?\Volume{1b}\p", W, r"\\?\Volume{1b}\p"),
        (r"C:\Users\A B\p", L, "/mnt/c/Users/A B/p"),
        (r"C:\Users\A B\p", M, "/c/Users/A B/p"),
        (r"C:\Users\A B\p", C, "/cygdrive/c/Users/A B/p"),
        (r"C:\Users\A B\p", P, None),
        ("C:\\", L, "/mnt/c"),
        (r"\\wsl$\Ubuntu\home\a", L, "/home/a"),
        (r"\\wsl$\Debian\home\a", L, None),
        (r"\\server\share\p", M, "//server/share/p"),
        (r"\\server\share\p", L, None),
        (r"\\server\share\p", P, None),
        ("file:///home/A%20b/%FF", P, "/home/A b/\udcff"),
        ("/home/a/x/../p", P, "/home/a/x/../p"),
    ],
)
def test_file_calls_get_the_spelling_of_their_system(text: str, system: System, expected: str | None) -> None:
    assert native(text, system=system, distribution="Ubuntu") == expected


names = st.text(st.characters(exclude_characters='/\\:\0<>"|?*', exclude_categories=["Cs"]), min_size=1, max_size=8)
plain = names.filter(lambda name: name[-1] not in ". " and name.strip("."))


@settings(deadline=None)
@given(st.sampled_from("cdz"), st.lists(plain, max_size=4), st.sampled_from([W, L, M, C]))
def test_the_native_spelling_means_the_same_place(letter: str, parts: list[str], system: System) -> None:
    text = letter + ":\\" + "\\".join(parts)
    spelled = native(text, system=system)

    assert spelled is not None
    assert place(spelled, system=system) == place(text, system=system)


@settings(deadline=None)
@given(st.lists(names, max_size=4), st.sampled_from(System))
def test_a_normal_form_is_its_own_normal_form(parts: list[str], system: System) -> None:
    form = place("C:\\" + "\\".join(parts), system=system)

    assert place(form, system=system) == form


# What Windows cannot hold


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (r"C:\work\con", "reserved"),
        (r"C:\aux\p", "reserved"),
        ("/mnt/c/Nul.txt", "reserved"),
        (r"C:\com1 .log", "reserved"),
        (r"C:\lpt³", "reserved"),
        (r"C:\p.", "ends with a dot"),
        ("C:\\p \\x", "ends with a space"),
        (r"C:\a:b", "forbids"),
        ("C:\\a\tb", "forbids"),
        ("C:\\" + "x" * 256, "longer than 255"),
        ("C:\\" + "😀" * 128, "longer than 255"),
        ("C:\\" + r"x\\"[:2] * 150, "longer than the 259"),
    ],
)
def test_a_path_that_windows_cannot_hold_gets_one_sentence(text: str, word: str) -> None:
    said = unusable(text)

    assert word in said
    assert said.endswith(".")
    assert said.isprintable()


@pytest.mark.parametrize(
    "text",
    [
        r"C:\Users\A B\p",
        r"\\server\share\p",
        r"C:\console\auxiliary\com10",
        r"C:\a\..\b",
        "C:\\" + "x" * 255,
        "\\\\?\\C:\\" + "x\\" * 150,
        "C:\\" + "x\\" * 128,
    ],
)
def test_a_path_that_windows_holds_gets_none(text: str) -> None:
    assert unusable(text) == ""
