"""What is known when an engine process has died, before anybody has looked at its ring."""

import signal
from dataclasses import dataclass

from tracert.messages.messages import Died


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineDeath:
    """One death. The engine process has ended by the time that anybody is given this."""

    pid: int
    ring: str | None
    """The ring file, if the engine lived to say `Ready` and records."""
    exit_status: int
    """As `subprocess` has it: the exit code, or minus the signal that killed the process."""
    words: Died | None
    """Its last words, if it had any; `words.dump` is the dump that the engine wrote itself."""
    hung: bool
    """It was killed here because it said nothing for too long."""

    @property
    def reason(self) -> str:
        """The reason for a dump's header: device-error, exception, hang, killed or exit."""
        if self.words is not None:
            return "device-error" if self.words.code > 0 else "exception"
        if self.hung:
            return "hang"
        return "killed" if self.exit_status < 0 else "exit"

    @property
    def explained(self) -> bool:
        """It ended as a command does that has told its user what is wrong: status 1 or 2."""
        return self.words is None and self.exit_status in (1, 2)

    @property
    def name(self) -> str:
        """One word for it: the error's own name, the signal's, HANG, or EXIT_3."""
        if self.words is not None:
            return self.words.name
        if self.hung:
            return "HANG"
        if self.exit_status < 0:
            try:
                return signal.Signals(-self.exit_status).name
            except ValueError:
                return f"SIGNAL_{-self.exit_status}"
        return f"EXIT_{self.exit_status}"

    @property
    def sentence(self) -> str:
        """What happened, as a sentence without a full stop."""
        if self.words is not None:
            code = f" ({self.words.code})" if self.words.code > 0 else ""
            return f"the engine failed: {self.words.name}{code}, {self.words.message}"
        if self.hung:
            return "the engine made no progress and was killed"
        if self.exit_status < 0:
            return f"the engine was killed by {self.name}"
        return f"the engine exited with status {self.exit_status} without a word"
