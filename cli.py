"""The command `assay` starts here: prepare the process, then run the command line.

The imports at the top are small, because Ctrl-C is handled only after them. The rest takes up to a
second to import.
"""

try:
    import os
    import signal
    import sys
except KeyboardInterrupt:
    raise SystemExit(130) from None

INTERRUPTED = 130


def main() -> None:
    """Run the command line and exit with its status."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _exit_at_once)
    _open_closed_streams()
    from grader.commands.front import run_command_line

    sys.exit(run_command_line())


def _exit_at_once(*_: object) -> None:
    """End the process without unwinding: nothing can print a traceback, and the cache survives a
    process that ends at any time."""
    show_cursor = b"\x1b[?25h" if os.isatty(2) else b""
    try:
        os.write(2, show_cursor + b"interrupted\n")
    finally:
        os._exit(INTERRUPTED)


def _open_closed_streams() -> None:
    """Open the null device as standard input, output or error if it is closed. Otherwise the next
    file that is opened, such as the ledger, gets its number, and messages are written into it."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free


if __name__ == "__main__":
    main()
