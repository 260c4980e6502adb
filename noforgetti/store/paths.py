r"""Which place a spelling of a path means: pure functions from text to text, nothing here asks a disk.

Hosts, session files and imported memories name one folder in many ways: `C:\Users\A B\p`, `c:/Users/A B/p`,
the same with doubled backslashes, `/mnt/c/Users/A B/p` from WSL, `/c/Users/A B/p` from Git Bash,
`file:///C:/Users/A%20B/p`. `place` gives all of them one normal form, to compare and to look up. `native`
gives the spelling that file calls of one system understand, or None, so that nobody creates a folder called
`C:` in the current one. `unusable` says why Windows cannot hold a path.

Two different places never get one normal form; the doubtful cases stay apart. So letter case is ignored only
where the system ignores it (drives, servers, names of distributions) and only for letters whose two cases
belong to each other alone; `..` is resolved on drives and shares, where Windows does the same, and kept
elsewhere, where a symbolic link may stand before it. On one's own disk `discovery` knows more: it looks.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from noforgetti.errors import Kind, NoForgettiError


class System(StrEnum):
    """Whose file calls a spelling was made for."""

    POSIX = "posix"
    WINDOWS = "windows"
    WSL = "wsl"
    MSYS = "msys"  # Git Bash
    CYGWIN = "cygwin"


class NoPlace(NoForgettiError):
    """A text that names no place of its own: relative, empty, or broken."""

    kind = Kind.USER
    reason = "no-place"

    def __init__(self, text: str, why: str) -> None:
        super().__init__(f"The path {_quoted(text)} {why}.", hint="name the folder by its full path")
        self.text = text


@dataclass(frozen=True, slots=True)
class _Drive:
    letter: str
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Share:
    server: str
    parts: tuple[str, ...]  # the share first


@dataclass(frozen=True, slots=True)
class _Distribution:
    name: str
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Rooted:
    parts: tuple[str, ...]


_Place = _Drive | _Share | _Distribution | _Rooted

_WSL_SERVERS = ("wsl$", "wsl.localhost")
_RESERVED = frozenset(
    {"con", "prn", "aux", "nul", "conin$", "conout$"}
    | {f"{port}{digit}" for port in ("com", "lpt") for digit in "123456789¹²³"}
)
MAX_PATH = 260  # Windows, counting a final NUL, unless long paths are switched on
MAX_COMPONENT = 255


def place(text: str, *, system: System = System.POSIX, distribution: str = "") -> str:
    r"""The normal form of an absolute path; equal for all spellings of one place.

    `system` decides what `/mnt/c`, `/c` and `//server` mean; `distribution` is the WSL distribution one
    stands in, whose `\\wsl$\<name>\home` is then `/home`. Raises NoPlace for a text that is not absolute
    there.
    """
    match _read(text, system, distribution):
        case _Drive(letter, parts):
            return f"{letter.lower()}:/" + _ignoring_case("/".join(parts))
        case _Share(server, parts):
            return "//" + _ignoring_case("/".join((server, *parts)))
        case _Distribution(name, parts):
            return "/".join(("//wsl.localhost", _ignoring_case(name), *parts))
        case _Rooted(parts):
            return "/" + "/".join(parts)


def same_place(one: str, other: str, *, system: System = System.POSIX, distribution: str = "") -> bool:
    """Whether two texts name one place; texts that name none are never the same. Raises nothing."""
    try:
        return place(one, system=system, distribution=distribution) == place(
            other, system=system, distribution=distribution
        )
    except NoPlace:
        return False


def native(text: str, *, system: System = System.POSIX, distribution: str = "") -> str | None:
    """The spelling for the file calls of `system`, letter case kept; None when it cannot reach the place.

    Raises NoPlace for a text that is not absolute there.
    """
    found = _read(text, system, distribution)
    if system is System.WINDOWS:
        return _native_windows(found)
    match found:
        case _Rooted(parts):
            return "/" + "/".join(parts)
        case _Drive(letter, parts) if system is not System.POSIX:
            return "/".join((_mount(system) + letter.lower(), *parts))
        case _Share(server, parts) if system in (System.MSYS, System.CYGWIN):
            return "//" + "/".join((server, *parts))
        case _:
            return None


def unusable(text: str) -> str:
    r"""Why Windows cannot hold the path, as one sentence; empty when it can.

    Looks at every name of the path: reserved device names, a final dot or space, characters it forbids,
    lengths. A text that begins with `\\?\` may be long.
    """
    extended = text.startswith("\\\\?\\")
    names = [name for name in text.replace("\\", "/").split("/") if name not in ("", ".", "..", "?")]
    if names and _is_drive(names[0]):
        del names[0]
    for name in names:
        if name.partition(".")[0].rstrip(" ").casefold() in _RESERVED:
            return f"The name {_quoted(name)} is reserved by Windows for a device."
        if name[-1] in ". ":
            last = "dot" if name[-1] == "." else "space"
            return f"The name {_quoted(name)} ends with a {last}, which Windows drops."
        if any(c in '<>:"|?*' or c < " " for c in name):
            return f"The name {_quoted(name)} contains a character that Windows forbids."
        if len(name.encode("utf-16-le", "surrogatepass")) // 2 > MAX_COMPONENT:
            return f"The name {_quoted(name)} is longer than {MAX_COMPONENT} characters."
    if not extended and len(text.encode("utf-16-le", "surrogatepass")) // 2 >= MAX_PATH:
        return f"The path {_quoted(text)} is longer than the {MAX_PATH - 1} characters that Windows takes."
    return ""


def _mount(system: System) -> str:
    return {System.WSL: "/mnt/", System.CYGWIN: "/cygdrive/"}.get(system, "/")


def _native_windows(found: _Place) -> str | None:
    match found:
        case _Drive(letter, parts):
            plain = f"{letter.upper()}:\\" + "\\".join(parts)
            return "\\\\?\\" + plain if _would_be_trimmed(parts) else plain
        case _Share(server, parts):
            body = "\\".join((server, *parts))
            return ("\\\\?\\UNC\\" if _would_be_trimmed(parts) else "\\\\") + body
        case _Distribution(name, parts):
            return "\\\\" + "\\".join(("wsl.localhost", name, *parts))
        case _Rooted():
            return None


# From text to a place.


def _read(text: str, system: System, distribution: str) -> _Place:
    if not text or "\0" in text:
        raise NoPlace(text, "is empty" if not text else "contains a NUL character")
    if text[:5].lower() == "file:":
        return _from_url(text, system, distribution)
    if text.startswith("\\\\") or (text.startswith("//") and _is_share(text[2:], system)):
        return _from_share(text, system, distribution)
    if _is_drive(text[:2]):
        if text[2:3] not in ("\\", "/"):
            raise NoPlace(text, "depends on the current folder of its drive")
        return _Drive(text[0], _windows_parts(text[2:]))
    if text.startswith("/"):
        return _from_slash(text, system)
    raise NoPlace(text, "is relative")


def _is_share(text: str, system: System) -> bool:
    """Whether `//text` is a share: on Windows always, in WSL only as the way back in, on POSIX never."""
    if system is System.WSL:
        return text.partition("/")[0].lower() in _WSL_SERVERS
    return system is not System.POSIX


def _from_url(text: str, system: System, distribution: str) -> _Place:
    from urllib.parse import unquote_to_bytes

    rest = text[5:].partition("#")[0].partition("?")[0]
    if "%2f" in rest.lower() or "%5c" in rest.lower():
        raise NoPlace(text, "hides a separator in a name")
    path = unquote_to_bytes(rest.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")
    if path.startswith("//"):
        host, slash, path = path[2:].partition("/")
        if _is_drive(host):  # `file://C:/p`: wrong, and written all the time
            path = f"/{host}{slash}{path}"
        elif host.lower() in ("", "localhost"):
            path = slash + path
        else:
            return _from_share(f"\\\\{host}\\{path}", system, distribution)
    if path.startswith("//"):  # `file:////server/share`
        return _from_share(path, system, distribution)
    if _is_drive(path[1:3]) and path[3:4] in ("", "/"):
        path = path[1:3] + (path[3:] or "/")
    if not path:
        raise NoPlace(text, "names no folder")
    return _read(path, system, distribution)


def _from_share(text: str, system: System, distribution: str) -> _Place:
    parts = tuple(part for part in text.replace("\\", "/").split("/") if part)
    literal = parts[:1] in (("?",), (".",))
    if literal:
        parts = parts[1:]
        if parts and _is_drive(parts[0]):
            return _Drive(parts[0][0], _collapsed(parts[1:]))
        if parts and parts[0].lower() != "unc":
            return _Share("?", parts)  # a volume without a letter
        parts = parts[1:]
    if len(parts) < 2:
        raise NoPlace(text, "names a server without a share")
    server, share, below = parts[0], parts[1], parts[2:]
    if server.lower() in _WSL_SERVERS:
        return _in_distribution(share, below, system, distribution)
    tail = "/" if text[-1] in "\\/" else ""
    return _Share(server, (share, *(_collapsed(below) if literal else _windows_parts("/".join(below) + tail))))


def _in_distribution(name: str, parts: tuple[str, ...], system: System, distribution: str) -> _Place:
    parts = _collapsed(parts)
    if len(parts) > 1 and parts[0] == "mnt" and _is_letter(parts[1]):
        return _Drive(parts[1], parts[2:])
    at_home = system is System.WSL and _ignoring_case(name) == _ignoring_case(distribution)
    return _Rooted(parts) if at_home else _Distribution(name, parts)


def _from_slash(text: str, system: System) -> _Place:
    if system is System.WINDOWS or system is System.MSYS:
        text = text.replace("\\", "/")
    parts = tuple(part for part in text.split("/") if part not in ("", "."))
    if system is System.WINDOWS and parts and _is_drive(parts[0]):
        return _Drive(parts[0][0], _windows_parts("/" + "/".join(parts[1:])))
    for prefix in _drive_folders(system):
        count = len(prefix)
        if parts[:count] == prefix and _is_letter("".join(parts[count : count + 1])):
            return _Drive(parts[count], _collapsed(parts[count + 1 :]))
    if system is System.WINDOWS:
        raise NoPlace(text, "names no drive")
    return _Rooted(parts)


def _drive_folders(system: System) -> tuple[tuple[str, ...], ...]:
    match system:
        case System.POSIX:
            return ()
        case System.WSL:
            return (("mnt",),)
        case System.MSYS:
            return ((),)
        case System.CYGWIN:
            return (("cygdrive",),)
        case System.WINDOWS:  # nothing else an absolute path from another shell could mean there
            return (("mnt",), ("cygdrive",), ())


def _windows_parts(text: str) -> tuple[str, ...]:
    """The names of a path behind its drive or share, trimmed the way Windows trims them before it looks.

    The manual, "File path formats on Windows systems", Trim characters: one final dot of every name goes; all
    final dots and spaces go from the last name unless a separator follows it.
    """
    open_end = text[-1:] not in ("\\", "/")
    parts = list(_collapsed(tuple(part for part in text.replace("\\", "/").split("/") if part)))
    trimmed = [part[:-1] if part.endswith(".") and not part.endswith("..") else part for part in parts]
    if trimmed and open_end:
        trimmed[-1] = parts[-1].rstrip(". ")
    return tuple(part for part in trimmed if part)


def _collapsed(parts: tuple[str, ...]) -> tuple[str, ...]:
    out: list[str] = []
    for part in parts:
        if part == "..":
            del out[-1:]
        elif part not in (".", ""):
            out.append(part)
    return tuple(out)


def _would_be_trimmed(parts: tuple[str, ...]) -> bool:
    return any(part[-1] in ". " for part in parts)


def _is_letter(text: str) -> bool:
    return len(text) == 1 and text.isascii() and text.isalpha()


def _is_drive(text: str) -> bool:
    return len(text) == 2 and text[1] == ":" and _is_letter(text[0])


def _ignoring_case(text: str) -> str:
    """Lower case for letters that have exactly one partner; `ſ`, `İ`, `ß` and their like stay as they are."""
    return "".join(low if (low := c.lower()).upper() == c else c for c in text)


def _quoted(text: str) -> str:
    printable = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
    return f"`{printable if len(printable) <= 120 else printable[:60] + '…' + printable[-60:]}`"
