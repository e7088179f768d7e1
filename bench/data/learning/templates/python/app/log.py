"""Lines for the log."""

LEVELS = ("DEBUG", "INFO", "WARN", "ERROR")


def format_line(level, text):
    if level not in LEVELS:
        raise ValueError(f"unknown level: {level}")
    return f"{level} {text}"
