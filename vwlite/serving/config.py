"""Options of ``vwlite serve``."""

from vwlite.errors import UsageError
from vwlite.options import Config, config, option


@config
class ServeConfig(Config):
    """Where to listen, and what a client may take."""

    host: str = option(
        "127.0.0.1", "Address to listen on; other machines can connect to any but the loopback's.", metavar="HOST"
    )
    port: int = option(8080, "Port; 0 for any that is free.", low=0, high=65535)
    workers: int = option(8, "Connections that are answered at a time; 64 more wait.", low=1, high=1024)
    timeout: float = option(
        10.0, "Time that a request may take to arrive, and its answer to leave.", read_as="duration", above=0,
        metavar="TIME", shown="10s",
    )
    sample: int = option(0, "Seed of the actions drawn for events with an event_id.", metavar="SEED")
    max_request: float = option(
        16.0, "Largest request, in MiB.", spelled=("--max-request",), key="max_request", above=0, high=1024
    )
    reload_every: float = option(
        1.0, "How often to look whether the model was replaced.", spelled=("--reload-every",), key="reload_every",
        read_as="duration", above=0, metavar="TIME", shown="1s",
    )
    lines: int | None = option(
        None, "Answer lines over TCP at this port, as vw's daemon does, in place of HTTP.", low=0, high=65535,
        metavar="PORT",
    )
    learn: bool = option(False, "With --lines, learn the lines that have a label.")
    save_every: float | None = option(
        None, "With --learn, save the model at this interval, if it has changed.", spelled=("--save-every",),
        key="save_every", read_as="duration", above=0, metavar="TIME",
    )

    def __post_init__(self) -> None:
        if self.learn and self.lines is None:
            raise UsageError("--learn needs --lines PORT: over HTTP nothing is learned")
        if self.save_every and not self.learn:
            raise UsageError("--save-every needs --learn: a model that learns nothing does not change")
