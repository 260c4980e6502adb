"""Who makes vectors in this process: chosen by settings, loaded at the first need, never required.

A failure of any kind leaves search with words alone for a minute; then the provider is tried again. The first failure
of each kind is told once. `view` says at any time what is used, or why nothing is and what would help.
"""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noforgetti.retrieval.base import EmbeddingError
from noforgetti.retrieval.embedders import model_folder
from noforgetti.retrieval.embedders.model_folder import DEFAULT, folder_of, whole
from noforgetti.retrieval.embedders.providers import ADDRESS, KEY, MODEL, Api

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from noforgetti.retrieval.base import Embedder
    from noforgetti.retrieval.embedders.fetching import Fetched
    from noforgetti.service.places import Places
    from noforgetti.service.settings import EmbeddingSettings

BACK_OFF = 60.0  # seconds without another try after a failure: a provider that is down costs one failed call a minute
_NOTES = 5  # traces that are kept for `view`


class Embedding:
    """The embedder of one process. Safe to use from several threads; makes nothing until `embedder` or `warm`."""

    def __init__(
        self,
        settings: EmbeddingSettings,
        where: Places,
        environ: Mapping[str, str],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.settings, self.where, self.environ = settings, where, environ
        self._clock = clock
        self._lock = threading.RLock()
        self._loading = threading.Lock()
        self._embedder: Embedder | None = None
        self._trouble: EmbeddingError | None = None
        self._until = 0.0
        self._told: set[str] = set()
        self._notices: list[str] = []
        self._notes: list[str] = []

    def embedder(self) -> Embedder | None:
        """The embedder, loaded now if it was not; None when there is none to use at the moment. Never raises
        `EmbeddingError`: what goes wrong is kept for `view` and `take_notice`."""
        if self.settings.type == "off" or self._resting():
            return None
        with self._loading:
            if self._embedder is None and not self._resting():
                try:
                    self._embedder = self._made()
                except EmbeddingError as error:
                    self.failed(error)
            with self._lock:
                if self._resting():
                    return None
                self._trouble = None
                return self._embedder

    @property
    def available_now(self) -> bool:
        """True when `embedder` answers without loading anything."""
        return self._embedder is not None and not self._resting()

    def warm(self) -> None:
        """Load the embedder beside whatever goes on, unless that was done."""
        if self.settings.type != "off" and self._embedder is None and not self._resting():
            threading.Thread(target=self.embedder, name="noforgetti-model", daemon=True).start()

    def try_out(self) -> float | None:
        """Embed one sentence; answers the milliseconds it took with the loading, None when it failed."""
        start = time.perf_counter()
        embedder = self.embedder()
        if embedder is None:
            return None
        try:
            embedder.embed_query("Is this model there, and does it answer?")
        except EmbeddingError as error:
            self.failed(error)
            return None
        return (time.perf_counter() - start) * 1000

    def failed(self, error: EmbeddingError) -> None:
        """The embedder could not do its work: leave it alone for a minute, and tell the first failure of a kind."""
        with self._lock:
            self._trouble = error
            self._until = self._clock() + BACK_OFF
            self._tell(error.cause, f"Search goes by words alone: {error.message} Fix: {error.hint}.")

    def note(self, text: str) -> None:
        """Something else about search went wrong: told once, kept for `view`."""
        with self._lock:
            if text not in self._notes:
                self._notes = [*self._notes, text][-_NOTES:]
            self._tell(text.partition(":")[0], text)

    def take_notice(self) -> str:
        """What the user has not been told yet; empty when there is nothing."""
        with self._lock:
            told, self._notices = " ".join(self._notices), []
            return told

    def view(self) -> dict[str, Any]:
        """`state` (`ready`, `absent`, `off`, `degraded`), `model`, `width` (0: not known yet), `loaded`, `reason`,
        `hint`, `notes`. Loads nothing: before the first use, `ready` says that nothing stands against it."""
        with self._lock:
            embedder, trouble = self._embedder, self._trouble if self._resting() else None
            doc: dict[str, Any] = {
                "state": "ready",
                "model": embedder.name if embedder else _title(self.settings, self.where),
                "width": embedder.width if embedder else 0,
                "loaded": embedder is not None,
                "reason": "",
                "hint": "",
                "notes": list(self._notes),
            }
        if self.settings.type == "off":
            return doc | {"state": "off", "model": "", "hint": "remove `embedding` from the settings to have it"}
        if trouble is None and embedder is None:
            trouble = _lacking(self.settings, self.where, self.environ)
        if trouble is not None:
            state = "absent" if trouble.cause in ("no-model", "not-installed", "no-key", "not-set-up") else "degraded"
            doc |= {"state": state, "reason": trouble.message, "hint": trouble.hint}
        return doc

    def _resting(self) -> bool:
        with self._lock:
            return self._trouble is not None and self._clock() < self._until

    def _tell(self, kind: str, text: str) -> None:
        if kind not in self._told:
            self._told.add(kind)
            self._notices.append(text)

    def _made(self) -> Embedder | None:
        if self.settings.type == "auto" and _auto(self.where) == "local":
            try:
                return _local(self.settings, self.where, self.environ)
            except EmbeddingError as error:  # a torn model is no reason to do without meaning
                self.note(f"The fetched model is not used: {error.message} Fix: {error.hint}.")
                return _static()
        return choose(self.settings, self.where, self.environ)


def choose(settings: EmbeddingSettings, where: Places, environ: Mapping[str, str]) -> Embedder | None:
    """The embedder that the settings name, loaded; None when they say `off`. Raises `EmbeddingError`."""
    kind = _auto(where) if settings.type == "auto" else settings.type
    match kind:
        case "off":
            return None
        case "static":
            return _static()
        case "local":
            return _local(settings, where, environ)
        case "bedrock":
            from noforgetti.retrieval.embedders.bedrock import BedrockEmbedder

            return BedrockEmbedder(
                settings.model,
                dimensions=settings.dimensions,
                region=settings.region,
                profile=settings.profile,
                url=settings.url,
                timeout=settings.timeout,
            )
    return _http(settings, environ)


def fetch(settings: EmbeddingSettings, where: Places, environ: Mapping[str, str], model: str = "") -> Fetched:
    """Bring a local model to this machine; empty: the one that the settings name. Raises `EmbeddingError`."""
    from noforgetti.retrieval.embedders import fetching

    return fetching.fetch(models(where), model or _local_model(settings), environ)


def models(where: Places) -> Path:
    """The folder of fetched models. Among the data: a cache may vanish, and without a network a model does not
    come back."""
    return Path(where.data) / "models"


def fetched(where: Places) -> tuple[str, ...]:
    """Names of the models that were fetched and are whole."""
    return model_folder.fetched(models(where))


def _auto(where: Places) -> str:
    return "local" if whole(folder_of(models(where), DEFAULT)) else "static"


def _static() -> Embedder:
    from noforgetti.retrieval.embedders.static import StaticEmbedder

    return StaticEmbedder()


def _local_model(settings: EmbeddingSettings) -> str:
    return settings.model if settings.type == "local" and settings.model else DEFAULT


def _local(settings: EmbeddingSettings, where: Places, environ: Mapping[str, str]) -> Embedder:
    from noforgetti.retrieval.embedders.local import LocalEmbedder

    if settings.type == "local" and settings.path:
        return LocalEmbedder(_path(settings.path, environ), settings.model)
    lacking = _lacking(settings, where, environ)
    if lacking is not None:
        raise lacking
    model = _local_model(settings)
    return LocalEmbedder(folder_of(models(where), model), model)


def _path(text: str, environ: Mapping[str, str]) -> Path:
    home = environ.get("HOME", "")
    return Path(home + text[1:]) if home and text.startswith("~/") else Path(text)


def _lacking(settings: EmbeddingSettings, where: Places, environ: Mapping[str, str]) -> EmbeddingError | None:
    """What a look at the disk and the environment already tells is missing."""
    if settings.type in list(Api):
        try:
            _endpoint(settings, environ)
        except EmbeddingError as error:
            return error
    if settings.type == "local" and settings.path and not os.path.isdir(_path(settings.path, environ)):
        return EmbeddingError(
            "no-model",
            f"The folder `{settings.path}` of the embedding model is not there.",
            "set `embedding.path` to a folder with a model",
        )
    if settings.type == "local" and not settings.path:
        model = _local_model(settings)
        folder = folder_of(models(where), model)
        if not os.path.isdir(folder):
            return EmbeddingError(
                "no-model",
                f"The local model `{model}` is not on this machine.",
                "run `noforgetti model fetch`, or set `embedding.path` to a folder with a model",
            )
    return None


def _title(settings: EmbeddingSettings, where: Places) -> str:
    """The model by name before it is loaded."""
    kind = _auto(where) if settings.type == "auto" else settings.type
    if kind == "static":
        return "static-256"
    if kind == "local":
        return f"local/{settings.path or _local_model(settings)}"
    return f"{kind}/{settings.model}" if settings.model else kind


def _http(settings: EmbeddingSettings, environ: Mapping[str, str]) -> Embedder:
    api, model, url, key = _endpoint(settings, environ)
    from noforgetti.retrieval.embedders.http import HttpEmbedder

    return HttpEmbedder(
        api,
        model,
        url,
        key=key,
        dimensions=settings.dimensions,
        timeout=settings.timeout,
        proxies=_proxies(environ, url),
    )


def _endpoint(settings: EmbeddingSettings, environ: Mapping[str, str]) -> tuple[Api, str, str, str]:
    """Provider, model, address and key. Raises `EmbeddingError` for what is missing; asks nobody."""
    api = Api(settings.type)
    url, model = settings.url or ADDRESS.get(api, ""), settings.model or MODEL.get(api, "")
    for name, value in (("url", url), ("model", model)):
        if not value:
            raise EmbeddingError(
                "not-set-up", f"The embedding provider `{api}` has no {name}.", f"set `embedding.{name}`"
            )
    return api, model, url, _key(settings.key_env or KEY.get(api, ""), environ)


def _key(name: str, environ: Mapping[str, str]) -> str:
    """The key in the variable `name`; empty when there is none to read. Never part of a message."""
    if not name:
        return ""
    key = environ.get(name, "").strip()
    if not key or not (key.isascii() and key.isprintable()):
        what = "has characters that no key has" if key else "is not set"
        raise EmbeddingError(
            "no-key",
            f"The embedding provider's key is read from `{name}`, which {what}.",
            f"export `{name}` before the host is started, or correct `embedding.key_env`",
        )
    return key


def _proxies(environ: Mapping[str, str], url: str) -> dict[str, str]:
    """The proxy that the environment names for an address, by its scheme. `no_proxy` is heeded where it is used."""
    scheme, _, rest = url.partition("://")
    if rest.startswith(("127.", "localhost", "[::1]")):
        return {}
    # `HTTP_PROXY` in capitals is what a request's own header sets in a CGI program: nobody means it.
    proxy = environ.get(f"{scheme}_proxy") or (environ.get("HTTPS_PROXY") if scheme == "https" else "")
    return {scheme: proxy} if proxy else {}
